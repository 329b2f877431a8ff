/** Responses to one kind of request. */
export interface Count {
  readonly name: string;
  readonly count: number;
  readonly largestSecond: number;
  /** 99 of 100 took at most this time. */
  readonly p99Ms: number;
}

interface Response {
  readonly atMs: number;
  readonly tookMs: number;
}

/** Counts the responses that the agents receive. */
export class Tally {
  #responses = new Map<string, Response[]>();

  add(name: string, seconds = 0): void {
    const same = this.#responses.get(name) ?? [];
    same.push({ atMs: performance.now(), tookMs: seconds * 1_000 });
    this.#responses.set(name, same);
  }

  /** Counts since the previous call. */
  take(): readonly Count[] {
    const responses = this.#responses;
    this.#responses = new Map();
    return [...responses].map(([name, same]) => ({
      name,
      count: same.length,
      largestSecond: largestSecondOf(same),
      p99Ms: same.map(({ tookMs }) => tookMs).toSorted((a, b) => b - a)[Math.floor(same.length / 100)] ?? 0,
    }));
  }
}

function largestSecondOf(responses: readonly Response[]): number {
  const perSecond = new Map<number, number>();
  for (const { atMs } of responses) {
    const second = Math.floor(atMs / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return Math.max(...perSecond.values());
}
