import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Decision, PlanDocument } from '../../src/commands/plan/document.ts';

const main = 'dist/main.js';
type Environment = Readonly<Record<string, string>>;

/** The fields of a log line that the demo reads. */
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

/** The built controller or agent, as a user starts it, with its log in a file. */
export class Program {
  readonly #child: ChildProcess;
  readonly #component: string;
  readonly #logFile: string;

  constructor(args: readonly string[], logFile: string, env: Environment) {
    this.#component = args[0] ?? '';
    this.#logFile = logFile;
    const log = openSync(logFile, 'w');
    this.#child = spawn(process.execPath, [main, ...args], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
    closeSync(log);
  }

  get log(): readonly LogLine[] {
    return this.#lines()
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Throws if it has exited: nothing that the demo waits for would happen. */
  check(): void {
    if (this.#hasExited)
      throw new Error(`the ${this.#component} has exited, code ${this.#child.exitCode ?? 'none'}`);
  }

  lastLines(): string {
    return this.#lines().slice(-10).join('\n');
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

/** What the built `dustpan plan` prints now. */
export interface Plan {
  readonly due: readonly Decision[];
  readonly kept: readonly Decision[];
  readonly usedPercent: number | undefined;
}

/** Runs `dustpan plan` without waiting periods; with the environment of a node it plans that node, too. */
export async function plan(env: Environment): Promise<Plan> {
  const args = [main, 'plan', '--kept', '--assume-quarantine-elapsed', '-o', 'json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  const { decisions, summary } = JSON.parse(stdout) as PlanDocument;
  return {
    due: decisions.filter(({ verdict }) => verdict !== 'Keep'),
    kept: decisions.filter(({ verdict }) => verdict === 'Keep'),
    usedPercent: summary[0]?.usedPercent ?? undefined,
  };
}

/** The lines that the built `dustpan top` prints. */
export async function top(args: readonly string[], env: Environment): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'top', ...args], {
    env: { ...process.env, ...env },
  });
  return stdout.trimEnd().split('\n');
}

export const reasonsOf = (decisions: readonly Decision[]): string[] => decisions.map(({ reason }) => reason);
