import { TokenBucket, type Rate } from '../http/rate-limit.ts';

/** Limit for one object, as upstream: a burst of 25, then one in five minutes. */
const perObject: Rate = { burst: 25, perMs: 1 / (5 * 60_000) };
/** For this process: a first pass may report hundreds of owners, but Events must not delay deletions. */
const overall: Rate = { burst: 200, perMs: 10 / 1000 };

/** Limits the number of new Events, per object and in total. Recurrences make no requests and are not limited. */
export class EventSpamFilter {
  readonly #all: TokenBucket;
  readonly #objects = new Map<string, TokenBucket>();

  constructor(nowMs: number) {
    this.#all = new TokenBucket(overall, nowMs);
  }

  /** Takes a token of both buckets. Returns false, and takes none, if one is empty. */
  allows(object: string, nowMs: number): boolean {
    const bucket = this.#objects.get(object) ?? new TokenBucket(perObject, nowMs);
    if (bucket.waitMs(nowMs) > 0 || this.#all.waitMs(nowMs) > 0) return false;
    bucket.take();
    this.#all.take();
    this.#objects.set(object, bucket);
    return true;
  }

  /** Drops full buckets, so that deleted objects use no memory. */
  prune(nowMs: number): void {
    for (const [object, bucket] of this.#objects) if (bucket.isFull(nowMs)) this.#objects.delete(object);
  }
}
