import { describe, expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  EvictionMemory,
  RequestingNode,
} from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { planEvictions } from '../../../../src/controllers/eviction/plan.ts';
import {
  labelled,
  minutesAgo,
  node,
  nodesRules,
  now,
  pod,
  policy,
  selectingAll,
  terminating,
} from '../../../builders.ts';
import {
  evictionRequest,
  byUid,
  evictedAt0,
  evictPolicy,
  excluding,
  facts,
  keepLabel,
  mebibyte,
  namespace,
  pressurePolicy,
  pressureRequest,
  reportOf,
  running,
} from './builders.ts';

type Policies = readonly (Policy | InvalidPolicy)[];
const planned = (over: Partial<EvictionFacts>, policies: Policies = [pressurePolicy()]) =>
  planEvictions(facts(over), { policies, now, monotonicMs: 1_000 });
const verdictOf = (one: EvictionDecision): string =>
  `${one.target.name} ${one.verdict === 'Evict' ? 'Evict' : one.reason}`;
const verdicts = (...given: Parameters<typeof planned>): string[] => planned(...given).map(verdictOf);

const invalid: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 1,
  priority: 100,
  problems: ['spec.nodes: nonsense'],
  ...selectingAll,
};
const noRule = policy({ pods: undefined, nodes: nodesRules() });
const dryRun = { mode: 'DryRun' } as const;
const podIs = (over: Parameters<typeof pod>[1]) => ({
  pods: byUid(pod('a', { ...running, uid: 'uid-a', ...over })),
});
const nodeIs = (labels: Record<string, string>) => ({
  nodes: new Map([['node-1', node('node-1', { labels })]]),
});
const namespaceIs = (labels: Record<string, string>) => ({
  namespaces: new Map([['default', namespace('default', labels)]]),
});
const remembering = (over: Partial<EvictionMemory>) => ({ memory: { ...noMemory, ...over } });
const deferred = (reason: 'BudgetBlocked' | 'EvictionFailed', untilMs: number) =>
  remembering({ deferred: new Map([['uid-a', { reason, tries: 1, untilMs }]]) });

interface Given {
  readonly over?: Partial<EvictionFacts>;
  readonly request?: { readonly observedAtMs: number };
  readonly report?: Partial<RequestingNode>;
  readonly by?: Policies;
}

