import type { Clock } from './clock.ts';
import { adjustPace, type Pace } from './pacing.ts';

/** What became of one act. `throttled`: it did not happen, because the server asked for patience. */
export type ActResult = 'done' | { readonly throttledForMs: number };

export interface PacedOptions<T> {
  readonly act: (item: T, signal: AbortSignal) => Promise<ActResult>;
  readonly clock: Clock;
  readonly pace: Pace;
  /** Starts a second at most; 0 = no ceiling. */
  readonly maxPerSecond: number;
  /** Asked before each start; false ends the run: what is in flight finishes, nothing new begins. */
  readonly mayStart: () => boolean;
  readonly onPace?: (pace: Pace, inFlight: number) => void;
}

/** Runs `act` over the items in order, with as many in flight as the server bears. Resolves with the pace it learned; rejects with the first rejection of `act`. */
export async function paced<T>(
  items: Iterable<T>,
  options: PacedOptions<T>,
  signal: AbortSignal,
): Promise<Pace> {
  const run = new PacedRun(items, options, signal);
  return run.finish();
}

/** A shorter round says more of chance than of the server. */
const minRoundMs = 50;
/** Longest pause a server may ask for; a longer one is asked for again. */
const maxPauseMs = 30_000;

class PacedRun<T> {
  readonly #options: PacedOptions<T>;
  readonly #signal: AbortSignal;
  readonly #source: Iterator<T>;
  readonly #again: T[] = [];
  #inFlight = 0;
  #onLanding: (() => void) | undefined;
  #pace: Pace;
  #round = { done: 0, startedAt: 0, latencyMs: 0, throttled: 0 };
  #pausedUntil = 0;
  #nextSlot = 0;
  #failure: { readonly err: unknown } | undefined;

  constructor(items: Iterable<T>, options: PacedOptions<T>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#source = items[Symbol.iterator]();
    this.#pace = options.pace;
    this.#round.startedAt = options.clock.monotonicMs();
  }

  async finish(): Promise<Pace> {
    while (this.#mayGoOn()) {
      const next = this.#next();
      if (next === undefined) {
        if (this.#inFlight === 0) break;
        await this.#landing();
        continue;
      }
      await this.#pause();
      if (!this.#mayGoOn()) break;
      this.#start(next.item);
      while (this.#inFlight >= this.#pace.window) await this.#landing();
    }
    while (this.#inFlight > 0) await this.#landing();
    if (this.#failure !== undefined) throw this.#failure.err;
    this.#signal.throwIfAborted();
    return this.#pace;
  }

  #mayGoOn(): boolean {
    return this.#failure === undefined && !this.#signal.aborted && this.#options.mayStart();
  }

  /** What was throttled goes before what never started: order is kept as well as it can be. */
  #next(): { readonly item: T } | undefined {
    const again = this.#again.shift();
    if (again !== undefined) return { item: again };
    const next = this.#source.next();
    return next.done === true ? undefined : { item: next.value };
  }

  async #pause(): Promise<void> {
    const { clock, maxPerSecond } = this.#options;
    const now = clock.monotonicMs();
    const until = Math.max(this.#pausedUntil, this.#nextSlot);
    if (maxPerSecond > 0) this.#nextSlot = Math.max(now, this.#nextSlot) + 1000 / maxPerSecond;
    if (until > now) await clock.sleep(until - now, this.#signal);
  }

  /** Resolves when the next act ends. Not Promise.race: that leaves something behind in each of the others, every time. */
  #landing(): Promise<void> {
    return new Promise((resolve) => (this.#onLanding = resolve));
  }

  #start(item: T): void {
    this.#inFlight++;
    void this.#perform(item).finally(() => {
      this.#inFlight--;
      this.#options.onPace?.(this.#pace, this.#inFlight);
      const land = this.#onLanding;
      this.#onLanding = undefined;
      land?.();
    });
  }

  async #perform(item: T): Promise<void> {
    const startedAt = this.#options.clock.monotonicMs();
    try {
      const result = await this.#options.act(item, this.#signal);
      if (result !== 'done') this.#throttled(item, result.throttledForMs);
    } catch (err) {
      this.#failure ??= { err };
    }
    this.#finished(startedAt);
  }

  #throttled(item: T, forMs: number): void {
    this.#round.throttled++;
    this.#again.push(item);
    this.#pausedUntil = this.#options.clock.monotonicMs() + Math.min(Math.max(forMs, 0), maxPauseMs);
  }

  #finished(startedAt: number): void {
    const now = this.#options.clock.monotonicMs();
    this.#round.done++;
    this.#round.latencyMs += now - startedAt;
    const { done, throttled, latencyMs, startedAt: roundStartedAt } = this.#round;
    const elapsedMs = now - roundStartedAt;
    if (throttled === 0 && (done < this.#pace.window || elapsedMs < minRoundMs)) return;
    this.#pace = adjustPace(this.#pace, { done, throttled, elapsedMs, meanLatencyMs: latencyMs / done });
    this.#round = { done: 0, startedAt: now, latencyMs: 0, throttled: 0 };
  }
}
