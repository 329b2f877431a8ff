import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { constants } from 'node:fs';
import { errorCode } from '../../runtime/errors.ts';
import type { AgentState, ParsedState, StateFormat } from './state-format.ts';
import { within } from './within.ts';

/** Result of a read: a state, no file (a new node), or the reason why the agent starts over. */
export type StateReading<S = AgentState> = ParsedState<S> | { readonly kind: 'missing' };

/** A file of some kilobytes takes milliseconds; a disk that needs longer hangs. */
const timeoutMs = 30_000;
const hangs = (): Error => new Error('no response: the disk hangs');

/** State of the agent on the disk of its node. A write replaces the whole file or nothing, and only if the state changed. */
export class StateFile<S = AgentState> {
  readonly #path: string;
  readonly #format: StateFormat<S>;
  readonly #deadline: () => AbortSignal;
  /** undefined = not known: a write has begun. */
  #written: string | undefined;
  #newest: string | undefined;
  #writing: Promise<void> | undefined;
  /** A write has not ended by its deadline. */
  #isHanging = false;
  /** The existing file could not be read: it is set aside, not overwritten. */
  #setAside = false;

  constructor(path: string, format: StateFormat<S>, deadline = () => AbortSignal.timeout(timeoutMs)) {
    this.#path = path;
    this.#format = format;
    this.#deadline = deadline;
  }

  /** Throws only for an abort: after every other failure the agent starts over. */
  async read(signal: AbortSignal): Promise<StateReading<S>> {
    try {
      const reading = readFile(this.#path, { encoding: 'utf8', signal });
      const text = await within(reading, { deadline: this.#deadline(), late: hangs }, signal);
      const parsed = this.#format.parse(text);
      if (parsed.kind === 'read') this.#written = text;
      else this.#setAside = true;
      return parsed;
    } catch (err) {
      signal.throwIfAborted();
      if (errorCode(err) === 'ENOENT') return { kind: 'missing' };
      this.#setAside = true;
      return { kind: 'startOver', reason: `cannot be read (${causeOf(err)})` };
    }
  }

  /**
   * Throws in one line if the file cannot be written; the old file is then still whole. A write that hangs is left to end, and nothing waits for it longer than
   * its deadline: when it ends, the newest state follows.
   */
  async write(state: S, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const text = this.#format.format(state);
    if (text === this.#written) return;
    this.#newest = text;
    const late = (): Error => {
      this.#isHanging = true;
      return hangs();
    };
    try {
      if (this.#isHanging) throw new Error('an earlier write has not ended: the disk hangs');
      this.#writing ??= this.#writeNewest();
      await within(this.#writing, { deadline: this.#deadline(), late }, signal);
    } catch (err) {
      signal.throwIfAborted();
      throw new Error(`writing state file ${this.#path} (${causeOf(err)})`, { cause: err });
    }
  }

  /** One write after the other: an older one that ends late would replace a newer file. */
  async #writeNewest(): Promise<void> {
    try {
      while (this.#newest !== undefined && this.#newest !== this.#written) await this.#write(this.#newest);
    } finally {
      this.#writing = undefined;
      this.#isHanging = false;
    }
  }

  async #write(text: string): Promise<void> {
    this.#written = undefined;
    try {
      if (this.#setAside) await this.#moveAside();
      this.#setAside = false;
      await this.#replace(text);
      this.#written = text;
    } catch (err) {
      // Else a newer state follows.
      if (text === this.#newest) throw err;
    }
  }

  /** Ignores that the file is gone meanwhile. */
  async #moveAside(): Promise<void> {
    try {
      await rename(this.#path, `${this.#path}.bak`);
    } catch (err) {
      if (errorCode(err) !== 'ENOENT') throw err;
    }
  }

  async #replace(text: string): Promise<void> {
    const temporary = `${this.#path}.tmp`;
    try {
      await writeSynced(temporary, text);
      await rename(temporary, this.#path);
    } catch (err) {
      // Half a file would only fill a full disk.
      await rm(temporary, { force: true }).catch(() => undefined);
      throw err;
    }
    await syncDirectory(dirname(this.#path));
  }
}

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new file name is durable only after a sync of its directory. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function causeOf(err: unknown): string {
  return errorCode(err) ?? (err instanceof Error ? err.message : String(err));
}
