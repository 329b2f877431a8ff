import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentEnvironment } from '../../agent/environment.ts';
import type { PlanDocument } from '../../../../src/evaluation/plan/document.ts';
import { built } from '../../built.ts';
import { dustpan } from '../plan/fixture.ts';

/** The plan without the values of this machine's disk, which other processes write to. */
export const withoutDisk = (plan: PlanDocument): PlanDocument => ({
  ...plan,
  summary: plan.summary.map((one) => ({ ...one, wantedBytes: 0, usedPercent: 0 })),
});

/** A node and its cluster, of which snapshots are taken. */
export class SnapshotFixture extends AgentEnvironment {
  readonly directory = this.path('snapshot');

  argv(...args: readonly string[]): string[] {
    return [built.main, 'snapshot', this.directory, `--kubeconfig=${this.api.kubeconfigFile}`, ...args];
  }

  /** Takes a snapshot in this process. */
  snapshot(...args: readonly string[]): ReturnType<typeof dustpan> {
    return dustpan(this.argv(...args).slice(1));
  }

  json(file: string): unknown {
    return JSON.parse(readFileSync(join(this.directory, file), 'utf8'));
  }
}
