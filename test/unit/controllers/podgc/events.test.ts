import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import {
  backlogCollected,
  CollectedByOwner,
  podsCollected,
  tripped,
} from '../../../../src/controllers/podgc/events.ts';
import type { PodDeletion, PodDue, PodGcPlan } from '../../../../src/controllers/podgc/facts.ts';
import { podGcReasons } from '../../../../src/controllers/podgc/metrics.ts';
import { showPlan, unitMetrics } from '../../../../src/gc/metrics.ts';
import { passReports, countPlan } from '../../../../src/controllers/podgc/report.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import type { PodKeepReason } from '../../../../src/api/reasons.ts';
import { countByPolicy } from '../../../../src/gc/summary.ts';
import type { EventSpec } from '../../../../src/kube/events/recorder.ts';
import { bounded, bounds } from '../../../../src/runtime/bounds.ts';
import { owner, pod, policy } from '../../../builders.ts';

const governing = policy();
const deletion = (name: string, over: Parameters<typeof pod>[1] = {}) => ({
  ...{ reason: 'Expired' as const, target: { pod: pod(name, over) }, policy: governing },
});

function eventsOf(deletions: readonly ReturnType<typeof deletion>[]): EventSpec[] {
  const collected = new CollectedByOwner(new Map());
  for (const one of deletions) collected.add(one);
  return [...collected.groups()].map(podsCollected);
}

test.each([
  { name: 'the pod, if it has no owner', controller: undefined, on: 'Pod default/a' },
  { name: 'its owner', controller: owner('Job', 'j'), on: 'Job default/j' },
  {
    name: 'the pod, if the name of its owner is too long to exist',
    controller: { ...owner('Job', 'j'), name: bounded('j'.repeat(1_400_000), bounds.name) },
    on: 'Pod default/a',
  },
  {
    name: 'the Node of a mirror pod, without a namespace',
    controller: { ...owner('Node', 'n'), apiVersion: 'v1' },
    on: 'Node -/n',
  },
  {
    name: 'an owner of a kind Node of another group, in the namespace of the pod',
    controller: { ...owner('Node', 'n'), apiVersion: 'mesh.example.com/v1' },
    on: 'Node default/n',
  },
])('the Event of a deletion is about $name', ({ controller, on }) => {
  const [event] = eventsOf([deletion('a', { controller })]);
  const { kind, namespace = '-', name } = event?.regarding ?? { kind: '', name: '' };
  expect(`${kind} ${namespace}/${name}`).toBe(on);
  expect(event?.note).toBe('Deleted 1 pod (Expired, policy default): a');
});

test('owners with one UID in two namespaces get one Event each', () => {
  const deletions = ['shop/a', 'tenant/b'].map((name) => deletion(name, { controller: owner('Job', 'j') }));
  expect(eventsOf(deletions).map(({ regarding, note }) => [regarding.namespace, note])).toEqual([
    ['shop', 'Deleted 1 pod (Expired, policy default): a'],
    ['tenant', 'Deleted 1 pod (Expired, policy default): b'],
  ]);
});

test('a note lists five pods and counts the others', () => {
  const deletions = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) =>
    deletion(name, { controller: owner('Job', 'j') }),
  );
  expect(eventsOf(deletions).map(({ note }) => note)).toEqual([
    'Deleted 7 pods (Expired, policy default): a, b, c, d, e and 2 more',
  ]);
});

test('with more than a hundred Events a pass is a backlog, with a summary per policy', () => {
  const collected = new CollectedByOwner(new Map());
  const ofOthers = {
    ...deletion('b', { controller: owner('Job', 'j') }),
    policy: policy({ name: 'others' }),
  };
  const hundred = [...Array.from({ length: 99 }, (_, i) => deletion(`a${i}`)), ofOthers, ofOthers, ofOthers];
  for (const one of hundred) collected.add(one);
  expect(collected.isBacklog).toBe(false);
  const all = [...hundred, deletion('one-more')];
  collected.add(deletion('one-more'));
  expect(collected.isBacklog).toBe(true);
  const notes = [...countByPolicy(all)].map(([of, pods]) => backlogCollected(of, pods).note.split(';')[0]);
  expect(notes).toEqual(['Deleted 100 pods in one pass', 'Deleted 3 pods in one pass']);
});

