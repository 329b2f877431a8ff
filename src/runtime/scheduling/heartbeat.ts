import type { Clock } from './clock.ts';
import type { Check } from '../serving/health.ts';

/** Liveness of a loop: fails if the running loop has completed no pass, successful or not, for more than `limitMs`. */
export class Heartbeat implements Check {
  readonly name: string;
  readonly #clock: Clock;
  readonly #limitMs: number;
  #lastMs: number | undefined;

  /** A task that may take longer than `limitMs` calls `beat` itself as it progresses. */
  constructor(name: string, limitMs: number, clock: Clock) {
    this.name = name;
    this.#limitMs = limitMs;
    this.#clock = clock;
  }

  beat(): void {
    this.#lastMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#lastMs = undefined;
  }

  check(): string | undefined {
    if (this.#lastMs === undefined) return undefined;
    const silentMs = this.#clock.monotonicMs() - this.#lastMs;
    return silentMs > this.#limitMs ? `no pass completed for ${Math.round(silentMs / 1_000)} s` : undefined;
  }
}
