import { expect, test } from 'vitest';
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
import {
  aged,
  checkRow,
  type Row,
  onMissingNode,
  orphaned,
  outOfServiceNode,
  terminated,
  verdictOf,
} from './rows.ts';

const orphan = (name: string, over: Partial<PodFacts> = {}): PodFacts =>
  pod(name, { ...onMissingNode, ...over });
const onOther = { nodeName: 'node-gone-2' } as const;
const nodesUpTo = (count: number): readonly NodeFacts[] =>
  Array.from({ length: count }, (_, i) => node(`node-${i + 1}`));
const ofX = { labels: { app: 'x' } } as const;
const failed = { phase: 'Failed', finishedAtMs: minutesAgo(5) };
const uncounted = { ...failed, finalizers: ['batch.kubernetes.io/job-tracking'] };
/** A running pod of node-1 that is being deleted. */
const stuck = { ...terminating, nodeName: 'node-1' };
const unbound = { phase: 'Pending', nodeName: undefined };

const missingFor = (ms: number) => ({ missingForMs: new Map([['node-gone', ms]]) });
const closedFor = (ms: number, of = 'default') => ({ closedForMs: new Map([[of, ms]]) });
/** A controller has started so long ago, and found the circuit breaker open. */
const leftOpen = (ms: number, of = 'default') => ({
  ...{ nodes: nodesUpTo(9), leftOpenForMs: new Map([[of, ms]]) },
});
const limited = orphaned(40_000, 20);
const outOfService = policy({ pods: { outOfService: true } });
const unscheduled = policy({ pods: { unscheduledTerminating: true } });
const ofTeam = policy({
  pods: { unscheduledTerminating: true, namespaceSelector: labelled('team', 'x') },
});
const withTtl = (ttlAfterFinishedMs: number | undefined, ...rule: Parameters<typeof orphaned>): Policy =>
  policy({ pods: { ...orphaned(...rule).pods, terminated: terminatedRule({ ttlAfterFinishedMs }) } });
const is = (over: Partial<NodeFacts>) => ({ nodes: [{ ...outOfServiceNode, ...over }] });
type Given = Parameters<typeof verdictOf>[2];

/** The quarantine is 40 s. */
test.each<[name: string, expected: string, given: Given, by?: Policy, over?: Partial<PodFacts>]>([
  ['its node has been missing for less than 40 s', 'Quarantined 12:00:00', missingFor(39_999)],
  ['its node has been missing for 40 s', 'Orphaned mark', missingFor(40_000)],
  ['it is unknown for how long', 'Quarantined 12:00:40', { missingForMs: new Map([['another', 40_000]]) }],
  ['the circuit breaker has been closed for 10 s', 'Quarantined 12:00:30', closedFor(10_000)],
  ['the circuit breaker has been closed for 40 s', 'Orphaned mark', closedFor(40_000)],
  ['that of another policy has', 'Quarantined 12:00:40', closedFor(40_000, 'other')],
  ['it was left open less than 40 s ago', 'Tripped', leftOpen(39_999), limited],
  ['it was left open 40 s ago', 'Orphaned mark', leftOpen(40_000), limited],
  ['it was left open, and is switched off', 'Orphaned mark', leftOpen(0)],
  ['that of another policy was left open', 'Orphaned mark', leftOpen(0, 'other'), limited],
  ['no Node exists, whatever its name', 'Tripped', { nodes: [] }, limited, { nodeExisted: false }],
  ['its ttl ends first', 'TooYoung 12:05:00', {}, withTtl(600_000, 7_200_000), failed],
  ['its quarantine ends first', 'Quarantined 12:06:00', {}, withTtl(7_200_000, 3_960_000), failed],
  ['its ttl ends, the breaker is open', 'TooYoung 12:05:00', { nodes: [] }, withTtl(600_000, 0, 20), failed],
  ['it has no ttl, the breaker is open', 'Tripped', { nodes: [] }, withTtl(undefined, 0, 20), failed],
  ['its Job has not counted it', 'Quarantined 13:00:00', {}, withTtl(600_000, 7_200_000), uncounted],
  ['its node is out of service', 'OutOfService mark', is({}), outOfService, stuck],
  ['it is, and the pod is not terminating', 'NotTerminated', is({}), outOfService, { nodeName: 'node-1' }],
  ['its node has the taint, and is ready', 'NotTerminated', is({ ready: true }), outOfService, stuck],
  ['its node is not ready', 'NotTerminated', is({ taintKeys: [] }), outOfService, stuck],
  ['it was never bound, and is terminating', 'Unscheduled mark', {}, unscheduled, { ...stuck, ...unbound }],
  ['it was never bound', 'NotTerminated', {}, unscheduled, unbound],
  ['it is, and its namespace is unknown', 'NamespaceUnknown', { namespaces: new Map() }, ofTeam, stuck],
  ['it was bound, and is terminating', 'NotTerminated', {}, unscheduled, { ...stuck, phase: 'Pending' }],
])('the verdict about a pod, by its node: %s: %s', (_, expected, ...[given, by = orphaned(), over = {}]) => {
  expect(verdictOf(orphan('a', over), by, given)).toBe(expected);
});

