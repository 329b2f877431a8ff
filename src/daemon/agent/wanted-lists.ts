import { wantedOn, type WantedImages, type WantedList, type WantedReading } from '../../api/wanted-images.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

interface WantedListsDeps {
  /** The pause between two passes; those for pulls follow one another within seconds. */
  readonly periodMs: number;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly read: (signal: AbortSignal) => Promise<WantedReading>;
  /** The labels of the node; undefined = not known. */
  readonly labels: () => Readonly<Record<string, string>> | undefined;
}

/** Reads the list of wanted images at most once in a period. While it cannot be read, the images of the last one still count. */
export class WantedLists {
  readonly #deps: WantedListsDeps;
  #last: { readonly list: WantedList; readonly readAtMs: number } | undefined;

  constructor(deps: WantedListsDeps) {
    this.#deps = deps;
  }

  async read(signal: AbortSignal): Promise<WantedImages> {
    const { periodMs, clock, read, labels } = this.#deps;
    const now = clock.monotonicMs();
    if (this.#last === undefined || now - this.#last.readAtMs >= periodMs) {
      const reading = await read(signal);
      if (typeof reading === 'string')
        return { ...wantedOn(this.#last?.list ?? reading, labels(), clock.now()), unknownBecause: reading };
      this.#last = { list: reading, readAtMs: now };
    }
    return wantedOn(this.#last.list, labels(), clock.now());
  }
}
