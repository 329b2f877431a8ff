import { onAbort } from './abort.ts';
import { connectionError, timeoutError } from './connection-errors.ts';
import { describe, type Attempt } from './http-attempt.ts';
import { OversizeError } from './http-body.ts';

/** Breaks a request off at its deadline or when the signal aborts, and knows afterwards which it was. */
export class Guard {
  readonly #attempt: Attempt;
  readonly #signal: AbortSignal;
  readonly #forget: () => void;
  readonly #deadline: NodeJS.Timeout | undefined;
  #late = false;

  constructor(attempt: Attempt, signal: AbortSignal, sent: { destroy(): void }) {
    const { timeoutMs } = attempt.request;
    this.#attempt = attempt;
    this.#signal = signal;
    this.#forget = onAbort(signal, () => {
      sent.destroy();
    });
    if (timeoutMs === undefined) return;
    // eslint-disable-next-line no-restricted-syntax -- of a socket, so in real time; AbortSignal.timeout does the same with an EventTarget a request
    this.#deadline = setTimeout(() => {
      this.#late = true;
      sent.destroy();
    }, timeoutMs);
  }

  stop(): void {
    this.#forget();
    clearTimeout(this.#deadline);
  }

  /** What an error really is: the abort, the deadline, or a broken connection, which is `stale` where it was an idle one that the server had given up. */
  explain(err: unknown, stale: boolean): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    const { request, origin } = this.#attempt;
    const { server } = origin;
    if (this.#late) return timeoutError(describe(request), { server, timeoutMs: request.timeoutMs ?? 0 });
    return err instanceof OversizeError ? err : connectionError(err, { server, stale });
  }
}
