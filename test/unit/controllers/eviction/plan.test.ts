import { describe, expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  EvictionMemory,
  RequestingNode,
} from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { paceAfter } from '../../../../src/controllers/eviction/pace.ts';
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
  recorded,
  reportOf,
  running,
} from './builders.ts';

const monotonicMs = 100_000;
type Policies = readonly (Policy | InvalidPolicy)[];
const planned = (over: Partial<EvictionFacts>, policies: Policies = [pressurePolicy()]) =>
  planEvictions(facts(over), { policies, now, monotonicMs });
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
    [
      'the pause after a block continues',
      'BudgetBlocked',
      { over: deferred('BudgetBlocked', monotonicMs + 1) },
    ],
    ['the pause after a block has ended', 'Evict', { over: deferred('BudgetBlocked', monotonicMs) }],
    [
      'the pause after a failure continues',
      'EvictionFailed',
      { over: deferred('EvictionFailed', monotonicMs + 1) },
    ],
  ])('%s: %s', (_, expected, { over, request, report, by } = {}) => {
    const reports = [{ ...reportOf('node-1', requestOf('a', request)), ...report }];
    expect(verdicts({ reports, ...over }, by)).toEqual([`a ${expected}`]);
  });
});

const requesting = (...requests: Parameters<typeof evictionRequest>[1][]): Partial<EvictionFacts> => ({
  reports: [reportOf('node-1', ...requests.map((over) => evictionRequest('a', over)))],
});
test.each([
  { name: 'exactly the limit', request: { observedBytes: 100 * mebibyte }, expected: 'PolicyChanged' },
  { name: 'a byte more', request: { observedBytes: 100 * mebibyte + 1 }, expected: 'Evict' },
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

const pressing = (over: Parameters<typeof pressureRequest>[1]): Partial<EvictionFacts> => ({
  reports: [reportOf('node-1', pressureRequest('a', over))],
});
const threshold = 150 * mebibyte;
const paused = (untilMs: number, measuredAfterMs = 0): Partial<EvictionFacts> =>
  remembering({ pauses: new Map([['node-1', { untilMs, measuredAfterMs }]]) });
const measuredAtMs = minutesAgo(1);

const available = (bytes: number) => pressing({ shortage: { available: bytes, threshold } });
const newLeader = (untilMs: number, measuredAfterMs = 0) =>
  remembering({ firstPause: { untilMs, measuredAfterMs } });
const noPods = pressurePolicy({ evictPods: false });
const elsewhere = new Map([['node-2', { untilMs: monotonicMs + 1, measuredAfterMs: 0 }]]);

/** The rules for every request are above. */
describe('a pod that its node requests because it is short of disk space', () => {
  test.each<[name: string, expected: string, over: Partial<EvictionFacts>, by?: Policies]>([
    ['the policy has no such rule', 'PolicyChanged', {}, [evictPolicy()]],
    ['the policy evicts no pods', 'PolicyChanged', {}, [noPods]],
    ['the policy has no threshold for it', 'PolicyChanged', pressing({ signal: 'imagefs.available' })],
    ['exactly the threshold is available', 'PolicyChanged', available(threshold)],
    ['a byte less is available', 'Evict', available(threshold - 1)],
    ['the pod uses nothing', 'PolicyChanged', pressing({ observedBytes: 0 })],
    ['its node has a pause', 'PacingLimit', paused(monotonicMs + 1)],
    ['the pause of its node has ended', 'Evict', paused(monotonicMs)],
    ['it was not measured since the last eviction there', 'PacingLimit', paused(0, measuredAtMs)],
    ['it was measured after that', 'Evict', paused(0, measuredAtMs - 1)],
    ['another node has a pause', 'Evict', remembering({ pauses: elsewhere })],
    ['the leader is new', 'PacingLimit', newLeader(monotonicMs + 1)],
    ['it was not measured since the leader is new', 'PacingLimit', newLeader(0, measuredAtMs)],
    [
      'the leader was new ten minutes ago, whatever its clock was',
      'Evict',
      newLeader(monotonicMs - 600_000, measuredAtMs),
    ],
  ])('%s: %s', (_, expected, over, by) => {
    const all = { reports: [reportOf('node-1', pressureRequest('a'))], ...over };
    expect(verdicts(all, by)).toEqual([`a ${expected}`]);
  });

  test('is evicted within its budgets, with its own grace period', () => {
    const [decision] = planned(pressing({ gracePeriodSeconds: 0 }));
    expect(decision).toMatchObject({
      unit: 'nodepressure',
      reason: 'nodefs.available',
      target: { rule: { respectPodDisruptionBudgets: true, gracePeriodSeconds: undefined } },
    });
  });
});

const names = ['a', 'b', 'c'];
const threePods = byUid(...names.map((name) => pod(name, running)));
const three = {
  pods: threePods,
  reports: [reportOf('node-1', ...names.map((name) => pressureRequest(name)))],
};
const without = (uid: string, over: Parameters<typeof pod>[1]) =>
  new Map([...threePods, [uid, pod(uid.slice(4), { ...running, ...over })]]);

describe('of the requests of one node, only the first that may be evicted is due', () => {
  test('in the order of the report, whatever they use', () => {
    const sizes = [1, 3, 2];
    const requests = names.map((name, i) => pressureRequest(name, { observedBytes: sizes[i] ?? 0 }));
    const by = (list: typeof requests) => verdicts({ ...three, reports: [reportOf('node-1', ...list)] });
    expect(by(requests)).toEqual(['a Evict', 'b PacingLimit', 'c PacingLimit']);
    expect(by(requests.toReversed())).toEqual(['c Evict', 'b PacingLimit', 'a PacingLimit']);
  });

  test.each([
    ['has the keep label', 'KeepMarked', { pods: without('uid-a', { labels: keepLabel }) }],
    ['is blocked by a budget', 'BudgetBlocked', deferred('BudgetBlocked', monotonicMs + 1)],
  ])('the next is, if the first %s: %s', (_, reason, over) => {
    expect(verdicts({ ...three, ...over })).toEqual([`a ${reason}`, 'b Evict', 'c PacingLimit']);
  });

  test('no other is, if the first waits for its owner', () => {
    const owners = new Map([
      [
        'default/a',
        paceAfter(undefined, { ...pod('a'), allowance: 1 }, { wallMs: now.getTime(), monotonicMs }),
      ],
    ]);
    const expected = ['a PacingLimit', 'b PacingLimit', 'c PacingLimit'];
    expect(verdicts({ ...three, ...remembering({ owners }) })).toEqual(expected);
  });

  test('the second does not precede a first that was measured too long ago', () => {
    const requests = [pressureRequest('a', { observedAtMs: measuredAtMs - 1 }), pressureRequest('b')];
    const over = { ...three, ...paused(0, measuredAtMs - 1), reports: [reportOf('node-1', ...requests)] };
    expect(verdicts(over)).toEqual(['a PacingLimit', 'b PacingLimit']);
  });
});

describe('while a pod of the node is ending', () => {
  type Over = Parameters<typeof pod>[1];
  const ending = (over: Over) => ({ ...three, pods: without('uid-c', over) });
  const endingAfter = (ms: number, over: Over = {}) => ending({ deletionAtMs: now.getTime() + ms, ...over });
  const evicted = remembering({ evicted: evictedAt0('uid-c') });

  test.each([
    ['its grace period ends in 2 min', true, endingAfter(120_000)],
    ['its grace period ends later', false, endingAfter(120_001)],
    ['its grace period has been over for 30 s', true, endingAfter(-30_000)],
    ['it is stuck after that', false, endingAfter(-30_001)],
    ['it has finished, with finalizers', false, endingAfter(1, { phase: 'Failed' })],
    ['it is on another node', false, endingAfter(1, { nodeName: 'node-2' })],
    ['it is on no node', false, endingAfter(1, { nodeName: undefined })],
    ['it was just evicted, and the cache does not show it', true, { ...three, ...evicted }],
    ['it was evicted, and is stuck after its grace period', false, { ...endingAfter(-30_001), ...evicted }],
  ])('%s: no other pod is due: %s', (_, waits, over) => {
    const expected = [waits ? 'a PacingLimit' : 'a Evict', 'b PacingLimit'];
    expect(verdicts(over).slice(0, 2)).toEqual(expected);
    expect(verdicts({ ...over, pods: recorded(over.pods) }).slice(0, 2)).toEqual(expected);
  });

  test('a pod over a limit of its own is due', () => {
    const reports = [reportOf('node-1', evictionRequest('a'))];
    expect(verdicts({ ...endingAfter(1), reports })).toEqual(['a Evict']);
  });
});

const limit = evictionRequest('b');
test.each([
  ['are due first', [pressureRequest('a'), limit], ['b Evict', 'a PacingLimit']],
  [
    'that are not due delay nothing',
    [{ ...limit, observedAtMs: 0 }, pressureRequest('a')],
    ['b RequestStale', 'a Evict'],
  ],
  [
    'are all due',
    [pressureRequest('c'), evictionRequest('a'), limit],
    ['a Evict', 'b Evict', 'c PacingLimit'],
  ],
  ['are the one decision about a pod with both', [pressureRequest('b'), limit], ['b Evict']],
])('requests for limits %s', (_, requests, expected) => {
  expect(verdicts({ ...three, reports: [reportOf('node-1', ...requests)] })).toEqual(expected);
});

test('requests for limits are due whatever the pause of the node', () => {
  expect(verdicts({ ...three, reports: [reportOf('node-1', limit)], ...paused(monotonicMs + 1) })).toEqual([
    'b Evict',
  ]);
});

test('a request for pressure without a shortage, or for a limit with one, is no request', () => {
  const pressure = { ...pressureRequest('a'), shortage: undefined };
  const limit = evictionRequest('b', { shortage: { available: 1, threshold: 2 } });
  expect(planned({ ...three, reports: [reportOf('node-1', pressure, limit)] })).toEqual([]);
});