describe.each([
  { cause: 'a limit', requestOf: evictionRequest },
  { cause: 'node pressure', requestOf: pressureRequest },
])('a pod that its node requests for $cause', ({ requestOf }) => {
  test.each<[name: string, expected: string, given?: Given]>([
    ['nothing prevents it', 'Evict'],
    ['the node is not known', 'NodeUnknown', { over: { nodes: new Map() } }],
    ['the node has the keep label', 'KeepMarked', { over: nodeIs(keepLabel) }],
    ['the policy excludes its namespace', 'NamespaceExcluded', { by: [excluding('default')] }],
    ['the policy excludes it by a glob', 'NamespaceExcluded', { by: [excluding('def*')] }],
    ['the policy excludes another namespace', 'Evict', { by: [excluding('other')] }],
    ['no policy has rules for nodes', 'PolicyChanged', { by: [policy({ pods: {} })] }],
    ['the policy has no such rule', 'PolicyChanged', { by: [noRule] }],
    ['the policy is in DryRun', 'PolicyChanged', { by: [pressurePolicy({}, dryRun)] }],
    [
      'the policy selects other nodes',
      'PolicyChanged',
      { by: [pressurePolicy({}, { selector: labelled('pool', 'batch') })] },
    ],
    ['an invalid policy may govern the node', 'PolicyChanged', { by: [invalid, pressurePolicy()] }],
    [
      'a policy in DryRun ranks higher',
      'PolicyChanged',
      { by: [pressurePolicy({}, { name: 'a', priority: 9, ...dryRun }), pressurePolicy()] },
    ],
    ['the agent applied another policy', 'PolicyChanged', { report: { policyUid: 'other' } }],
    ['the agent applied an older generation', 'PolicyChanged', { report: { policyGeneration: 0 } }],
    ['the pod does not exist', 'PodGone', { over: { pods: new Map() } }],
    ['a namesake has another UID', 'PodGone', { over: podIs({ uid: 'another' }) }],
    ['the UID is of a pod of another name', 'PodMoved', { over: podIs({ name: 'b' }) }],
    ['the UID is of another namespace', 'PodMoved', { over: podIs({ namespace: 'other' }) }],
    ['the pod is on another node', 'PodMoved', { over: podIs({ nodeName: 'node-2' }) }],
    ['the pod is on no node', 'PodMoved', { over: podIs({ nodeName: undefined }) }],
    ['the namespace is not known', 'NamespaceUnknown', { over: { namespaces: new Map() } }],
    ['the namespace has the keep label', 'KeepMarked', { over: namespaceIs(keepLabel) }],
    ['the pod has the keep label', 'KeepMarked', { over: podIs({ labels: keepLabel }) }],
    ['the keep label is false', 'Evict', { over: podIs({ labels: { 'gc.dustpan.dev/keep': 'false' } }) }],
    ['the pod was found critical', 'CriticalPod', { over: remembering({ critical: new Set(['uid-a']) }) }],
    ['the pod is being deleted', 'Terminating', { over: podIs(terminating) }],
    ['it was evicted a moment ago', 'Terminating', { over: remembering({ evicted: evictedAt0('uid-a') }) }],
    ['the pod has succeeded', 'Finished', { over: podIs({ phase: 'Succeeded' }) }],
    ['the pod has failed', 'Finished', { over: podIs({ phase: 'Failed' }) }],
    ['the pod is pending', 'Evict', { over: podIs({ phase: 'Pending' }) }],
    ['its measurement is 6 min old', 'Evict', { request: { observedAtMs: minutesAgo(6) } }],
    ['its measurement is older than 6 min', 'RequestStale', { request: { observedAtMs: minutesAgo(6) - 1 } }],
    ['its measurement is a minute ahead', 'Evict', { request: { observedAtMs: minutesAgo(-1) } }],
    ['its measurement is from the future', 'RequestStale', { request: { observedAtMs: minutesAgo(-1) + 1 } }],
    ['the pause after a block continues', 'BudgetBlocked', { over: deferred('BudgetBlocked', 1_001) }],
    ['the pause after a block has ended', 'Evict', { over: deferred('BudgetBlocked', 1_000) }],
    ['the pause after a failure continues', 'EvictionFailed', { over: deferred('EvictionFailed', 1_001) }],
  ])('%s: %s', (_, expected, { over, request, report, by } = {}) => {
    const reports = [{ ...reportOf('node-1', requestOf('a', request)), ...report }];
    expect(verdicts({ reports, ...over }, by)).toEqual([`a ${expected}`]);
  });
});

const requesting = (...requests: Parameters<typeof evictionRequest>[1][]): Partial<EvictionFacts> => ({
  reports: [reportOf('node-1', ...requests.map((over) => evictionRequest('a', over)))],
});
const limit = 100 * mebibyte;

test.each([
  { name: 'exactly the limit', request: { observedBytes: limit }, expected: 'PolicyChanged' },
  { name: 'a byte more', request: { observedBytes: limit + 1 }, expected: 'Evict' },
  { name: 'anything of a limit of 0', request: { limitBytes: 0, observedBytes: 1 }, expected: 'Evict' },
  { name: '91 % of 90 %', request: { observedBytes: 91 * mebibyte }, percent: 90, expected: 'Evict' },
  { name: '90 % of 90 %', request: { observedBytes: 90 * mebibyte }, percent: 90, expected: 'PolicyChanged' },
])('a pod that uses $name: $expected', ({ request, percent = 100, expected }) => {
  expect(verdicts(requesting(request), [evictPolicy({ evictAtPercent: percent })])).toEqual([
    `a ${expected}`,
  ]);
});

test('a pod with two requests is evicted once, and the freshest of equal measurements counts', () => {
  const old = { observedAtMs: minutesAgo(6) - 1 };
  expect(verdicts(requesting(old, {}))).toEqual(['a Evict']);
  expect(verdicts(requesting({}, old))).toEqual(['a Evict']);
  const twice = requesting({ signal: 'ephemeralpodfs.limit', subject: undefined }, {});
  expect(verdicts(twice)).toEqual(['a Evict']);
});

test('the pod that exceeds its own limit most is first, then the first by UID', () => {
  const usedMb = { a: 110, d: 150, b: 300, c: 150 };
  const requests = Object.entries(usedMb).map(([name, used]) =>
    evictionRequest(name, { observedBytes: used * mebibyte }),
  );
  const small = evictionRequest('e', { observedBytes: 4 * mebibyte, limitBytes: mebibyte });
  const pods = byUid(...['a', 'b', 'c', 'd', 'e'].map((name) => pod(name, running)));
  const decided = verdicts({ reports: [reportOf('node-1', ...requests, small)], pods });
  expect(decided).toEqual(['e Evict', 'b Evict', 'c Evict', 'd Evict', 'a Evict']);
});
