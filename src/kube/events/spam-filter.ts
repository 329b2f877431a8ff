/** Limit for one object, as upstream: a burst of 25, then one in five minutes. */
const perObject = { burst: 25, perMs: 1 / (5 * 60_000) };
/** For this process: a first pass may report hundreds of owners, but Events must not delay deletions. */
const overall = { burst: 200, perMs: 10 / 1000 };

interface Rate {
  readonly burst: number;
  readonly perMs: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Limits the number of new Events, per object and in total. Recurrences make no requests and are not limited. */
export class EventSpamFilter {
  readonly #all: Bucket;
  readonly #objects = new Map<string, Bucket>();

  constructor(nowMs: number) {
    this.#all = { tokens: overall.burst, atMs: nowMs };
  }

  /** Takes a token of both buckets. Returns false, and takes none, if one is empty. */
  allows(object: string, nowMs: number): boolean {
    const bucket = this.#objects.get(object) ?? { tokens: perObject.burst, atMs: nowMs };
    fill(bucket, perObject, nowMs);
    fill(this.#all, overall, nowMs);
    if (bucket.tokens < 1 || this.#all.tokens < 1) return false;
    bucket.tokens -= 1;
    this.#all.tokens -= 1;
    this.#objects.set(object, bucket);
    return true;
  }

  /** Drops full buckets, so that deleted objects use no memory. */
  prune(nowMs: number): void {
    for (const [object, bucket] of this.#objects) {
      fill(bucket, perObject, nowMs);
      if (bucket.tokens >= perObject.burst) this.#objects.delete(object);
    }
  }
}

function fill(bucket: Bucket, { burst, perMs }: Rate, nowMs: number): void {
  bucket.tokens = Math.min(burst, bucket.tokens + (nowMs - bucket.atMs) * perMs);
  bucket.atMs = nowMs;
}
