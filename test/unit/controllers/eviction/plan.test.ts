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

interface Row {
  readonly name: string;
  readonly expected: string;
  readonly over?: Partial<EvictionFacts>;
  readonly request?: { readonly observedAtMs: number };
  readonly report?: Partial<RequestingNode>;
  readonly by?: Policies;
}

describe.each([
  { cause: 'a limit', requestOf: evictionRequest },
  { cause: 'node pressure', requestOf: pressureRequest },
])('a pod that its node requests for $cause', ({ requestOf }) => {
  test.each<Row>([
    { name: 'nothing prevents it', expected: 'Evict' },
    { name: 'the node is not known', over: { nodes: new Map() }, expected: 'NodeUnknown' },
    { name: 'the node has the keep label', over: nodeIs(keepLabel), expected: 'KeepMarked' },
    { name: 'the policy excludes its namespace', by: [excluding('default')], expected: 'NamespaceExcluded' },
    { name: 'the policy excludes it by a glob', by: [excluding('def*')], expected: 'NamespaceExcluded' },
    { name: 'the policy excludes another namespace', by: [excluding('other')], expected: 'Evict' },
    { name: 'no policy has rules for nodes', by: [policy({ pods: {} })], expected: 'PolicyChanged' },
    { name: 'the policy has no such rule', by: [noRule], expected: 'PolicyChanged' },
    { name: 'the policy is in DryRun', by: [pressurePolicy({}, dryRun)], expected: 'PolicyChanged' },
    {
      name: 'the policy selects other nodes',
      by: [pressurePolicy({}, { selector: labelled('pool', 'batch') })],
      expected: 'PolicyChanged',
    },
    {
      name: 'an invalid policy may govern the node',
      by: [invalid, pressurePolicy()],
      expected: 'PolicyChanged',
    },
    {
      name: 'a policy in DryRun ranks higher',
      by: [pressurePolicy({}, { name: 'a', priority: 9, ...dryRun }), pressurePolicy()],
      expected: 'PolicyChanged',
    },
    { name: 'the agent applied another policy', report: { policyUid: 'other' }, expected: 'PolicyChanged' },
    {
      name: 'the agent applied an older generation',
      report: { policyGeneration: 0 },
      expected: 'PolicyChanged',
    },
    { name: 'the pod does not exist', over: { pods: new Map() }, expected: 'PodGone' },
    { name: 'a namesake has another UID', over: podIs({ uid: 'another' }), expected: 'PodGone' },
    { name: 'the UID is of a pod of another name', over: podIs({ name: 'b' }), expected: 'PodMoved' },
    { name: 'the UID is of another namespace', over: podIs({ namespace: 'other' }), expected: 'PodMoved' },
    { name: 'the pod is on another node', over: podIs({ nodeName: 'node-2' }), expected: 'PodMoved' },
    { name: 'the pod is on no node', over: podIs({ nodeName: undefined }), expected: 'PodMoved' },
    { name: 'the namespace is not known', over: { namespaces: new Map() }, expected: 'NamespaceUnknown' },
    { name: 'the namespace has the keep label', over: namespaceIs(keepLabel), expected: 'KeepMarked' },
    { name: 'the pod has the keep label', over: podIs({ labels: keepLabel }), expected: 'KeepMarked' },
    {
      name: 'the keep label is false',
      over: podIs({ labels: { 'gc.dustpan.dev/keep': 'false' } }),
      expected: 'Evict',
    },
    {
      name: 'the pod was found critical',
      over: remembering({ critical: new Set(['uid-a']) }),
      expected: 'CriticalPod',
    },
    { name: 'the pod is being deleted', over: podIs(terminating), expected: 'Terminating' },
    {
      name: 'it was evicted a moment ago',
      over: remembering({ evicted: evictedAt0('uid-a') }),
      expected: 'Terminating',
    },
    { name: 'the pod has succeeded', over: podIs({ phase: 'Succeeded' }), expected: 'Finished' },
    { name: 'the pod has failed', over: podIs({ phase: 'Failed' }), expected: 'Finished' },
    { name: 'the pod is pending', over: podIs({ phase: 'Pending' }), expected: 'Evict' },
    { name: 'its measurement is 6 min old', request: { observedAtMs: minutesAgo(6) }, expected: 'Evict' },
    {
      name: 'its measurement is older than 6 min',
      request: { observedAtMs: minutesAgo(6) - 1 },
      expected: 'RequestStale',
    },
    {
      name: 'its measurement is a minute ahead',
      request: { observedAtMs: minutesAgo(-1) },
      expected: 'Evict',
    },
    {
      name: 'its measurement is from the future',
      request: { observedAtMs: minutesAgo(-1) + 1 },
      expected: 'RequestStale',
    },
    {
      name: 'the pause after a block continues',
      over: deferred('BudgetBlocked', 1_001),
      expected: 'BudgetBlocked',
    },
    { name: 'the pause after a block has ended', over: deferred('BudgetBlocked', 1_000), expected: 'Evict' },
    {
      name: 'the pause after a failure continues',
      over: deferred('EvictionFailed', 1_001),
      expected: 'EvictionFailed',
    },
  ])('$name: $expected', ({ over, request, report, by, expected }) => {
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
