import type { Clock } from './clock.ts';

/**
 * Lets events cut a loop's pause short. Level-triggered: any number of triggers make one pass, and one that comes
 * during a pass makes another.
 */
export class Wake {
  #pending = false;
  #interrupt: (() => void) | undefined;

  trigger(): void {
    this.#pending = true;
    this.#interrupt?.();
  }

  /** Forgets what was triggered so far: the pass that starts now reads the world anew. */
  reset(): void {
    this.#pending = false;
  }

  /** Sleeps for `ms`, or until triggered or aborted. */
  async sleep(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.#pending || signal.aborted) return;
    const interrupt = new AbortController();
    // Not AbortSignal.any: the long-lived signal would remember each pause.
    const stop = () => {
      interrupt.abort();
    };
    this.#interrupt = stop;
    signal.addEventListener('abort', stop, { once: true });
    await clock.sleep(ms, interrupt.signal);
    signal.removeEventListener('abort', stop);
    this.#interrupt = undefined;
  }
}
