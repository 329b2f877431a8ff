import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** A line of the log of a face, as far as the demo reads it. */
export interface LogLine {
  readonly msg?: string;
  readonly reason?: string;
  readonly pod?: { readonly name?: string };
  readonly image?: string;
  readonly container?: string;
  readonly sandbox?: string;
  readonly path?: string;
  readonly freedBytes?: number;
}

/** A face of the built program, as a user starts it, with its log in a file. */
export class Program {
  readonly #child: ChildProcess;
  readonly #face: string;
  readonly #logFile: string;

  constructor(args: readonly string[], logFile: string) {
    this.#face = args[0] ?? '';
    this.#logFile = logFile;
    const log = openSync(logFile, 'w');
    this.#child = spawn(process.execPath, ['dist/main.js', ...args], { stdio: ['ignore', log, log] });
    closeSync(log);
  }

  get log(): readonly LogLine[] {
    return this.#lines()
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Throws when it has ended by itself: nothing that is waited for would come. */
  check(): void {
    if (this.#hasEnded)
      throw new Error(`the ${this.#face} has ended, code ${this.#child.exitCode ?? 'none'}`);
  }

  /** The last lines of its log, for a person. */
  lastWords(): string {
    return this.#lines().slice(-10).join('\n');
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Whole ones: the last may still be being written. */
  #lines(): string[] {
    return readFileSync(this.#logFile, 'utf8').split('\n').slice(0, -1);
  }
}
