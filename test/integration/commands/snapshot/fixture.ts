import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentEnvironment } from '../../agent/environment.ts';
import type { PlanDocument } from '../../../../src/commands/plan/document.ts';
import type { Built } from '../../built.ts';

/** A value that no snapshot may contain. */
export const secret = 'hunter2';

export const files = (names: readonly string[]): string[] => names.map((name) => `${name}.json`);

/** The plan without the values of this machine's disk, which other processes write to. */
export const withoutDisk = (plan: PlanDocument): PlanDocument => ({
  ...plan,
  summary: plan.summary.map((one) => ({ ...one, wantedBytes: 0, usedPercent: 0 })),
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A node and its cluster, of which snapshots are taken. */
export class SnapshotFixture extends AgentEnvironment {
  readonly directory = this.path('snapshot');
  readonly #main: string;

  constructor(built: Pick<Built, 'main'>) {
    super(built);
    this.#main = built.main;
  }

  argv(...args: readonly string[]): string[] {
    return [this.#main, 'snapshot', this.directory, `--kubeconfig=${this.api.kubeconfigFile}`, ...args];
  }

  snapshot(...args: readonly string[]): Promise<Ran> {
    const options = { env: { PATH: process.env['PATH'] }, cwd: this.root };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, this.argv(...args), options, (_err, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      });
    });
  }

  text(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8');
  }

  json(file: string): unknown {
    return JSON.parse(this.text(file));
  }
}
