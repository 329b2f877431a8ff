import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { constants } from 'node:fs';
import { errorCode } from '../../runtime/errors.ts';
import type { AgentState, ParsedState, StateFormat } from './state-format.ts';

/** Result of a read: a state, no file (a new node), or the reason why the agent starts over. */
export type StateReading<S = AgentState> = ParsedState<S> | { readonly kind: 'missing' };

/** State of the agent on the disk of its node. A write replaces the whole file or nothing, and only if the state changed. */
export class StateFile<S = AgentState> {
  readonly #path: string;
  readonly #format: StateFormat<S>;
  #written: string | undefined;
  /** The existing file could not be read: it is set aside, not overwritten. */
  #setAside = false;

  constructor(path: string, format: StateFormat<S>) {
    this.#path = path;
    this.#format = format;
  }

  /** Throws only for an abort: after every other failure the agent starts over. */
  async read(signal: AbortSignal): Promise<StateReading<S>> {
    try {
      const text = await readFile(this.#path, { encoding: 'utf8', signal });
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

  /** Throws in one line if the file cannot be written; the old file is then still whole. */
  async write(state: S, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const text = this.#format.format(state);
    if (text === this.#written) return;
    try {
      if (this.#setAside) await this.#moveAside();
      this.#setAside = false;
      await this.#replace(text);
    } catch (err) {
      throw new Error(`writing state file ${this.#path} (${causeOf(err)})`, { cause: err });
    }
    this.#written = text;
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
