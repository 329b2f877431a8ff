import { errorLine } from '../../runtime/errors.ts';

/** Whether the API server has a VolumeAttachment of this name. Rejects if that is not known. */
export type ReadAttachment = (name: string, signal: AbortSignal) => Promise<boolean>;

/** Some seconds of the agent's requests. */
const maxReads = 20;
/** With more VolumeAttachments than one search reads, responses of earlier searches count. */
const rememberedMs = 10 * 60_000;

/** The VolumeAttachments of orphaned volumes, as last read: for a report, not for a removal. */
export class Attachments {
  readonly #read: ReadAttachment;
  readonly #known = new Map<string, { readonly atMs: number; readonly exists: boolean }>();
  /** Why the last search ended before all were read; undefined = it did not. */
  problem: string | undefined;

  constructor(read: ReadAttachment) {
    this.#read = read;
  }

  /** Reads those that were never read or longest ago, until one cannot be read. */
  async refresh(names: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    for (const [name, { atMs }] of this.#known)
      if (!names.has(name) || nowMs - atMs > rememberedMs) this.#known.delete(name);
    const atMs = (name: string): number => this.#known.get(name)?.atMs ?? -1;
    this.problem = undefined;
    try {
      for (const name of [...names].toSorted((a, b) => atMs(a) - atMs(b)).slice(0, maxReads)) {
        this.#known.delete(name);
        const exists = await this.#read(name, signal);
        this.#known.set(name, { atMs: nowMs, exists });
      }
    } catch (err) {
      signal.throwIfAborted();
      this.problem = errorLine(err);
    }
  }

  /** undefined = unknown. */
  exists(name: string): boolean | undefined {
    return this.#known.get(name)?.exists;
  }
}
