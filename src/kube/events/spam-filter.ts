/** Of one object: a burst of 25, then one in five minutes; upstream's. */
const perObject = { burst: 25, perMs: 1 / (5 * 60_000) };
/** Of this process: a first sweep may tell of hundreds of owners, but Events must not crowd out the deletes. */
const overall = { burst: 200, perMs: 10 / 1000 };

interface Rate {
  readonly burst: number;
  readonly perMs: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Limits how many new Events are created, per object and in all. Recurrences cost nothing: they make no requests. */
export class EventSpamFilter {
  readonly #all: Bucket;
  readonly #objects = new Map<string, Bucket>();

  constructor(nowMs: number) {
    this.#all = { tokens: overall.burst, atMs: nowMs };
  }

  /** Takes a token of each bucket, or none at all and says no. */
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

  /** Drops the buckets that are full again, so that objects long gone take no memory. */
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
