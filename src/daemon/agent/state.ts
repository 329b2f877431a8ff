import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { marksFormat, type Marks } from '../../node/disk/marks-format.ts';
import { StateFile, type StateReading } from '../../node/disk/state-file.ts';
import { agentState, type AgentState } from '../../node/disk/state-format.ts';
import { within } from '../../node/disk/within.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Check } from '../../runtime/serving/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';

/** The servers of the agent start after it. */
const prepareMs = 5_000;

/** The state file in its directory; also the readiness check that it can be written. */
export class StateDirectory implements Check {
  readonly name = 'state-dir';
  /** A file of its own: a damaged one costs no history of images. */
  readonly marks: StateFile<Marks>;
  readonly #directory: string;
  readonly #file: StateFile;
  readonly #log: Logger;
  #trouble: string | undefined;

  constructor(directory: string, log: Logger) {
    this.#directory = directory;
    this.#file = new StateFile(join(directory, 'state.json'), agentState);
    this.marks = new StateFile(join(directory, 'marks.json'), marksFormat);
    this.#log = log;
  }

  check(): string | undefined {
    return this.#trouble;
  }

  /** Creates the directory. Never rejects: without it the agent works from memory. */
  async prepare(signal: AbortSignal): Promise<void> {
    const late = (): Error => new Error('no response: the disk hangs');
    try {
      await within(this.#create(), { deadline: AbortSignal.timeout(prepareMs), late }, signal);
    } catch (cause) {
      const err = new Error('preparing the state directory', { cause });
      this.#trouble = errorLine(err);
      const fields = { err, directory: this.#directory };
      this.#log.warn(
        fields,
        'state directory cannot be written, the history of images ends with this process',
      );
    }
  }

  async #create(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await access(this.#directory, constants.W_OK);
  }

  read(signal: AbortSignal): Promise<StateReading> {
    return this.#file.read(signal);
  }

  async write(state: AgentState, signal: AbortSignal): Promise<void> {
    try {
      await this.#file.write(state, signal);
      this.#trouble = undefined;
    } catch (err) {
      if (!signal.aborted) this.#trouble = errorLine(err);
      throw err;
    }
  }
}
