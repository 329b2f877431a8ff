import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Node with these arguments, a minimal environment and its output. */
export class RunningProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | string>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] },
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#ended = once(this.#child, 'close').then(
      () => this.#child.exitCode ?? String(this.#child.signalCode),
    );
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Exit code, or the name of the signal that ended it. */
  async ended(): Promise<number | string> {
    return this.#ended;
  }

  async stop(): Promise<number | string> {
    if (this.isRunning) this.kill('SIGTERM');
    return this.#ended;
  }
}
