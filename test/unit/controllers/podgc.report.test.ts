import { expect, test } from 'vitest';
import type { PodDeletion, PodGcPlan } from '../../../src/controllers/podgc/facts.ts';
import { podGcMetrics, showPlan } from '../../../src/controllers/podgc/metrics.ts';
import { passReports, takeCensus } from '../../../src/controllers/podgc/report.ts';
import { Registry } from 'prom-client';
import { pod, policy } from '../../builders.ts';

const first = policy({ name: 'first', uid: 'u1' });
const second = policy({ name: 'second', uid: 'u2', mode: 'DryRun' });

const deletion = (of: typeof first, reason: PodDeletion['reason'] = 'Terminated'): PodDeletion => ({
  ...{ verdict: 'Delete', pod: pod('a'), policy: of, reason, markFailed: false },
});

const verdicts = { governed: 9, terminated: 8, due: 7, missingNodes: 0, trippedPercent: undefined };
const plan: PodGcPlan = {
  deletions: [deletion(first), deletion(second), deletion(first, 'Orphaned'), deletion(first)],
  policies: [first, second].map((one) => ({ policy: one, ...verdicts })),
  eachKept: () => undefined,
  kept: () => [],
  finished: () => undefined,
};

test('what was done is told to the policy whose it was', () => {
  const reports = passReports(plan, takeCensus(plan), {
    deleted: [deletion(first), deletion(second), deletion(first)],
    failed: [deletion(second), deletion(second)],
    clockUnsure: [deletion(first)],
    at: new Date(0),
  });
  expect(
    [...reports].map(([uid, { deleted, failed, clockUnsure }]) => [uid, deleted, failed, clockUnsure]),
  ).toEqual([
    ['u1', 2, 0, 1],
    ['u2', 1, 2, 0],
  ]);
});

test('what is due is shown by reason and mode', async () => {
  const registry = new Registry();
  showPlan(podGcMetrics(registry), plan, takeCensus(plan));
  const due = (await registry.metrics())
    .split('\n')
    .filter((line) => /^dustpan_pod_gc_due_pods.* [1-9]/.test(line));
  expect(due).toEqual([
    'dustpan_pod_gc_due_pods{reason="Terminated",mode="DryRun"} 1',
    'dustpan_pod_gc_due_pods{reason="Terminated",mode="Enforce"} 2',
    'dustpan_pod_gc_due_pods{reason="Orphaned",mode="Enforce"} 1',
  ]);
});
