import type { Clock } from '../../runtime/scheduling/clock.ts';
import { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { loop, type LoopOptions, type PassResult } from '../../runtime/scheduling/loop.ts';
import { SpreadWake } from '../../runtime/scheduling/spread-wake.ts';
import { Turns } from '../../runtime/scheduling/turns.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import type { AgentConfig } from './command.ts';
import {
  firstDelays,
  firstStorageMs,
  loopJitter as jitter,
  newsSpreadMs,
  loggedSpreadMs,
  type FirstDelays,
} from './spread.ts';

type Pass = (signal: AbortSignal) => Promise<void>;

/** What the loops run. */
export interface Passes {
  readonly containers: Pass;
  readonly images: Pass;
  /** Looks at what pods use of local storage. */
  readonly storage: Pass;
  /** Writes the report when it is due. */
  readonly report: Pass;
  /** Whether a pod is to be evicted for which no report has asked yet: that one waits for no turn. */
  readonly isReportAwaited: () => boolean;
  /** Asks the runtime whether it is there. */
  readonly runtime: Pass;
}

interface AgentLoopsDeps {
  readonly config: Pick<AgentConfig, 'imageGcPeriodMs' | 'containerGcPeriodMs' | 'localStoragePeriodMs'>;
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly onResult: (loop: string, periodMs: number) => (result: PassResult) => void;
}

/** A pass that is silent for this many periods counts as dead; and never before it could have met the deadline of a call or two. */
const livePeriods = 3;
const liveAtLeastMs = 10 * 60_000;
const runtimePeriodMs = 10_000;
const reportPeriodMs = 10_000;

/** The loops of the agent. Passes over containers and images take turns, containers first: a dead container holds its image. */
export class AgentLoops {
  readonly #deps: AgentLoopsDeps;
  readonly #wakes = { containers: new Wake(), images: new Wake(), report: new Wake() };
  readonly #beats: Readonly<Record<'containers' | 'images' | 'storage', Heartbeat>>;
  readonly #news: SpreadWake;
  readonly #told: SpreadWake;
  #hasReported = false;
  readonly #turns = new Turns();
  readonly #first: FirstDelays;

  constructor(deps: AgentLoopsDeps) {
    this.#deps = deps;
    const { clock, random } = deps;
    const { imageGcPeriodMs, containerGcPeriodMs, localStoragePeriodMs } = deps.config;
    this.#beats = {
      containers: heartbeat('containergc', containerGcPeriodMs, clock),
      images: heartbeat('imagegc', imageGcPeriodMs, clock),
      storage: heartbeat('localstorage', localStoragePeriodMs, clock),
    };
    this.#first = firstDelays(containerGcPeriodMs, random());
    this.#news = new SpreadWake({
      ...{ clock, random },
      spreadMs: newsSpreadMs(containerGcPeriodMs),
      wakes: [this.#wakes.containers, this.#wakes.images],
    });
    this.#told = new SpreadWake({
      ...{ clock, random },
      spreadMs: loggedSpreadMs(containerGcPeriodMs),
      wakes: [this.#wakes.report],
    });
  }

  /** For liveness. */
  get heartbeats(): readonly Heartbeat[] {
    return Object.values(this.#beats);
  }

  /** A pass of those that collect gets on; localstorage waits for nothing that takes so long. */
  beat(): void {
    this.#beats.containers.beat();
    this.#beats.images.beat();
  }

  /** Something changed here that passes depend upon: they come soon. */
  hurry(signal: AbortSignal): void {
    this.#news.trigger(signal);
  }

  /** The same, and perhaps for all agents at once: the report that tells of it has a turn of its own, as the first one has anyway. */
  hear(signal: AbortSignal): void {
    this.#news.trigger(signal);
    if (this.#hasReported) this.#told.trigger(signal);
  }

  /** There is something to report. */
  tell(): void {
    this.#wakes.report.trigger();
  }

  /** Until the signal aborts. */
  async run(passes: Passes, signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#collect(passes, signal),
      this.#storage(passes.storage, signal),
      this.#report(passes, signal),
      this.#loop(passes.runtime, { name: 'runtime', intervalMs: runtimePeriodMs }, signal),
    ]);
  }

  /** News is told with what the passes make of it: a report of the same second as everyone's would only say that it was heard. */
  #report({ report, isReportAwaited }: Passes, signal: AbortSignal): Promise<void> {
    const options = { name: 'report', intervalMs: reportPeriodMs, jitter };
    this.#told.hold(this.#first.reportMs, signal);
    const isHeld = (): boolean => (this.#news.isHeld || this.#told.isHeld) && !isReportAwaited();
    const telling = (next: AbortSignal): Promise<void> => {
      this.#hasReported = true;
      return report(next);
    };
    return this.#loop(telling, { ...options, isHeld, wake: this.#wakes.report }, signal);
  }

  /** It removes nothing, so it need not take turns with those that do. */
  #storage(pass: Pass, signal: AbortSignal): Promise<void> {
    const { config, random } = this.#deps;
    const intervalMs = config.localStoragePeriodMs;
    const firstDelayMs = firstStorageMs(intervalMs, random());
    const heartbeat = this.#beats.storage;
    return this.#loop(pass, { name: 'localstorage', intervalMs, jitter, firstDelayMs, heartbeat }, signal);
  }

  async #collect({ containers, images }: Passes, signal: AbortSignal): Promise<void> {
    const { imageGcPeriodMs, containerGcPeriodMs } = this.#deps.config;
    let imageLoop: Promise<void> | undefined;
    const containersFirst = async (pass: AbortSignal): Promise<void> => {
      try {
        await this.#turns.take(() => containers(pass), pass);
      } finally {
        imageLoop ??= this.#loop(
          (next) => this.#turns.take(() => images(next), next),
          {
            ...{ name: 'imagegc', intervalMs: imageGcPeriodMs, jitter },
            ...{ wake: this.#wakes.images, heartbeat: this.#beats.images },
          },
          signal,
        );
      }
    };
    await this.#loop(
      containersFirst,
      {
        ...{ name: 'containergc', intervalMs: containerGcPeriodMs, jitter },
        ...{ wake: this.#wakes.containers, heartbeat: this.#beats.containers },
        firstDelayMs: this.#first.passMs,
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
    const { clock, random, log, onResult } = this.#deps;
    return loop(
      task,
      {
        ...{ ...options, clock, random, log, quietRepeats: true },
        onResult: onResult(options.name, options.intervalMs),
      },
      signal,
    );
  }
}

const heartbeat = (name: string, periodMs: number, clock: Clock): Heartbeat =>
  new Heartbeat(name, Math.max(livePeriods * periodMs, liveAtLeastMs), clock);
