import type { Clock } from '../runtime/scheduling/clock.ts';

/** How old, in milliseconds, an answer may be when something is removed because of it; counted from the request. */
export const liveMs = 5_000;

interface LiveOptions<D, A> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Decisions with the same key share an answer; undefined = the decision does not depend on it. Default: all share one. */
  readonly key?: (decision: D) => string | undefined;
  readonly ask: (decision: D, signal: AbortSignal) => Promise<A>;
  /** How many decisions one answer may serve, however fresh it is. */
  readonly maxDecisions?: number;
}

interface Known<D, A> {
  readonly askedAtMs: number;
  readonly pending: Promise<A>;
  answer: { readonly value: A } | undefined;
  /** Counted only where their number is limited. */
  readonly served: Set<D>;
}

/** Answers to a question that is put to a server or to the runtime right before an action, each asked again when it is too old. */
export class Live<D, A> {
  readonly #options: LiveOptions<D, A>;
  readonly #known = new Map<string, Known<D, A>>();

  constructor(options: LiveOptions<D, A>) {
    this.#options = options;
  }

  /** Asks, unless a fresh answer is known or on its way. Rejects as the question does; that failure, too, counts while it is fresh. */
  async refresh(decision: D, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(decision);
    if (key === undefined) return;
    const before = this.#known.get(key);
    const isUsable = before !== undefined && this.#isInTime(before) && this.#mayServe(before, decision);
    const known = isUsable ? before : this.#ask(key, decision, signal);
    if (this.#options.maxDecisions !== undefined) known.served.add(decision);
    await known.pending;
  }

  /** Whether the decision does not depend on it, or the answer is known and may still be acted upon. */
  isFresh(decision: D): boolean {
    const key = this.#keyOf(decision);
    const known = key === undefined ? undefined : this.#known.get(key);
    return key === undefined || (known?.answer !== undefined && this.#isInTime(known));
  }

  /** The last answer; undefined = the decision does not depend on it, or nothing has been answered. */
  answer(decision: D): A | undefined {
    return this.#known.get(this.#keyOf(decision) ?? '')?.answer?.value;
  }

  #keyOf(decision: D): string | undefined {
    const { key } = this.#options;
    return key === undefined ? 'all' : key(decision);
  }

  #mayServe({ served }: Known<D, A>, decision: D): boolean {
    const { maxDecisions = Infinity } = this.#options;
    return served.size < maxDecisions || served.has(decision);
  }

  #isInTime({ askedAtMs }: Pick<Known<D, A>, 'askedAtMs'>): boolean {
    return this.#options.clock.monotonicMs() - askedAtMs < liveMs;
  }

  #ask(key: string, decision: D, signal: AbortSignal): Known<D, A> {
    const askedAtMs = this.#options.clock.monotonicMs();
    const pending = this.#options.ask(decision, signal).then((value) => {
      known.answer = { value };
      return value;
    });
    const known: Known<D, A> = { askedAtMs, pending, answer: undefined, served: new Set() };
    this.#known.set(key, known);
    return known;
  }
}
