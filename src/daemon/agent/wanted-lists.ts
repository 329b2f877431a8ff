import { wantedOn, type WantedImages, type WantedList, type WantedReading } from '../../api/wanted-images.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

/** The controller writes a missing list within five minutes, one of its periods. */
const awaitedMs = 10 * 60_000;
/** A read may wait for the API server, and passes for pulls and pressure follow one another within seconds. */
const longestRetryMs = 30_000;

interface WantedListsDeps {
  /** The pause between two passes; those for pulls follow one another within seconds. */
  readonly periodMs: number;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly read: (signal: AbortSignal) => Promise<WantedReading>;
  /** The labels of the node; undefined = not known. */
  readonly labels: () => Readonly<Record<string, string>> | undefined;
}

/**
 * Reads the list of wanted images at most once in a period. While it cannot be read, the images of the last one still count; before the first one it is
 * awaited for a while, not for ever: a controller may be missing.
 */
export class WantedLists {
  readonly #deps: WantedListsDeps;
  #last: { readonly list: WantedList; readonly readAtMs: number } | undefined;
  #failed: { readonly because: string; readonly atMs: number } | undefined;
  #awaitedSinceMs: number | undefined;

  constructor(deps: WantedListsDeps) {
    this.#deps = deps;
  }

  async read(signal: AbortSignal): Promise<WantedImages> {
    const { periodMs, clock, read, labels } = this.#deps;
    const now = clock.monotonicMs();
    if (this.#failed !== undefined && now - this.#failed.atMs < Math.min(periodMs, longestRetryMs))
      return this.#without(this.#failed.because, now);
    if (this.#last === undefined || now - this.#last.readAtMs >= periodMs) {
      const reading = await read(signal);
      this.#failed = typeof reading === 'string' ? { because: reading, atMs: now } : undefined;
      if (typeof reading === 'string') return this.#without(reading, now);
      this.#last = { list: reading, readAtMs: now };
    }
    return wantedOn(this.#last.list, labels(), clock.now());
  }

  #without(because: string, nowMs: number): WantedImages {
    const { clock, labels } = this.#deps;
    const wanted = wantedOn(this.#last?.list ?? because, labels(), clock.now());
    this.#awaitedSinceMs ??= nowMs;
    const leftMs = this.#awaitedSinceMs + awaitedMs - nowMs;
    const isAwaited = this.#last === undefined && leftMs > 0;
    return { ...wanted, unknownBecause: because, awaitedForMs: isAwaited ? leftMs : undefined };
  }
}
