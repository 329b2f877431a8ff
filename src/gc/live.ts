import type { Clock } from '../runtime/scheduling/clock.ts';

/** Greatest age, in milliseconds since the request, of a response that allows a removal. */
export const liveMs = 5_000;

interface LiveOptions<D, R> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Decisions with the same key share a response; undefined = the decision needs none. Default: all share one. */
  readonly key?: (decision: D) => string | undefined;
  readonly query: (decision: D, signal: AbortSignal) => Promise<R>;
  /** Most decisions that may share one response, however fresh it is. */
  readonly maxDecisions?: number;
}

interface Known<D, R> {
  readonly requestedAtMs: number;
  readonly pending: Promise<R>;
  response: { readonly value: R } | undefined;
  /** Filled only if `maxDecisions` is set. */
  readonly served: Set<D>;
}

/** Responses to a query of the API server or the runtime right before an action; a stale one is queried again. */
export class LiveQuery<D, R> {
  readonly #options: LiveOptions<D, R>;
  readonly #known = new Map<string, Known<D, R>>();

  constructor(options: LiveOptions<D, R>) {
    this.#options = options;
  }

  /** Sends the query, unless a fresh response is known or pending. Rejects as the query does; an error, too, is shared while it is fresh. */
  async refresh(decision: D, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(decision);
    if (key === undefined) return;
    const before = this.#known.get(key);
    const isUsable = before !== undefined && this.#isInTime(before) && this.#mayServe(before, decision);
    const known = isUsable ? before : this.#send(key, decision, signal);
    if (this.#options.maxDecisions !== undefined) known.served.add(decision);
    await known.pending;
  }

  /** Whether the decision needs no response, or has one that is recent enough to act on. */
  isFresh(decision: D): boolean {
    const key = this.#keyOf(decision);
    const known = key === undefined ? undefined : this.#known.get(key);
    return key === undefined || (known?.response !== undefined && this.#isInTime(known));
  }

  /** The last response; undefined = the decision needs none, or none has arrived. */
  response(decision: D): R | undefined {
    return this.#known.get(this.#keyOf(decision) ?? '')?.response?.value;
  }

  #keyOf(decision: D): string | undefined {
    const { key } = this.#options;
    return key === undefined ? 'all' : key(decision);
  }

  #mayServe({ served }: Known<D, R>, decision: D): boolean {
    const { maxDecisions = Infinity } = this.#options;
    return served.size < maxDecisions || served.has(decision);
  }

  #isInTime({ requestedAtMs }: Pick<Known<D, R>, 'requestedAtMs'>): boolean {
    return this.#options.clock.monotonicMs() - requestedAtMs < liveMs;
  }

  #send(key: string, decision: D, signal: AbortSignal): Known<D, R> {
    const requestedAtMs = this.#options.clock.monotonicMs();
    const pending = this.#options.query(decision, signal).then((value) => {
      known.response = { value };
      return value;
    });
    const known: Known<D, R> = { requestedAtMs, pending, response: undefined, served: new Set() };
    this.#known.set(key, known);
    return known;
  }
}
