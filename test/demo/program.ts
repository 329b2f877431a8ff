import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const main = 'dist/main.js';
type Environment = Readonly<Record<string, string>>;

/** The fields of a log line that the demo reads. */
export interface LogLine {
  readonly msg?: string;
  readonly logger?: string;
  readonly reason?: string;
  readonly pod?: { readonly name?: string };
  readonly image?: string;
  readonly container?: string;
  readonly sandbox?: string;
  readonly path?: string;
  readonly freedBytes?: number;
}

/** The built controller or agent, as a user starts it, with its log in a file. */
export class Program {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #logFile: string;

  constructor(args: readonly string[], logFile: string, env: Environment) {
    this.#name = args[0] ?? '';
    this.#logFile = logFile;
    const log = openSync(logFile, 'w');
    const noServers = ['--metrics-bind-address=0', '--health-probe-bind-address=0'];
    this.#child = spawn(process.execPath, [main, ...args, ...noServers], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
    closeSync(log);
  }

  /** Throws if it has exited: nothing that the demo waits for would happen. */
  get log(): readonly LogLine[] {
    if (this.#hasExited) throw new Error(`the ${this.#name} has exited`);
    return this.#lines()
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** For the person who asks why the demo failed. */
  get lastLines(): string {
    return `the last lines of the ${this.#name}:\n${this.#lines().slice(-10).join('\n')}`;
  }

  async stop(): Promise<void> {
    if (this.#hasExited) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Without the last line, which may be incomplete. */
  #lines(): string[] {
    return readFileSync(this.#logFile, 'utf8').split('\n').slice(0, -1);
  }
}

/** What the built `dustpan` prints. */
export async function dustpan(args: readonly string[], env: Environment): Promise<string> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(process.execPath, [main, ...args], options)).stdout;
}
