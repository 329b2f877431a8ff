import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Check } from './health.ts';

// Each sample wakes an otherwise idle process; ten per second find every relevant lag.
const resolutionMs = 100;
const nanosecondsPerSecond = 1e9;

export class EventLoopLag {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  start(): void {
    this.#histogram.enable();
  }

  stop(): void {
    this.#histogram.disable();
  }

  /** Returns the longest lag and starts a new window. */
  takeMaxSeconds(): number {
    // The histogram has times between two ticks; an empty one returns the extremes of its range.
    const seconds =
      this.#histogram.count === 0 ? 0 : this.#histogram.max / nanosecondsPerSecond - resolutionMs / 1_000;
    this.#histogram.reset();
    return Math.max(0, seconds);
  }
}

/** Fails if the event loop was blocked for more than `limitMs` since the last probe. */
export function eventLoopCheck(lag: Pick<EventLoopLag, 'takeMaxSeconds'>, limitMs: number): Check {
  return {
    name: 'event-loop',
    check: () => {
      const seconds = lag.takeMaxSeconds();
      return seconds * 1_000 > limitMs ? `blocked for ${seconds.toFixed(1)} s` : undefined;
    },
  };
}