const ofNodes: readonly Row[] = [
  {
    name: 'deletes orphans, marked as failed unless they have finished',
    pods: [
      ...[orphan('running', finalizerHeld), orphan('done', { phase: 'Failed' })],
      pod('here', { phase: 'Running' }),
    ],
    policies: [orphaned()],
    deleted: ['done Orphaned', 'running Orphaned mark'],
    kept: ['here NotTerminated'],
  },
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
const invalid = {
  ...{ name: 'broken', uid: 'u', generation: 1, priority: undefined, problems: ['spec: must be an object'] },
  ...selectingAll,
};
/** A namespace and a node with the keep label. */
const kept = {
  namespaces: new Map<string, Record<string, string>>([
    ['default', {}],
    ['kept-ns', keepLabel],
  ]),
  nodes: [node('node-1'), node('node-kept', { labels: keepLabel })],
};

/** A pod of each rule. */
const ofEachRule = {
  pods: [
    pod('unscheduled', { phase: 'Pending', ...terminating, nodeName: undefined }),
    pod('orphan', { ...onMissingNode, phase: 'Running' }),
    pod('service', { phase: 'Running', ...terminating }),
    aged('finished-orphan', 99, { nodeName: 'node-gone' }),
  ],
  nodes: [outOfServiceNode],
};
const allRules = (maxDeletesPerPass = 0): Policy =>
  policy({
    pods: {
      ...{ terminated: expired, orphaned: { quarantineMs: 0 } },
      ...{ outOfService: true, unscheduledTerminating: true },
      safety: { maxDeletesPerPass, maxOrphanedNodesPercent: 100 },
    },
  });

const rules: readonly Row[] = [
  {
    name: 'one decision per pod, by the first rule; in the order of the rules',
    ...ofEachRule,
    policies: [allRules()],
    deleted: [
      ...['finished-orphan Expired', 'service OutOfService mark', 'orphan Orphaned mark'],
      'unscheduled Unscheduled mark',
    ],
  },
  {
    name: 'if a policy limits a pass, the rules that restore service come first',
    ...ofEachRule,
    policies: [allRules(3)],
    deleted: ['service OutOfService mark', 'orphan Orphaned mark', 'unscheduled Unscheduled mark'],
    kept: ['finished-orphan PacingLimit'],
  },
  {
    name: 'so they do if a pass may end before its end for another reason',
    ...ofEachRule,
    isLimited: true,
    policies: [allRules()],
    deleted: [
      ...['service OutOfService mark', 'orphan Orphaned mark', 'unscheduled Unscheduled mark'],
      'finished-orphan Expired',
    ],
  },
  {
    name: 'so they do in the whole cluster if another policy has the limit',
    ...ofEachRule,
    policies: [
      allRules(),
      policy({
        ...{ name: 'high', priority: 5 },
        pods: {
          podSelector: labelled('app', 'x'),
          safety: { maxDeletesPerPass: 9, maxOrphanedNodesPercent: 20 },
        },
      }),
    ],
    deleted: [
      ...['service OutOfService mark', 'orphan Orphaned mark', 'unscheduled Unscheduled mark'],
      'finished-orphan Expired',
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
    policies: [expire, invalid],
    deleted: [],
    kept: ['a InvalidPolicy'],
  },
];

test.each([...rules, ...ofNodes])('$name', checkRow);