test('the Event of the circuit breaker has the number of missing nodes and the limit', () => {
  const safety = { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 };
  expect(tripped({ policy: policy({ pods: { safety } }), missingNodes: 3, percent: 42.8 }).note).toBe(
    'Nodes missing: 3, 43 % of all; above 20 % (safety.maxOrphanedNodesPercent) dustpan deletes no orphaned pod',
  );
});

const first = policy({ name: 'first', uid: 'u1' });
const second = policy({ name: 'second', uid: 'u2', mode: 'DryRun' });
const ofNoPods = policy({ name: 'third', uid: 'u3' });

const planned = (of: Policy, due: PodDue = { reason: 'Terminated' }): PodDeletion => ({
  ...due,
  ...{ unit: 'podgc', verdict: 'Delete', policy: of, eligibleAt: undefined, bytes: undefined },
  target: {
    ...{ kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a', node: 'node-1' },
    ...{ pod: pod('a'), markFailed: false },
  },
});
const gone = (of: Policy) => ({ kind: 'gone', decision: planned(of) }) as const;
const done = (of: Policy) => ({ kind: 'done', decision: planned(of), freedBytes: 0 }) as const;
const failed = (of: Policy) => ({ kind: 'failed', decision: planned(of), error: 'x' }) as const;
const kept = (of: Policy, reason: PodKeepReason) =>
  ({ kind: 'kept', decision: planned(of), reason }) as const;

const verdicts = {
  ...{ governed: 9, terminated: 8, missingNodes: 0, trippedPercent: undefined, isLeftOpen: false },
  ...{ overall: undefined, byNamespace: new Map() },
  ...{ selected: 3, holdLeftMs: undefined, holdForMs: 300_000 },
};
const plan: PodGcPlan = {
  deletions: [
    planned(first),
    planned(second),
    planned(first, { reason: 'Orphaned', isAssumed: false }),
    planned(first),
  ],
  policies: [first, second, ofNoPods].map((one) => ({ policy: one, ...verdicts })),
  kept: [],
  areNodesKnown: true,
};

test('the report of a policy has the outcomes of its own pods', () => {
  const reports = passReports(plan, countPlan(plan), {
    outcomes: [
      ...[done(first), done(second), failed(second), done(first), failed(second)],
      ...[kept(first, 'ClockUnsure'), kept(first, 'NodeExists')],
      ...[kept(second, 'NamespaceUnknown'), kept(second, 'NodeUnknown')],
    ],
    inForce: new Map(),
    at: new Date(0),
  });
  expect(
    [...reports].map(([uid, { due, deleted, failed: bad, clockUnsure, unverified }]) => [
      ...[uid, due, deleted, bad, clockUnsure, unverified],
    ]),
  ).toEqual([
    ['u1', 1, 2, 0, 1, 0],
    ['u2', 0, 1, 2, 0, 2],
    ['u3', 0, 0, 0, 0, 0],
  ]);
});

test('a pod that the pass removed, or that was gone, is neither due nor governed any more', () => {
  const reports = passReports(plan, countPlan(plan), {
    outcomes: [done(first), gone(first), failed(first), done(second)],
    inForce: new Map(),
    at: new Date(0),
  });
  expect(
    [...reports.values()].map(({ governed, terminated, due, deleted }) => [
      ...[governed, terminated, due, deleted],
    ]),
  ).toEqual([
    [7, 6, 1, 1],
    [8, 7, 0, 1],
    [9, 8, 0, 0],
  ]);
});

test('metrics have the due pods by reason and mode', async () => {
  const registry = new Registry();
  showPlan(unitMetrics(registry), 'podgc', podGcReasons, { due: plan.deletions, kept: plan.kept });
  const due = (await registry.metrics())
    .split('\n')
    .filter((line) => /^dustpan_due_objects.* [1-9]/.test(line));
  expect(due).toEqual([
    'dustpan_due_objects{unit="podgc",reason="Terminated",mode="DryRun"} 1',
    'dustpan_due_objects{unit="podgc",reason="Terminated",mode="Enforce"} 2',
    'dustpan_due_objects{unit="podgc",reason="Orphaned",mode="Enforce"} 1',
  ]);
});
