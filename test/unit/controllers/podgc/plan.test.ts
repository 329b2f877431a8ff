import { test } from 'vitest';
import type { Policy, TerminatedPolicy } from '../../../../src/api/policy/policy.ts';
import type { NodeFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import {
  finalizerHeld,
  labelled,
  minutesAgo,
  node,
  pod,
  policy,
  selectingAll,
  terminatedRule,
  terminating,
} from '../../../builders.ts';
import { keepLabel } from './environment.ts';
import { aged, checkRow, type Row, onMissingNode, orphaned, outOfServiceNode, terminated } from './rows.ts';

const orphan = (name: string, over: Partial<PodFacts> = {}): PodFacts =>
  pod(name, { ...onMissingNode, ...over });
const onOther = { nodeName: 'node-gone-2' } as const;
const nodesUpTo = (count: number): readonly NodeFacts[] =>
  Array.from({ length: count }, (_, i) => node(`node-${i + 1}`));
const ofX = { labels: { app: 'x' } } as const;
const stuck = (over: Partial<PodFacts> = {}): PodFacts =>
  pod('a', { phase: 'Running', ...terminating, ...over });
const finishedOrOrphaned = (
  rule: Parameters<typeof terminatedRule>[0],
  quarantineMs: number,
  maxOrphanedNodesPercent = 100,
): Policy =>
  policy({
    pods: { ...orphaned(quarantineMs, maxOrphanedNodesPercent).pods, terminated: terminatedRule(rule) },
  });
const outOfService = policy({ pods: { outOfService: true } });

const ofNodes: readonly Row[] = [
  {
    name: 'deletes an orphan after the quarantine, marked as failed unless it has finished',
    pods: [
      ...[orphan('running', finalizerHeld), orphan('done', { phase: 'Failed' })],
      pod('here', { phase: 'Running' }),
    ],
    policies: [orphaned()],
    deleted: ['done Orphaned', 'running Orphaned mark'],
    kept: ['here NotTerminated'],
  },
  ...[
    { ms: 39_999, deleted: [], kept: ['a Quarantined 12:00:00'] },
    { ms: 40_000, deleted: ['a Orphaned mark'], kept: [] },
    { ms: 0, deleted: [], kept: ['a Quarantined 12:00:40'] },
  ].map(({ ms, ...expected }) => ({
    name: `a node missing for ${ms} ms, with a quarantine of 40 s`,
    pods: [orphan('a')],
    missingForMs: new Map([['node-gone', ms]]),
    policies: [orphaned()],
    ...expected,
  })),
  ...[
    { of: 'default', ms: 10_000, deleted: [], kept: ['a Quarantined 12:00:30'] },
    { of: 'default', ms: 40_000, deleted: ['a Orphaned mark'], kept: [] },
    { of: 'other', ms: 40_000, deleted: [], kept: ['a Quarantined 12:00:40'] },
  ].map(({ of, ms, ...expected }) => ({
    name: `the circuit breaker of policy ${of} has been closed for ${ms} ms, with a quarantine of 40 s`,
    pods: [orphan('a')],
    closedForMs: new Map([[of, ms]]),
    policies: [orphaned()],
    ...expected,
  })),
  ...[
    { of: 'default', ms: 39_999, percent: 20, deleted: [], kept: ['a Tripped'] },
    { of: 'default', ms: 40_000, percent: 20, deleted: ['a Orphaned mark'], kept: [] },
    { of: 'default', ms: 0, percent: 100, deleted: ['a Orphaned mark'], kept: [] },
    { of: 'other', ms: 0, percent: 20, deleted: ['a Orphaned mark'], kept: [] },
  ].map(({ of, ms, percent, ...expected }) => ({
    name: `${ms} ms ago a controller has started and found the circuit breaker of policy ${of} open, with a limit of ${percent} %`,
    pods: [orphan('a')],
    nodes: nodesUpTo(9),
    leftOpenForMs: new Map([[of, ms]]),
    policies: [orphaned(40_000, percent)],
    ...expected,
  })),
  ...[
    { name: 'keeps all orphans above the percentage of missing nodes', over: {}, seen: [], isOpen: true },
    {
      name: 'deletes orphans on invented nodes, which do not open the circuit breaker',
      over: { nodeExisted: false },
      seen: [],
      isOpen: false,
    },
    {
      name: 'counts a missing node that an earlier pass has seen',
      over: { nodeExisted: false },
      seen: ['node-gone', 'node-gone-2'],
      isOpen: true,
    },
  ].map(({ name, over, seen, isOpen }) => ({
    name,
    pods: [orphan('a', over), orphan('b', { ...over, ...onOther })],
    nodes: nodesUpTo(7),
    seenNodes: new Set(seen),
    policies: [orphaned(40_000, 20)],
    deleted: isOpen ? [] : ['a Orphaned mark', 'b Orphaned mark'],
    kept: isOpen ? ['a Tripped', 'b Tripped'] : [],
  })),
  {
    name: 'counts no missing node for pods that only wait for their finalizers',
    pods: [orphan('a'), orphan('held', { phase: 'Failed', ...finalizerHeld, ...onOther })],
    nodes: nodesUpTo(4),
    seenNodes: new Set(['node-gone-2']),
    policies: [orphaned(40_000, 20)],
    deleted: ['a Orphaned mark'],
    kept: ['held FinalizerHeld'],
  },
  {
    name: 'keeps all orphans while no Node exists, whatever names pods refer to',
    pods: [orphan('a', { nodeExisted: false })],
    nodes: [],
    policies: [orphaned(40_000, 20)],
    deleted: [],
    kept: ['a Tripped'],
  },
  ...[
    { percent: 20, missing: 1, existing: 1, isOpen: false },
    { percent: 20, missing: 2, existing: 7, isOpen: true },
    { percent: 20, missing: 2, existing: 8, isOpen: false },
    { percent: 1, missing: 1, existing: 9, isOpen: false },
    { percent: 99, missing: 1, existing: 0, isOpen: true },
    { percent: 0, missing: 1, existing: 9, isOpen: true },
    { percent: 100, missing: 2, existing: 0, isOpen: false },
  ].map(({ percent, missing, existing, isOpen }) => {
    const names = Array.from({ length: missing }, (_, i) => `p${i}`);
    return {
      name: `${missing} of ${missing + existing} nodes are missing, with a limit of ${percent} percent`,
      pods: names.map((name) => orphan(name, { nodeName: `gone-${name}` })),
      nodes: nodesUpTo(existing),
      policies: [orphaned(40_000, percent)],
      deleted: isOpen ? [] : names.map((name) => `${name} Orphaned mark`),
      kept: isOpen ? names.map((name) => `${name} Tripped`) : [],
    };
  }),
  ...[
    { ttlMs: 600_000, quarantineMs: 7_200_000, expected: 'a TooYoung 12:05:00' },
    { ttlMs: 7_200_000, quarantineMs: 3_960_000, expected: 'a Quarantined 12:06:00' },
    { ttlMs: 600_000, percent: 20, expected: 'a TooYoung 12:05:00' },
    { ttlMs: undefined, percent: 20, expected: 'a Tripped' },
  ].map(({ ttlMs, quarantineMs = 0, percent, expected }) => ({
    name: `a finished orphan waits for what comes first: ${expected}`,
    pods: [orphan('a', { phase: 'Failed', finishedAtMs: minutesAgo(5) })],
    nodes: percent === undefined ? nodesUpTo(1) : [],
    policies: [finishedOrOrphaned({ ttlAfterFinishedMs: ttlMs }, quarantineMs, percent)],
    deleted: [],
    kept: [expected],
  })),
  {
    name: 'the orphan rule deletes a finished pod that the terminated rule keeps, so the quarantine is what it waits for',
    pods: [
      orphan('a', {
        ...{ phase: 'Failed', finishedAtMs: minutesAgo(5) },
        finalizers: ['batch.kubernetes.io/job-tracking'],
      }),
    ],
    policies: [finishedOrOrphaned({ ttlAfterFinishedMs: 600_000 }, 7_200_000)],
    deleted: [],
    kept: ['a Quarantined 13:00:00'],
  },
  {
    name: 'out of service: deletes terminating pods on a node that is tainted and not ready',
    pods: [stuck(), pod('b', { phase: 'Running' })],
    nodes: [outOfServiceNode],
    policies: [outOfService],
    deleted: ['a OutOfService mark'],
    kept: ['b NotTerminated'],
  },
  ...[
    { name: 'ready node with the taint', one: { ...outOfServiceNode, ready: true } },
    { name: 'node without the taint that is not ready', one: node('node-1', { ready: false }) },
  ].map(({ name, one }) => ({
    name: `out of service: keeps the pods of a ${name}`,
    pods: [stuck()],
    nodes: [one],
    policies: [outOfService],
    deleted: [],
  })),
  {
    name: 'unscheduled: deletes terminating pods that were never bound to a node',
    pods: [
      stuck({ phase: 'Pending', nodeName: undefined }),
      pod('b', { phase: 'Pending', nodeName: undefined }),
      pod('c', { phase: 'Pending', ...terminating }),
    ],
    policies: [policy({ pods: { unscheduledTerminating: true } })],
    deleted: ['a Unscheduled mark'],
    kept: ['b NotTerminated', 'c NotTerminated'],
  },
  {
    name: 'counts missing nodes over all policies: many small ones share one cluster',
    pods: [orphan('a', ofX), orphan('b', onOther)],
    nodes: nodesUpTo(4),
    policies: [
      orphaned(40_000, 20),
      policy({
        ...{ name: 'high', priority: 5 },
        pods: { ...orphaned(0, 20).pods, podSelector: labelled('app', 'x') },
      }),
    ],
    deleted: [],
    kept: ['a Tripped', 'b Tripped'],
  },
];

const expired = terminatedRule({ ttlAfterFinishedMs: 0 });
const expire = policy({ pods: { terminated: expired } });
/** Governs the pods of app x. */
const high = (rule: TerminatedPolicy): Policy =>
  policy({ name: 'high', priority: 5, pods: { podSelector: labelled('app', 'x'), terminated: rule } });
const invalid = (priority: number | undefined) => ({
  ...{ name: 'broken', uid: 'u', generation: 1, priority, problems: ['spec: must be an object'] },
  ...selectingAll,
});
/** A namespace and a node with the keep label. */
const kept = {
  namespaces: new Map<string, Record<string, string>>([
    ['default', {}],
    ['kept-ns', keepLabel],
  ]),
  nodes: [node('node-1'), node('node-kept', { labels: keepLabel })],
};

const rules: readonly Row[] = [
  {
    name: 'one decision per pod, by the first rule; in the order of the rules',
    pods: [
      pod('unscheduled', { phase: 'Pending', ...terminating, nodeName: undefined }),
      pod('orphan', { ...onMissingNode, phase: 'Running' }),
      pod('service', { phase: 'Running', ...terminating }),
      aged('finished-orphan', 99, { nodeName: 'node-gone' }),
    ],
    nodes: [outOfServiceNode],
    policies: [
      policy({
        pods: {
          ...{ terminated: expired, orphaned: { quarantineMs: 0 } },
          ...{ outOfService: true, unscheduledTerminating: true },
        },
      }),
    ],
    deleted: [
      ...['finished-orphan Expired', 'service OutOfService mark', 'orphan Orphaned mark'],
      'unscheduled Unscheduled mark',
    ],
  },
  {
    name: 'maxDeletesPerPass limits the deletions',
    pods: [aged('a', 9), aged('b', 8), aged('c', 7)],
    policies: [
      policy({
        pods: { terminated: expired, safety: { maxDeletesPerPass: 2, maxOrphanedNodesPercent: 20 } },
      }),
    ],
    deleted: ['a Expired', 'b Expired'],
    kept: ['c PacingLimit'],
  },
  {
    name: 'the keep label on pod, namespace or node keeps a pod, and no threshold counts it',
    pods: [
      ...[aged('pod', 9, { labels: keepLabel }), aged('kept-ns/ns', 8)],
      aged('node', 7, { nodeName: 'node-kept' }),
      aged('other', 6, { labels: { 'gc.dustpan.dev/keep': 'false' } }),
    ],
    ...kept,
    policies: [terminated({ threshold: 1 })],
    deleted: [],
    kept: ['pod KeepMarked', 'ns KeepMarked', 'node KeepMarked', 'other UnderThreshold'],
  },
  {
    name: 'the policy of higher priority governs, and a threshold counts only the pods of its policy',
    pods: [aged('a', 9, ofX), aged('b', 8, ofX), aged('c', 7), aged('d', 6)],
    policies: [terminated({ threshold: 1 }), high(terminatedRule({ threshold: 2 }))],
    deleted: ['c Terminated'],
    kept: ['a UnderThreshold', 'b UnderThreshold', 'd UnderThreshold'],
  },
  {
    name: 'the pods of two policies are deleted in one order',
    pods: [aged('a', 9, ofX), aged('b', 8), aged('c', 7, ofX)],
    policies: [expire, high(expired)],
    deleted: ['a Expired', 'b Expired', 'c Expired'],
  },
  {
    name: 'an invalid policy without a priority keeps all pods',
    pods: [aged('a', 9)],
    policies: [expire, invalid(undefined)],
    deleted: [],
    kept: ['a InvalidPolicy'],
  },
];

test.each([...rules, ...ofNodes])('$name', checkRow);
