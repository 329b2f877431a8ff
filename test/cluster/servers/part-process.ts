import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PartSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  /** Whether it serves now. */
  isReady(): Promise<boolean>;
}

/** One server of a cluster, which can be killed and restarted; its log continues in the same file. */
export class PartProcess {
  readonly #spec: PartSpec;
  #child: ChildProcess | undefined;

  constructor(spec: PartSpec) {
    this.#spec = spec;
  }

  /** A method, so that TypeScript does not narrow it. */
  #isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.#isRunning() ? this.#child?.pid : undefined;
  }

  /** Starts it and waits until it serves; if it does not, the error has the last lines of its log. */
  async start(timeoutMs: number): Promise<void> {
    if (this.#isRunning()) throw new Error(`${this.#spec.name} runs already`);
    this.#spawn();
    const deadline = Date.now() + timeoutMs;
    while (!(await this.#spec.isReady())) {
      if (!this.#isRunning()) throw await this.#failure('ended before it was ready');
      if (Date.now() > deadline) throw await this.#failure(`was not ready after ${timeoutMs} ms`);
      await sleep(50);
    }
  }

  #spawn(): void {
    const { command, args, cwd, logFile } = this.#spec;
    const env = { ...process.env, ...this.#spec.env };
    // A file, not a pipe: a full pipe would stop it. It dies with its parent, and receives no Ctrl-C.
    const log = openSync(logFile, 'a');
    const run = ['--pdeathsig', 'KILL', command, ...args];
    this.#child = spawn('setpriv', run, { cwd, env, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
  }

  async #failure(what: string): Promise<Error> {
    return new Error(`${this.#spec.name} ${what}; its last lines:\n${await this.logTail(20)}`);
  }

  /** Sends a signal; after one that ends or stops a process, waits for that. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (!child || !this.#isRunning()) return;
    const ended = endings.has(signal) ? once(child, 'exit') : undefined;
    child.kill(signal);
    await ended;
    while (signal === 'SIGSTOP' && this.#isRunning() && !isStopped(child.pid ?? 0)) await sleep(1);
  }

  async logTail(lines: number): Promise<string> {
    const log = await readFile(this.#spec.logFile, 'utf8').catch(() => '');
    return log.trimEnd().split('\n').slice(-lines).join('\n');
  }
}

/** A signal reaches the threads of a process one after the other. */
function isStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
    });
  } catch {
    return false; // a thread has ended
  }
}

const endings: ReadonlySet<NodeJS.Signals> = new Set<NodeJS.Signals>(['SIGKILL', 'SIGTERM', 'SIGINT']);
