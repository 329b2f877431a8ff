import type { Clock } from '../../src/runtime/scheduling/clock.ts';

/** Time moves only when the code under test sleeps, or when a test calls `advance`. */
export class FakeClock implements Clock {
  #now: number;
  #monotonic = 0;

  constructor(start = new Date('2026-01-15T12:00:00Z')) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  monotonicMs(): number {
    return this.#monotonic;
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
  }

  /** A step of the wall clock alone, as NTP or a person makes it. */
  stepWall(ms: number): void {
    this.#now += ms;
  }

  sleep(ms: number): Promise<void> {
    this.advance(ms);
    return Promise.resolve();
  }
}
