import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { actionsOf, faultsOf } from './actions.ts';
import { countsDiffer, deletionsDiffer, Ledger } from './claims.ts';
import { Health } from './health.ts';
import { Load } from './load.ts';
import { Observer, type Observation } from './observer.ts';
import { offPolicy } from './remains.ts';
import { startStage, type KubeletKind, type Stage } from './stage.ts';
import { Watch } from './watch.ts';

interface StressOptions {
  readonly minutes: number;
  /** A failure repeats its actions with the same seed. */
  readonly seed?: number;
  readonly hasFaults: boolean;
  readonly kubelet: KubeletKind;
}

interface StressResult {
  /** One line for each invariant that did not hold. */
  readonly violations: readonly string[];
  /** How many objects each component removed: `dustpan image` and so on. */
  readonly removals: Readonly<Record<string, number>>;
  /** The memory of dustpan's processes, once a second. */
  readonly residentMiB: Health['residentMiB'];
}

/** Shows the progress of a run at once. */
export const print = (line: string): void => void process.stderr.write(`stress: ${line}\n`);

const observeEveryMs = 1_000;
/** One line of progress for so many observations. */
const reportEvery = 5;
/** So many actions are printed with a violation. */
const shownActions = 20;
/** The longest wait until everything is as the policy requires: a silent watch is noticed within two minutes. */
const calmMs = 270_000;
/** Comparisons of the deletions that the API server and the controller count, one second apart. */
const comparisons = 10;
/** More would only repeat the first. */
const enoughViolations = 10;

/** Runs the load and the faults of a seed on a node of its own, and checks the invariants meanwhile and afterwards. */
export async function stress(options: StressOptions): Promise<StressResult> {
  if (!(options.minutes > 0) || !Number.isSafeInteger(options.seed ?? 1))
    throw new RangeError('the minutes must be above 0, and the seed an integer');
  await using stage = await startStage(options.kubelet);
  return await new Run(stage, options).play();
}

class Run {
  readonly #stage: Stage;
  readonly #options: StressOptions;
  readonly #seed: number;
  readonly #observer: Observer;
  readonly #load: Load;
  readonly #watch: Watch;
  readonly #ledger = new Ledger();
  readonly #health: Health;
  #last: Observation = { atMs: 0, images: undefined, containers: undefined, pods: undefined };
  /** Observations, and those in which every server responded. */
  #observed = 0;
  #complete = 0;
  #endsAtMs = Infinity;
  #isCalm = false;
  readonly #violations = new Set<string>();
  readonly #lastActions: string[] = [];
  #isFaulty = false;
  #lastFaultMs = 0;

  constructor(stage: Stage, options: StressOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#seed = options.seed ?? 1;
    this.#observer = new Observer(stage.cluster, stage.api);
    this.#load = new Load(stage);
    this.#watch = new Watch(options.kubelet === 'collecting');
    this.#health = new Health(stage, this.#ledger, options.hasFaults);
  }

