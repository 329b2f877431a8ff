import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { EvictionDecision, EvictionFacts } from '../../../../src/controllers/eviction/facts.ts';
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
  reportOf,
  running,
} from './builders.ts';

const given = (...policies: readonly (Policy | InvalidPolicy)[]) => ({ policies, now, monotonicMs: 1_000 });
const verdicts = (over: Partial<EvictionFacts>, ...policies: readonly (Policy | InvalidPolicy)[]): string[] =>
  planEvictions(facts(over), given(...(policies.length > 0 ? policies : [evictPolicy()]))).map(verdictOf);
const verdictOf = (one: EvictionDecision): string =>
  `${one.target.name} ${one.verdict === 'Evict' ? 'Evict' : one.reason}`;
const requesting = (...requests: Parameters<typeof evictionRequest>[1][]): Partial<EvictionFacts> => ({
  reports: [reportOf('node-1', ...requests.map((over) => evictionRequest('a', over)))],
});
const invalid: InvalidPolicy = {
  ...{ name: 'broken', uid: 'uid-broken', generation: 1, priority: 100 },
  ...selectingAll,
  problems: ['spec.nodes: nonsense'],
};
const noNodes = policy({ pods: {} });
const noRule = policy({ pods: undefined, nodes: nodesRules() });
const deferred = (reason: 'BudgetBlocked' | 'EvictionFailed', untilMs: number) => ({
  memory: { ...noMemory, deferred: new Map([['uid-a', { reason, tries: 1, untilMs }]]) },
});

test.each<{
  name: string;
  over?: Partial<EvictionFacts>;
  by?: readonly (Policy | InvalidPolicy)[];
  expected: string;
}>([
  { name: 'a pod exceeds its limit', expected: 'Evict' },
  { name: 'the node is not known', over: { nodes: new Map() }, expected: 'NodeUnknown' },
  {
    name: 'the node has the keep label',
    over: { nodes: new Map([['node-1', node('node-1', { labels: keepLabel })]]) },
    expected: 'KeepMarked',
  },
  { name: 'the policy excludes its namespace', by: [excluding('default')], expected: 'NamespaceExcluded' },
  { name: 'the policy excludes another namespace', by: [excluding('other')], expected: 'Evict' },
  { name: 'no policy has rules for nodes', by: [noNodes], expected: 'PolicyChanged' },
  { name: 'the policy has no such rule', by: [noRule], expected: 'PolicyChanged' },
  { name: 'the policy is in DryRun', by: [evictPolicy({}, { mode: 'DryRun' })], expected: 'PolicyChanged' },
  {
    name: 'the policy selects other nodes',
    by: [evictPolicy({}, { selector: labelled('pool', 'batch') })],
    expected: 'PolicyChanged',
  },
  { name: 'an invalid policy may govern the node', by: [invalid, evictPolicy()], expected: 'PolicyChanged' },
  {
    name: 'a policy in DryRun ranks higher',
    by: [evictPolicy({}, { name: 'a', mode: 'DryRun', priority: 9 }), evictPolicy()],
    expected: 'PolicyChanged',
  },
  {
    name: 'the agent applied another policy',
    over: { reports: [{ ...reportOf('node-1', evictionRequest('a')), policyUid: 'uid-other' }] },
    expected: 'PolicyChanged',
  },
  {
    name: 'the agent applied an older generation',
    over: { reports: [{ ...reportOf('node-1', evictionRequest('a')), policyGeneration: 0 }] },
    expected: 'PolicyChanged',
  },
  { name: 'the pod does not exist', over: { pods: new Map() }, expected: 'PodGone' },
  {
    name: 'a namesake has another UID',
    over: { pods: byUid(pod('a', { ...running, uid: 'another' })) },
    expected: 'PodGone',
  },
  {
    name: 'the UID is of a pod of another name',
    over: { pods: byUid(pod('b', { ...running, uid: 'uid-a' })) },
    expected: 'PodMoved',
  },
  {
    name: 'the UID is of a pod of another namespace',
    over: { pods: byUid(pod('other/a', { ...running, uid: 'uid-a' })) },
    expected: 'PodMoved',
  },
  {
    name: 'the pod is not on the requesting node',
    over: { pods: byUid(pod('a', { ...running, nodeName: 'node-2' })) },
    expected: 'PodMoved',
  },
  {
    name: 'the pod is on no node',
    over: { pods: byUid(pod('a', { ...running, nodeName: undefined })) },
    expected: 'PodMoved',
  },
  { name: 'the namespace is not known', over: { namespaces: new Map() }, expected: 'NamespaceUnknown' },
  {
    name: 'the namespace has the keep label',
    over: { namespaces: new Map([['default', namespace('default', keepLabel)]]) },
    expected: 'KeepMarked',
  },
  {
    name: 'the pod has the keep label',
    over: { pods: byUid(pod('a', { ...running, labels: keepLabel })) },
    expected: 'KeepMarked',
  },
  {
    name: 'the keep label is false',
    over: { pods: byUid(pod('a', { ...running, labels: { 'gc.dustpan.dev/keep': 'false' } })) },
    expected: 'Evict',
  },
  {
    name: 'the pod was found critical',
    over: { memory: { ...noMemory, critical: new Set(['uid-a']) } },
    expected: 'CriticalPod',
  },
  {
    name: 'the pod is being deleted',
    over: { pods: byUid(pod('a', { ...running, ...terminating })) },
    expected: 'Terminating',
  },
  {
    name: 'it was evicted a moment ago',
    over: { memory: { ...noMemory, evicted: evictedAt0('uid-a') } },
    expected: 'Terminating',
  },
  {
    name: 'the pod has succeeded',
    over: { pods: byUid(pod('a', { phase: 'Succeeded' })) },
    expected: 'Finished',
  },
  { name: 'the pod has failed', over: { pods: byUid(pod('a', { phase: 'Failed' })) }, expected: 'Finished' },
  {
    name: 'the pod is pending',
    over: { pods: byUid(pod('a', { phase: 'Pending' })) },
    expected: 'Evict',
  },
  {
    name: 'the measurement is 6 min old',
    over: requesting({ observedAtMs: minutesAgo(6) }),
    expected: 'Evict',
  },
  {
    name: 'the measurement is older than 6 min',
    over: requesting({ observedAtMs: minutesAgo(6) - 1 }),
    expected: 'RequestStale',
  },
  {
    name: 'the measurement is a minute ahead',
    over: requesting({ observedAtMs: minutesAgo(-1) }),
    expected: 'Evict',
  },
  {
    name: 'the measurement is from the future',
    over: requesting({ observedAtMs: minutesAgo(-1) + 1 }),
    expected: 'RequestStale',
  },
  {
    name: 'exactly the limit is used',
    over: requesting({ observedBytes: 100 * mebibyte }),
    expected: 'PolicyChanged',
  },
  { name: 'a byte more is used', over: requesting({ observedBytes: 100 * mebibyte + 1 }), expected: 'Evict' },
  {
    name: 'a limit of 0 is exceeded by anything',
    over: requesting({ limitBytes: 0, observedBytes: 1 }),
    expected: 'Evict',
  },
  {
    name: 'the policy evicts earlier now',
    over: requesting({ observedBytes: 91 * mebibyte }),
    by: [evictPolicy({ evictAtPercent: 90 })],
    expected: 'Evict',
  },
  {
    name: 'the policy does not evict that early',
    over: requesting({ observedBytes: 90 * mebibyte }),
    by: [evictPolicy({ evictAtPercent: 90 })],
    expected: 'PolicyChanged',
  },
  {
    name: 'a budget blocked it and the pause continues',
    over: deferred('BudgetBlocked', 1_001),
    expected: 'BudgetBlocked',
  },
  {
    name: 'a budget blocked it and the pause has ended',
    over: deferred('BudgetBlocked', 1_000),
    expected: 'Evict',
  },
  {
    name: 'it failed and the pause continues',
    over: deferred('EvictionFailed', 1_001),
    expected: 'EvictionFailed',
  },
])('$name: $expected', ({ over = {}, by = [], expected }) => {
  expect(verdicts(over, ...by)).toEqual([`a ${expected}`]);
});

