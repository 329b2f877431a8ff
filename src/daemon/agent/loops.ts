import type { Clock } from '../../runtime/scheduling/clock.ts';
import { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { loop, type LoopOptions, type PassResult, type Waiting } from '../../runtime/scheduling/loop.ts';
import { SpreadWake } from '../../runtime/scheduling/spread-wake.ts';
import { Mutex } from '../../runtime/scheduling/mutex.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import type { AgentConfig } from './command.ts';
type Pass = (signal: AbortSignal) => Promise<void>;

export interface Passes {
  readonly containers: Pass;
  readonly images: Pass;
  /** Whether a pull may need room now: then a pass over images runs at once. */
  readonly isPulling: (signal: AbortSignal) => Promise<boolean>;
  /** Measures the local storage of pods. */
  readonly storage: Pass;
  /** Reads what is available on the node, and may run passes over containers and images. */
  readonly pressure: Pass;
  /** Measures what uses the disks of the node. */
  readonly usage: Pass;
  /** Finds what containerd keeps for nobody. */
  readonly leftovers: Pass;
  /** Writes the report when it is due; `isLast`: the agent stops. */
  readonly report: (signal: AbortSignal, isLast?: boolean) => Promise<void>;
  /** Whether a pod must be evicted that no report requests yet: then the report is not delayed. */
  readonly isReportAwaited: () => boolean;
  readonly runtime: Pass;
}

interface AgentLoopsDeps {
  readonly config: Pick<AgentConfig, 'imageGcPeriodMs' | 'containerGcPeriodMs' | 'localStoragePeriodMs'>;
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly onResult: (loop: string, periodMs: number) => (result: PassResult) => void;
  /** Whether all caches are current. Passes measure and report without them, but decide nothing. */
  readonly isCurrent: () => boolean;
}

/** Liveness fails after this many periods without progress, but not before the deadlines of a few calls have passed. */
const livePeriods = 3;
const liveAtLeastMs = 10 * 60_000;
const runtimePeriodMs = 10_000;
const reportPeriodMs = 10_000;
/** A pull of a large image takes minutes. It costs one call of the runtime, and only while a pod waits. */
const pullPeriodMs = 5_000;
/** The kubelet measures every one to two minutes. */
const usagePeriods = 6;
/** Whatever the period: growth needs four measurements within 15 minutes. */
const longestMs = 2 * 60_000;

// Random delays spread the load of thousands of agents on their API server. docs/scale.md has the resulting load.

/** Agents that start in the same second, after a rollout or a power cut, begin their work within this time, or within one period. */
const longestStartMs = 60_000;
/** By then the first passes have ended on most nodes, so that the first report includes them. */
const reportLagMs = 2_000;
/** A change that all agents see at the same moment, such as a new policy, takes effect within this time, or a part of their period. */
const longestSpreadMs = 10_000;
const passSpreadPart = 6;

/** The part of its period by which a pause of any loop may be longer. */
const jitter = 0.1;

/** Leftovers change seldom. */
export const leftoversPeriodMs = (containerGcPeriodMs: number): number => 10 * containerGcPeriodMs;

/** The longest delay of a report after a change: nothing waits for it, and a write costs the API server far more than a pass costs a node. */
export const reportSpreadMs = (containerGcPeriodMs: number): number =>
  Math.min(longestStartMs, containerGcPeriodMs);

/** The loops of the agent. Passes over containers and images never overlap, containers first: a dead container holds its image. */
export class AgentLoops {
  readonly #deps: AgentLoopsDeps;
  readonly #wakes = { containers: new Wake(), images: new Wake(), report: new Wake() };
  readonly #beats: Readonly<Record<'containers' | 'images' | 'storage' | 'pressure', Heartbeat>>;
  readonly #passSpread: SpreadWake;
  readonly #reportSpread: SpreadWake;
  #hasReported = false;
  readonly #turns = new Mutex();
  /** Delay of the first pass over containers; the first pass over images follows it. */
  readonly #firstPassMs: number;

  constructor(deps: AgentLoopsDeps) {
    this.#deps = deps;
    const { clock, random } = deps;
    const { imageGcPeriodMs, containerGcPeriodMs, localStoragePeriodMs } = deps.config;
    this.#beats = {
      containers: heartbeat('containergc', containerGcPeriodMs, clock),
      images: heartbeat('imagegc', imageGcPeriodMs, clock),
      storage: heartbeat('localstorage', localStoragePeriodMs, clock),
      pressure: heartbeat('nodepressure', localStoragePeriodMs, clock),
    };
    this.#firstPassMs = random() * Math.min(containerGcPeriodMs, longestStartMs);
    this.#passSpread = new SpreadWake({
      clock,
      random,
      spreadMs: Math.min(longestSpreadMs, containerGcPeriodMs / passSpreadPart),
      wakes: [this.#wakes.containers, this.#wakes.images],
    });
    this.#reportSpread = new SpreadWake({
      clock,
      random,
      spreadMs: reportSpreadMs(containerGcPeriodMs),
      wakes: [this.#wakes.report],
    });
  }

  get heartbeats(): readonly Heartbeat[] {
    return Object.values(this.#beats);
  }

  /** Progress of a pass over containers or images; passes over local storage are short, and one over node pressure waits for these. */
  beat(): void {
    this.#beats.containers.beat();
    this.#beats.images.beat();
    this.#beats.pressure.beat();
  }

  /** Runs a pass over containers or images while no other does. */
  alone<T>(pass: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#turns.run(() => pass(signal), signal);
  }

  /** Wakes the passes soon, after a change on this node. */
  wakePasses(signal: AbortSignal): void {
    this.#passSpread.trigger(signal);
  }

  /** Wakes passes and report after a change that all agents may see at once. The first report has its own delay. */
  wakeAll(signal: AbortSignal): void {
    this.#passSpread.trigger(signal);
    if (this.#hasReported) this.#reportSpread.trigger(signal);
  }

  wakeReport(): void {
    this.#wakes.report.trigger();
  }

  async run(passes: Passes, signal: AbortSignal): Promise<void> {
    const { storage, pressure } = this.#beats;
    const intervalMs = this.#deps.config.localStoragePeriodMs;
    const atMost = (ms: number): number => Math.min(ms, longestMs);
    await Promise.all([
      this.#collect(passes, signal),
      this.#measure(passes.storage, { name: 'localstorage', intervalMs, heartbeat: storage }, signal),
      this.#measure(
        passes.pressure,
        { name: 'nodepressure', intervalMs: atMost(intervalMs), heartbeat: pressure },
        signal,
      ),
      this.#report(passes, signal),
      // Nothing depends on it, so it has no liveness check.
      this.#measure(passes.usage, { name: 'usage', intervalMs: atMost(usagePeriods * intervalMs) }, signal),
      this.#measure(
        // Alone: what another pass removes meanwhile would change what is left over.
        (next) => this.#turns.run(() => passes.leftovers(next), next),
        { name: 'leftovers', intervalMs: leftoversPeriodMs(this.#deps.config.containerGcPeriodMs) },
        signal,
      ),
      this.#loop(
        async (next) => {
          if (await passes.isPulling(next)) this.#wakes.images.trigger();
        },
        { name: 'pulls', intervalMs: pullPeriodMs },
        signal,
      ),
      this.#loop(passes.runtime, { name: 'runtime', intervalMs: runtimePeriodMs }, signal),
    ]);
  }

  /** Delays the report of a change until the passes have acted on it: an immediate report from every agent would only show that it was seen. */
  #report({ report, isReportAwaited }: Passes, signal: AbortSignal): Promise<void> {
    const options = { name: 'report', intervalMs: reportPeriodMs, jitter };
    // Waits only for time, not for the pass: the report must also show a runtime that hangs.
    this.#reportSpread.delay(this.#firstPassMs + reportLagMs, signal);
    const isSkipped = (): boolean =>
      (this.#passSpread.isDelaying || this.#reportSpread.isDelaying) && !isReportAwaited();
    const reportNext = (next: AbortSignal): Promise<void> => {
      this.#hasReported = true;
      return report(next);
    };
    return this.#loop(reportNext, { ...options, isSkipped, wake: this.#wakes.report }, signal);
  }

  /** A loop that reads what uses the disks and memory: it may overlap with other passes. Begins soon, because a pod to evict is reported as soon as it is found. */
  #measure(
    pass: Pass,
    options: Pick<LoopOptions, 'name' | 'intervalMs' | 'heartbeat'>,
    signal: AbortSignal,
  ): Promise<void> {
    const firstDelayMs = this.#deps.random() * Math.min(options.intervalMs, longestSpreadMs);
    return this.#loop(pass, { ...options, jitter, firstDelayMs }, signal);
  }

  async #collect({ containers, images }: Passes, signal: AbortSignal): Promise<void> {
    const { imageGcPeriodMs, containerGcPeriodMs } = this.#deps.config;
    let imageLoop: Promise<void> | undefined;
    const containersFirst = async (pass: AbortSignal): Promise<void> => {
      try {
        await this.#turns.run(() => containers(pass), pass);
      } finally {
        imageLoop ??= this.#loop(
          (next) => this.#turns.run(() => images(next), next),
          {
            name: 'imagegc',
            intervalMs: imageGcPeriodMs,
            jitter,
            wake: this.#wakes.images,
            heartbeat: this.#beats.images,
          },
          signal,
        );
      }
    };
    await this.#loop(
      containersFirst,
      {
        name: 'containergc',
        intervalMs: containerGcPeriodMs,
        jitter,
        wake: this.#wakes.containers,
        heartbeat: this.#beats.containers,
        firstDelayMs: this.#firstPassMs,
      },
      signal,
    );
    await imageLoop;
  }

  #loop(
    task: Pass,
    options: Omit<LoopOptions, 'clock' | 'random' | 'log' | 'onResult'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, random, log, onResult, isCurrent } = this.#deps;
    const pass = async (next: AbortSignal): Promise<Waiting> => {
      await task(next);
      return needsCaches(options.name) && !isCurrent() ? 'waiting' : undefined;
    };
    return loop(
      pass,
      {
        ...options,
        clock,
        random,
        log,
        quietRepeats: true,
        onResult: onResult(options.name, options.intervalMs),
      },
      signal,
    );
  }
}

/** The runtime and the usage of the node are read without the API server. */
const needsCaches = (name: string): boolean => !['runtime', 'usage'].includes(name);

const heartbeat = (name: string, periodMs: number, clock: Clock): Heartbeat =>
  new Heartbeat(name, Math.max(livePeriods * periodMs, liveAtLeastMs), clock);