  async play(): Promise<StressResult> {
    await this.#load.prepare();
    this.#endsAtMs = performance.now() + this.#options.minutes * 60_000;
    const watching = this.#repeat(
      () => this.#isCalm,
      () => this.#observe(),
    );
    await Promise.all([this.#act(), this.#faults(), this.#repair()].map((work) => this.#caught(work)));
    await this.#caught(this.#calm());
    this.#isCalm = true;
    await watching;
    this.#report();
    const { residentMiB } = this.#health;
    return { violations: [...this.#violations], removals: this.#removals(), residentMiB };
  }

  #note(action: string): void {
    this.#lastActions.push(`${new Date().toISOString().slice(11, 23)} ${action}`);
    if (this.#lastActions.length > shownActions) this.#lastActions.shift();
  }

  /** Prints a violation at once, with what led to it. */
  #violation(text: string): void {
    if (this.#violations.has(text)) return;
    this.#violations.add(text);
    print([`VIOLATION: ${text}`, `seed ${this.#seed}, last actions:`, ...this.#lastActions].join('\n  '));
  }

  /** A failure of the run itself ends the load, and is a violation: a server may not start again, for example. */
  async #caught(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (err) {
      this.#endsAtMs = 0;
      this.#violation(`the run failed: ${inspect(err)}`);
    }
  }

  #isEnded(): boolean {
    return performance.now() > this.#endsAtMs || this.#violations.size >= enoughViolations;
  }

  async #repeat(isDone: () => boolean, step: () => Promise<void>): Promise<void> {
    while (!isDone()) {
      await this.#caught(step());
      await sleep(observeEveryMs);
    }
  }

  async #observe(): Promise<void> {
    this.#last = await this.#observer.observe();
    this.#observed += 1;
    if (this.#observed % reportEvery === 0) this.#report();
    if (this.#last.images && this.#last.containers && this.#last.pods) this.#complete += 1;
    this.#ledger.see(this.#last);
    const found = [
      ...this.#watch.see(this.#last, this.#load.deleted),
      ...this.#health.check(this.#isFaulty ? Date.now() : this.#lastFaultMs),
    ];
    for (const line of found) this.#violation(line);
  }

  async #act(): Promise<void> {
    for (const { afterMs, step } of actionsOf(this.#seed)) {
      await sleep(afterMs);
      if (this.#isEnded()) return;
      this.#note(await this.#load.take(step, this.#last));
    }
  }

  async #faults(): Promise<void> {
    if (!this.#options.hasFaults) return;
    for (const { afterMs, step } of faultsOf(this.#seed)) {
      await sleep(afterMs);
      if (this.#isEnded()) return;
      this.#isFaulty = true;
      this.#note(`${step.do} ${step.victim} for ${step.forMs} ms`);
      await this.#stage.strike(step);
      await sleep(step.forMs);
      await this.#stage.recover(step);
      this.#isFaulty = false;
      this.#lastFaultMs = Date.now();
      this.#note('the fault is over');
    }
  }

  async #repair(): Promise<void> {
    await this.#repeat(
      () => this.#isEnded(),
      () => this.#load.repair(this.#last),
    );
  }

  /** Waits until everything is as the policy requires, then compares the counts. */
  async #calm(): Promise<void> {
    // A run that has failed shows nothing more.
    if (this.#violations.size > 0) return;
    print('the load has ended, waiting until everything is as the policy requires');
    const deadline = performance.now() + calmMs;
    let off: readonly string[] = ['nothing could be read'];
    while (off.length > 0 && performance.now() < deadline) {
      await this.#load.repair(this.#last);
      await sleep(observeEveryMs);
      const rest = await this.#observer.rest().catch(() => undefined);
      if (rest !== undefined) off = offPolicy(rest, this.#options.kubelet === 'idle');
    }
    for (const line of off) this.#violation(`${calmMs / 1_000} s after the load: ${line}`);
    await this.#observe();
    if (this.#complete * 2 < this.#observed)
      this.#violation(`only ${this.#complete} of ${this.#observed} observations are complete`);
    const found = [...this.#ledger.falseClaims(), ...(await countsDiffer(this.#stage))];
    // A killed agent or controller may have removed an object without a log line.
    if (!this.#options.hasFaults) found.push(...(await this.#unexplained()));
    for (const line of found) this.#violation(line);
  }

  async #unexplained(): Promise<readonly string[]> {
    return [...this.#ledger.open(), ...(await this.#deletionsDiffer())];
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
    const removed = Object.entries(this.#removals()).map(([name, count]) => `${count} ${name}`);
    print(
      [
        `${left.toFixed(1)} min left`,
        `now ${pods?.length ?? '?'} pods, ${containers?.length ?? '?'} containers, ${images?.length ?? '?'} images`,
        `removed: ${removed.join(', ')}`,
        `${this.#violations.size} violations`,
      ].join('; '),
    );
  }
}
