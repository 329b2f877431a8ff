import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Node with these arguments, a minimal environment and its output. */
export class RunningProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | string>;
  stdout = '';
  stderr = '';

  /** Without `uid`, as the user who runs the test. */
  constructor(args: readonly string[], uid?: number) {
    this.#child = spawn(process.execPath, [...asUser(uid), ...args], {
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

/** Node changes the user after its start: another user may not be able to run the Node of a checkout in a private directory. */
function asUser(uid: number | undefined): readonly string[] {
  if (uid === undefined) return [];
  const change = `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid})`;
  return [`--import=data:text/javascript,${encodeURIComponent(change)}`];
}
