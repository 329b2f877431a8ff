import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { PlanDocument } from '../../../../src/evaluation/plan/document.ts';
import { ran } from '../../../fakes/command-line.ts';
import { startCriSandbox, type CriSandbox } from '../../../sandbox/cri/server.ts';

export { policyManifest as policy } from '../../../manifests.ts';

export const examples = join(process.cwd(), 'test', 'data', 'examples');

/** Runs the command in this process. */
export async function dustpan(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { code, out, err } = await ran(args, { env });
  return { code, stdout: out, stderr: err };
}

/** The plan as `-o json` prints it; throws the text of standard error after a failure. */
export async function planned(args: readonly string[]): Promise<PlanDocument> {
  const { code, stdout, stderr } = await dustpan(['plan', ...args, '-o', 'json']);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as PlanDocument;
}

/** A folder with the input of a plan: an empty one for each test, or a copy of this example. */
export function inputOfEachTest(example?: string): InputFolder {
  const input = new InputFolder();
  beforeEach(() => input.use(example));
  afterEach(() => input.remove());
  return input;
}

class InputFolder {
  #root = '';

  /** Starts with a copy of an example, or with an empty snapshot. */
  use(example?: string): void {
    this.remove();
    this.#root = mkdtempSync(join(tmpdir(), 'dustpan-plan-'));
    if (example !== undefined) cpSync(join(examples, example), this.#root, { recursive: true });
    mkdirSync(this.path('snapshot'), { recursive: true });
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  write(name: string, content: unknown): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), typeof content === 'string' ? content : JSON.stringify(content));
  }

  drop(name: string): void {
    rmSync(this.path(name), { recursive: true });
  }

  /** The flags that the README of the example has. */
  get args(): string[] {
    return [
      `--policy=${this.path('policy.json')}`,
      `--snapshot=${this.path('snapshot')}`,
      '--now=2026-01-15T12:00:00Z',
    ];
  }

  /** Starts a container runtime with the directories of its node. */
  startCri(): Promise<CriSandbox> {
    for (const name of ['pods', 'containers', 'images', 'state']) mkdirSync(this.path(name));
    return startCriSandbox({
      socket: this.path('cri.sock'),
      logs: { pods: this.path('pods'), containers: this.path('containers') },
      mountpoint: this.path('images'),
    });
  }

  /** The flags with which a command reads that node. */
  get nodeFlags(): string[] {
    return [
      '--node-name=node-1',
      `--cri-socket=${this.path('cri.sock')}`,
      `--state-dir=${this.path('state')}`,
      `--pod-logs-dir=${this.path('pods')}`,
      `--container-logs-dir=${this.path('containers')}`,
    ];
  }

  remove(): void {
    if (this.#root !== '') rmSync(this.#root, { recursive: true, force: true });
    this.#root = '';
  }
}

export const list = (kind: string, items: readonly object[]): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items: items.map((item) => ({ kind, ...item })),
});
