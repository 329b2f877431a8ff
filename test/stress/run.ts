import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { actionsOf, faultsOf } from './actions.ts';
import { Actors } from './actors.ts';
import { countsDiffer, deletionsDiffer } from './counts.ts';
import { Health } from './health.ts';
import { Journal } from './journal.ts';
import { Ledger } from './ledger.ts';
import type { Observation } from './observation.ts';
import { Observer } from './observer.ts';
import { offPolicy } from './remains.ts';
import { limitsFor, startStage, type KubeletKind, type Stage } from './stage.ts';
import { Watch } from './watch.ts';

interface StressOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly hasFaults: boolean;
  readonly kubelet: KubeletKind;
}

interface StressResult {
  /** One line for each invariant that did not hold. */
  readonly violations: readonly string[];
  /** How many objects each component removed: `dustpan image` and so on. */
  readonly removals: Readonly<Record<string, number>>;
  /** The memory of dustpan's processes, once a second. */
  readonly residentMiB: ReadonlyMap<string, readonly number[]>;
}

const observeEveryMs = 1_000;
const reportEveryMs = 5_000;
/** The longest wait until everything is as the policy says: a silent watch is noticed within two minutes. */
const calmMs = 270_000;
/** Comparisons of the deletions that the API server and the controller count, one second apart. */
const comparisons = 10;
/** More would only repeat the first. */
const enoughViolations = 10;

/** Runs the load and the faults of a seed on a node of its own, and checks the invariants meanwhile and afterwards. */
export async function stress(options: StressOptions, print: (line: string) => void): Promise<StressResult> {
  if (!(options.minutes > 0) || !Number.isSafeInteger(options.seed))
    throw new RangeError('the minutes must be above 0, and the seed an integer');
  print(`starting a node, seed ${options.seed}`);
  await using stage = await startStage(options.kubelet);
  return await new Run(stage, options, print).play();
}

class Run {
  readonly #stage: Stage;
  readonly #options: StressOptions;
  readonly #print: (line: string) => void;
  readonly #observer: Observer;
  readonly #actors: Actors;
  readonly #watch: Watch;
  readonly #ledger = new Ledger();
  readonly #health: Health;
  readonly #journal: Journal;
  #last: Observation = { atMs: 0, images: undefined, containers: undefined, pods: undefined };
  /** Observations, and those in which every server responded. */
  #observed = 0;
  #complete = 0;
  #endsAtMs = Infinity;
  #isCalm = false;

  constructor(stage: Stage, options: StressOptions, print: (line: string) => void) {
    const { keptImages } = limitsFor(options.kubelet);
    this.#stage = stage;
    this.#options = options;
    this.#print = print;
    this.#observer = new Observer(stage.cluster, stage.api);
    this.#actors = new Actors(stage, this.#observer);
    this.#watch = new Watch({ keptImages, kubeletCollects: options.kubelet === 'collecting' });
    this.#health = new Health(stage, this.#ledger, options.hasFaults);
    this.#journal = new Journal(options.seed, print);
  }

