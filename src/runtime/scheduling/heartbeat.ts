import type { Clock } from './clock.ts';
import type { Check } from '../serving/health.ts';

/** Liveness of a loop: fails when no pass was completed, well or badly, for too long while the loop runs. */
export class Heartbeat implements Check {
  readonly name: string;
  readonly #clock: Clock;
  readonly #limitMs: number;
  #lastMs: number | undefined;

  /** A task that may rightly take longer than `limitMs` calls `beat` itself as it gets on. */
  constructor(name: string, limitMs: number, clock: Clock) {
    this.name = name;
    this.#limitMs = limitMs;
    this.#clock = clock;
  }

  beat(): void {
    this.#lastMs = this.#clock.monotonicMs();
  }

  /** The loop has ended on purpose, or has not begun: nothing to wait for. */
  stop(): void {
    this.#lastMs = undefined;
  }

  check(): string | undefined {
    if (this.#lastMs === undefined) return undefined;
    const silentMs = this.#clock.monotonicMs() - this.#lastMs;
    return silentMs > this.#limitMs ? `no pass completed for ${Math.round(silentMs / 1_000)} s` : undefined;
  }
}