test('budgets and grace are those of the policy, never of the request', () => {
  const rule = { respectPodDisruptionBudgets: false, gracePeriodSeconds: 7 };
  const [decision] = planEvictions(
    facts(requesting({ gracePeriodSeconds: 0 })),
    given(evictPolicy(rule), evictPolicy({}, { name: 'z' })),
  );
  expect(decision).toMatchObject({ verdict: 'Evict', policy: { name: 'default' }, target: { rule } });
});

test('a node cannot request the pods of another node', () => {
  const reports = ['node-1', 'node-2'].map((name) => reportOf(name, evictionRequest('a')));
  const decisions = planEvictions(facts({ reports }), given(evictPolicy()));
  expect(decisions.map((one) => `${one.target.node} ${verdictOf(one)}`).sort()).toEqual([
    'node-1 a Evict',
    'node-2 a PodMoved',
  ]);
});

test('the freshest of equal measurements counts', () => {
  const old = { observedAtMs: minutesAgo(6) - 1 };
  expect(verdicts(requesting(old, {}))).toEqual(['a Evict']);
  expect(verdicts(requesting({}, old))).toEqual(['a Evict']);
});

test('a pod with two requests is evicted once', () => {
  const twice = requesting({ signal: 'ephemeralpodfs.limit', subject: undefined }, {});
  expect(verdicts(twice)).toEqual(['a Evict']);
});

test('the most excessive pod is first, in any order of nodes and requests', () => {
  const of = (name: string, usedMb: number) => evictionRequest(name, { observedBytes: usedMb * mebibyte });
  const shuffled = fc.shuffledSubarray([of('a', 110), of('b', 300), of('c', 150), of('d', 150)], {
    minLength: 4,
  });
  const names = ['a', 'b', 'c', 'd'];
  fc.assert(
    fc.property(shuffled, (requests) => {
      const pods = byUid(...names.map((name) => pod(name, running)));
      expect(verdicts({ reports: [reportOf('node-1', ...requests)], pods })).toEqual([
        'b Evict',
        'c Evict',
        'd Evict',
        'a Evict',
      ]);
    }),
  );
});

test('evicts no pod of another node, and none that is finished, terminating or has the keep label', () => {
  const anyPod = fc.record({
    nodeName: fc.constantFrom('node-1', 'node-2', undefined),
    phase: fc.constantFrom('Pending', 'Running', 'Unknown', 'Succeeded', 'Failed'),
    labels: fc.constantFrom({}, keepLabel),
    deletionAtMs: fc.constantFrom(undefined, 1),
  });
  fc.assert(
    fc.property(anyPod, fc.constantFrom('node-1', 'node-2', 'node-3'), (over, requester) => {
      const given = { reports: [reportOf(requester, evictionRequest('a'))], pods: byUid(pod('a', over)) };
      const isFree = Object.keys(over.labels).length === 0 && over.deletionAtMs === undefined;
      const isAlive = over.phase !== 'Succeeded' && over.phase !== 'Failed';
      const isEvictable = isFree && isAlive && over.nodeName === requester;
      expect(verdicts(given)[0] === 'a Evict').toBe(isEvictable);
    }),
  );
});