  async play(): Promise<StressResult> {
    await this.#actors.prepare();
    this.#endsAtMs = performance.now() + this.#options.minutes * 60_000;
    const isCalm = (): boolean => this.#isCalm;
    const watching = [
      this.#repeat(observeEveryMs, isCalm, () => this.#observe()),
      this.#repeat(reportEveryMs, isCalm, () => {
        this.#report();
        return Promise.resolve();
      }),
    ];
    await Promise.all([this.#load(), this.#faults(), this.#repair()].map((work) => this.#caught(work)));
    await this.#caught(this.#calm());
    this.#isCalm = true;
    await Promise.all(watching);
    this.#report();
    const { residentMiB } = this.#health;
    return { violations: this.#journal.violations, removals: this.#removals(), residentMiB };
  }

  /** A failure of the run itself ends the load, and is a violation: a server may not start again, for example. */
  async #caught(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (err) {
      this.#endsAtMs = 0;
      this.#journal.violation(`the run failed: ${inspect(err)}`);
    }
  }

  #isEnded(): boolean {
    return performance.now() > this.#endsAtMs || this.#journal.violations.length >= enoughViolations;
  }

  async #repeat(everyMs: number, isDone: () => boolean, step: () => Promise<void>): Promise<void> {
    while (!isDone()) {
      await this.#caught(step());
      await sleep(everyMs);
    }
  }

  async #observe(): Promise<void> {
    this.#last = await this.#observer.observe();
    this.#observed += 1;
    if (this.#last.images && this.#last.containers && this.#last.pods) this.#complete += 1;
    this.#ledger.see(this.#last);
    const found = [
      ...this.#watch.see(this.#last, this.#actors.deeds),
      ...this.#health.check(this.#journal.lastFaultMs(Date.now())),
    ];
    for (const line of found) this.#journal.violation(line);
  }

  async #load(): Promise<void> {
    for (const { afterMs, step } of actionsOf(this.#options.seed)) {
      await sleep(afterMs);
      if (this.#isEnded()) return;
      this.#journal.action(await this.#actors.take(step, this.#last));
    }
  }

  async #faults(): Promise<void> {
    if (!this.#options.hasFaults) return;
    for (const { afterMs, step } of faultsOf(this.#options.seed)) {
      await sleep(afterMs);
      if (this.#isEnded()) return;
      this.#journal.faultBegins(`${step.do} ${step.victim} for ${step.forMs} ms`);
      await this.#stage.strike(step);
      await sleep(step.forMs);
      await this.#stage.recover(step);
      this.#journal.faultEnds();
    }
  }

  async #repair(): Promise<void> {
    await this.#repeat(
      observeEveryMs,
      () => this.#isEnded(),
      () => this.#actors.repair(this.#last),
    );
  }

  /** Waits until everything is as the policy says, then compares the counts. */
  async #calm(): Promise<void> {
    // A run that has failed shows nothing more.
    if (this.#journal.violations.length > 0) return;
    this.#print('the load has ended, waiting until everything is as the policy says');
    const limits = limitsFor(this.#options.kubelet);
    const deadline = performance.now() + calmMs;
    let off: readonly string[] = ['nothing could be read'];
    while (off.length > 0 && performance.now() < deadline) {
      await this.#actors.repair(this.#last);
      await sleep(observeEveryMs);
      const rest = await this.#observer.rest().catch(() => undefined);
      if (rest !== undefined) off = offPolicy(rest, limits);
    }
    for (const line of off) this.#journal.violation(`${calmMs / 1_000} s after the load: ${line}`);
    await this.#observe();
    if (this.#complete * 2 < this.#observed)
      this.#journal.violation(`only ${this.#complete} of ${this.#observed} observations are complete`);
    const found = [...this.#ledger.falseClaims(), ...(await countsDiffer(this.#stage))];
    // A killed agent or controller may have removed an object without a log line.
    if (!this.#options.hasFaults) found.push(...(await this.#unexplained()));
    for (const line of found) this.#journal.violation(line);
  }

  async #unexplained(): Promise<readonly string[]> {
    return [...this.#ledger.open(this.#actors.deeds.dropped), ...(await this.#deletionsDiffer())];
  }

  /** The controller keeps deleting pods, so the two counts may be of different moments: one comparison of several must be equal. */
  async #deletionsDiffer(): Promise<readonly string[]> {
    for (let attempt = 1; ; attempt += 1) {
      const found = await deletionsDiffer(this.#stage, this.#ledger.count('dustpan', 'pod'));
      if (found.length === 0 || attempt === comparisons) return found;
      await sleep(observeEveryMs);
    }
  }

  #removals(): Readonly<Record<string, number>> {
    const kinds = ['image', 'container', 'sandbox', 'pod', 'other'] as const;
    const rows = (['dustpan', 'kubelet'] as const).flatMap((by) =>
      kinds.map((kind) => [`${by} ${kind}`, this.#ledger.count(by, kind)] as const),
    );
    return Object.fromEntries(rows.filter(([, count]) => count > 0));
  }

  #report(): void {
    const left = Math.max(0, this.#endsAtMs - performance.now()) / 60_000;
    const { pods, containers, images } = this.#last;
    const list = (entries: Iterable<readonly [string, number]>): string =>
      [...entries].map(([name, count]) => `${Math.round(count)} ${name}`).join(', ');
    this.#print(
      [
        `${left.toFixed(1)} min left`,
        `actions: ${list(this.#actors.counts)}`,
        `${this.#journal.faultCount} faults`,
        `now ${pods?.length ?? '?'} pods, ${containers?.length ?? '?'} containers, ${images?.length ?? '?'} images`,
        `removed: ${list(Object.entries(this.#removals()))}`,
        `peak MiB: ${list([...this.#health.residentMiB].map(([name, values]) => [name, Math.max(...values)]))}`,
        ...(this.#health.kubeletErrors.size > 0
          ? [`kubelet errors: ${list(this.#health.kubeletErrors)}`]
          : []),
        `${this.#journal.violations.length} violations`,
      ].join('; '),
    );
  }
}
