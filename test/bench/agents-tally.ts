interface Answered {
  /** Of performance.now(). */
  readonly atMs: number;
  readonly seconds: number;
}

/** When requests were answered, by what they asked for, and how long each took. */
export class Tally {
  readonly #answered = new Map<string, Answered[]>();

  add(what: string, seconds = 0): void {
    const one = { atMs: performance.now(), seconds };
    const known = this.#answered.get(what);
    if (known === undefined) this.#answered.set(what, [one]);
    else known.push(one);
  }

  count(what: string): number {
    return this.#answered.get(what)?.length ?? 0;
  }

  /** Between two times of performance.now(), by what was asked for. */
  spreads(stretch: Stretch): ReadonlyMap<string, Spread> {
    const all = [...this.#answered].map(([what, answered]) => [what, spreadOf(answered, stretch)] as const);
    return new Map(all.filter(([, { count }]) => count > 0));
  }
}

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How answers spread over a stretch of time. */
export interface Spread {
  readonly count: number;
  readonly meanPerSecond: number;
  readonly largestSecond: number;
  /** From the beginning of the stretch. */
  readonly lastAtSeconds: number;
  /** In each tenth of the stretch. */
  readonly tenths: readonly number[];
  /** The time that 99 of 100 took at most. */
  readonly p99Seconds: number;
}

/** Counts by the seconds from the beginning of the stretch on. */
function spreadOf(answered: readonly Answered[], { fromMs, toMs }: Stretch): Spread {
  const inside = answered.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  const perSecond = new Map<number, number>();
  const tenths = new Array<number>(10).fill(0);
  for (const { atMs } of inside) {
    const second = Math.floor((atMs - fromMs) / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    const tenth = Math.floor((10 * (atMs - fromMs)) / (toMs - fromMs));
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  const slowestFirst = inside.map(({ seconds }) => seconds).sort((a, b) => b - a);
  return {
    count: inside.length,
    meanPerSecond: (1_000 * inside.length) / (toMs - fromMs),
    largestSecond: Math.max(0, ...perSecond.values()),
    lastAtSeconds: (inside.reduce((last, { atMs }) => Math.max(last, atMs), fromMs) - fromMs) / 1_000,
    tenths,
    p99Seconds: slowestFirst[Math.floor(slowestFirst.length / 100)] ?? 0,
  };
}
