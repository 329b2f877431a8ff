import type { Clock } from '../runtime/scheduling/clock.ts';

/** How old, in milliseconds, an answer may be when something is removed because of it; counted from the request. */
export const liveMs = 5_000;

interface LiveOptions<D, A> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Decisions with the same key share an answer; undefined = the decision does not depend on it. Default: all share one. */
  readonly key?: (decision: D) => string | undefined;
  readonly ask: (decision: D, signal: AbortSignal) => Promise<A>;
  /** How many actions one answer may serve, however fresh it is. */
  readonly maxUses?: number;
}

interface Known<A> {
  readonly askedAtMs: number;
  readonly pending: Promise<A>;
  answer: { readonly value: A } | undefined;
  uses: number;
}

/** Answers to a question that is put to a server or to the runtime right before an action, each asked again when it is too old. */
export class Live<D, A> {
  readonly #options: LiveOptions<D, A>;
  readonly #known = new Map<string, Known<A>>();

  constructor(options: LiveOptions<D, A>) {
    this.#options = options;
  }

  /** Asks, unless a fresh answer is known or on its way. Rejects as the question does; that failure, too, counts while it is fresh. */
  async refresh(decision: D, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(decision);
    if (key === undefined) return;
    const { maxUses = Infinity } = this.#options;
    const before = this.#known.get(key);
    const isUsable = before !== undefined && this.#isInTime(before) && before.uses < maxUses;
    const known = isUsable ? before : this.#ask(key, decision, signal);
    known.uses += 1;
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

  #isInTime({ askedAtMs }: Known<A>): boolean {
    return this.#options.clock.monotonicMs() - askedAtMs < liveMs;
  }

  #ask(key: string, decision: D, signal: AbortSignal): Known<A> {
    const askedAtMs = this.#options.clock.monotonicMs();
    const pending = this.#options.ask(decision, signal).then((value) => {
      known.answer = { value };
      return value;
    });
    const known: Known<A> = { askedAtMs, pending, answer: undefined, uses: 0 };
    this.#known.set(key, known);
    return known;
  }
}
