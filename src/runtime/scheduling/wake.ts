import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';

/** Lets events shorten a loop's pause. Any number of triggers cause one pass; a trigger during a pass causes another. */
export class Wake {
  #pending = false;
  #interrupt: (() => void) | undefined;

  trigger(): void {
    this.#pending = true;
    this.#interrupt?.();
  }

  /** Drops pending triggers, because the pass that starts now reads everything anew. */
  reset(): void {
    this.#pending = false;
  }

  /** Sleeps for `ms`, or until triggered or aborted. */
  async sleep(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.#pending || signal.aborted) return;
    const interrupt = new AbortController();
    const stop = (): void => interrupt.abort();
    this.#interrupt = stop;
    const forget = onAbort(signal, stop);
    await clock.sleep(ms, interrupt.signal);
    forget();
    this.#interrupt = undefined;
  }
}
