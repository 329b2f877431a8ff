import { expect, test } from 'vitest';
import type { PodDeletion, PodGcPlan } from '../../../../src/controllers/podgc/facts.ts';
import { podGcMetrics, showPlan } from '../../../../src/controllers/podgc/metrics.ts';
import { passReports, takeCensus } from '../../../../src/controllers/podgc/report.ts';
import { Registry } from 'prom-client';
import { pod, policy } from '../../../builders.ts';

const first = policy({ name: 'first', uid: 'u1' });
const second = policy({ name: 'second', uid: 'u2', mode: 'DryRun' });
const ofNoPods = policy({ name: 'third', uid: 'u3' });

const deletion = (of: typeof first, reason: PodDeletion['reason'] = 'Terminated'): PodDeletion => ({
  ...{ unit: 'podgc', verdict: 'Delete', reason, policy: of, eligibleAt: undefined, bytes: undefined },
  target: {
    ...{ kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a', node: 'node-1' },
    ...{ pod: pod('a'), markFailed: false },
  },
  evidence: undefined,
});
const done = (of: typeof first) => ({ kind: 'done', decision: deletion(of), freedBytes: 0 }) as const;
const failed = (of: typeof first) => ({ kind: 'failed', decision: deletion(of), error: 'x' }) as const;
const kept = (of: typeof first, reason: 'ClockUnsure' | 'NodeExists') =>
  ({ kind: 'kept', decision: deletion(of), reason }) as const;

const verdicts = { governed: 9, terminated: 8, missingNodes: 0, trippedPercent: undefined };
const plan: PodGcPlan = {
  deletions: [deletion(first), deletion(second), deletion(first, 'Orphaned'), deletion(first)],
  policies: [first, second, ofNoPods].map((one) => ({ policy: one, ...verdicts })),
  kept: [],
};

test('the report of a policy has the outcomes of its own pods', () => {
  const reports = passReports(plan, takeCensus(plan), {
    outcomes: [
      ...[done(first), done(second), failed(second), done(first), failed(second)],
      ...[kept(first, 'ClockUnsure'), kept(first, 'NodeExists')],
    ],
    at: new Date(0),
  });
  expect(
    [...reports].map(([uid, { due, deleted, failed: bad, clockUnsure }]) => [
      ...[uid, due, deleted, bad, clockUnsure],
    ]),
  ).toEqual([
    ['u1', 3, 2, 0, 1],
    ['u2', 1, 1, 2, 0],
    ['u3', 0, 0, 0, 0],
  ]);
});

test('metrics have the due pods by reason and mode', async () => {
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
