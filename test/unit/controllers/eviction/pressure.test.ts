import { describe, expect, test } from 'vitest';
import { isPressureRequest } from '../../../../src/api/local-storage.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { EvictionFacts, EvictionMemory } from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { planEvictions } from '../../../../src/controllers/eviction/plan.ts';
import { explain } from '../../../../src/gc/reasons/entry.ts';
import { evictionReasons } from '../../../../src/gc/reasons/evictions.ts';
import { labelled, minutesAgo, node, now, pod } from '../../../builders.ts';
import {
  byUid,
  evictedAt0,
  evictionRequest,
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

const monotonicMs = 100_000;
const planOf = (over: Partial<EvictionFacts>, policy: Policy | InvalidPolicy = pressurePolicy()) =>
  planEvictions(facts(over), { policies: [policy], now, monotonicMs });
const verdicts = (...args: Parameters<typeof planOf>): string[] =>
  planOf(...args).map(({ verdict, target, reason }) =>
    verdict === 'Evict' ? `${target.name} Evict` : `${target.name} ${reason}`,
  );
const memory = (over: Partial<EvictionMemory>): Partial<EvictionFacts> => ({
  memory: { ...noMemory, ...over },
});
const requesting = (over: Parameters<typeof pressureRequest>[1]): Partial<EvictionFacts> => ({
  reports: [reportOf('node-1', pressureRequest('a', over))],
});
const threshold = 150 * mebibyte;
const paused = (untilMs: number, measuredAfterMs = 0): Partial<EvictionFacts> =>
  memory({ pauses: new Map([['node-1', { untilMs, measuredAfterMs }]]) });
const measuredAtMs = minutesAgo(1);

interface Row {
  readonly name: string;
  readonly over?: Partial<EvictionFacts>;
  readonly by?: Policy;
  readonly expected: string;
}

describe('a pod that its node requests because it is short of disk space', () => {
  test.each<Row>([
    { name: 'the threshold is crossed', expected: 'Evict' },
    { name: 'the policy has no such rule', by: evictPolicy(), expected: 'PolicyChanged' },
    {
      name: 'the policy evicts no pods',
      by: pressurePolicy({ evictPods: false }),
      expected: 'PolicyChanged',
    },
    {
      name: 'the policy has no threshold for the signal',
      over: requesting({ signal: 'imagefs.available' }),
      expected: 'PolicyChanged',
    },
    { name: 'the policy excludes its namespace', by: excluding('default'), expected: 'NamespaceExcluded' },
    { name: 'inodes are short', over: requesting({ signal: 'nodefs.inodesFree' }), expected: 'Evict' },
    {
      name: 'the policy is in DryRun',
      by: pressurePolicy({}, { mode: 'DryRun' }),
      expected: 'PolicyChanged',
    },
    {
      name: 'the policy selects other nodes',
      by: pressurePolicy({}, { selector: labelled('pool', 'batch') }),
      expected: 'PolicyChanged',
    },
    {
      name: 'the agent applied an older generation',
      over: { reports: [{ ...reportOf('node-1', pressureRequest('a')), policyGeneration: 0 }] },
      expected: 'PolicyChanged',
    },
    {
      name: 'exactly the threshold is available',
      over: requesting({ shortage: { available: threshold, threshold } }),
      expected: 'PolicyChanged',
    },
    {
      name: 'a byte less is available',
      over: requesting({ shortage: { available: threshold - 1, threshold } }),
      expected: 'Evict',
    },
    { name: 'the pod uses nothing', over: requesting({ observedBytes: 0 }), expected: 'PolicyChanged' },
    {
      name: 'the pod uses less than it requests',
      over: requesting({ observedBytes: 1, limitBytes: 2 }),
      expected: 'Evict',
    },
    {
      name: 'the measurement is older than 6 min',
      over: requesting({ observedAtMs: minutesAgo(6) - 1 }),
      expected: 'RequestStale',
    },
    { name: 'the pod does not exist', over: { pods: new Map() }, expected: 'PodGone' },
    {
      name: 'the pod is on another node',
      over: { pods: byUid(pod('a', { ...running, nodeName: 'node-2' })) },
      expected: 'PodMoved',
    },
    {
      name: 'the node has the keep label',
      over: { nodes: new Map([['node-1', node('node-1', { labels: keepLabel })]]) },
      expected: 'KeepMarked',
    },
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
    { name: 'the pod is critical', over: memory({ critical: new Set(['uid-a']) }), expected: 'CriticalPod' },
    { name: 'its node has a pause', over: paused(monotonicMs + 1), expected: 'PacingLimit' },
    { name: 'the pause of its node has ended', over: paused(monotonicMs), expected: 'Evict' },
    {
      name: 'it was not measured since the last eviction on its node',
      over: paused(0, measuredAtMs),
      expected: 'PacingLimit',
    },
    { name: 'it was measured after that', over: paused(0, measuredAtMs - 1), expected: 'Evict' },
    {
      name: 'another node has a pause',
      over: memory({ pauses: new Map([['node-2', { untilMs: monotonicMs + 1, measuredAfterMs: 0 }]]) }),
      expected: 'Evict',
    },
    {
      name: 'the leader is new',
      over: memory({ firstPause: { untilMs: monotonicMs + 1, measuredAfterMs: 0 } }),
      expected: 'PacingLimit',
    },
    {
      name: 'it was not measured since the leader is new',
      over: memory({ firstPause: { untilMs: 0, measuredAfterMs: measuredAtMs } }),
      expected: 'PacingLimit',
    },
  ])('$name: $expected', ({ over = {}, by, expected }) => {
    const all = { reports: [reportOf('node-1', pressureRequest('a'))], ...over };
    expect(verdicts(all, by)).toEqual([`a ${expected}`]);
  });

  test('is evicted within its budgets, with its own grace period', () => {
    const reports = [reportOf('node-1', pressureRequest('a', { gracePeriodSeconds: 0 }))];
    const [decision] = planOf({ reports });
    expect(decision).toMatchObject({
      unit: 'nodepressure',
      reason: 'nodefs.available',
      target: { rule: { respectPodDisruptionBudgets: true, gracePeriodSeconds: undefined } },
    });
  });

  test('is explained by the shortage and its usage', () => {
    const reports = [reportOf('node-1', pressureRequest('a'))];
    const [decision] = planOf({ reports });
    if (decision?.verdict !== 'Evict') throw new Error('it is kept');
    const shortage =
      'The node is low on disk space for local storage (nodefs.available): 100 MiB are available, and the threshold is ';
    const rest =
      'The pod uses 90.0 MiB and requests 10.0 MiB. The agent of its node requests the eviction (usage measured at 2026-01-15T11:59:00Z).';
    expect(explain(evictionReasons, decision)).toEqual({
      detail: `${shortage}15% (150 MiB). ${rest} A disruption budget may delay the eviction.`,
      field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
    });
    const [kept] = planOf({ reports, pods: new Map() });
    if (kept?.verdict !== 'Keep') throw new Error('it is evicted');
    expect(explain(evictionReasons, kept).detail).toBe(
      `${shortage}150 MiB. ${rest} The pod no longer exists.`,
    );
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
    {
      name: 'has the keep label',
      over: { pods: without('uid-a', { labels: keepLabel }) },
      reason: 'KeepMarked',
    },
    { name: 'is critical', over: memory({ critical: new Set(['uid-a']) }), reason: 'CriticalPod' },
    {
      name: 'is blocked by a budget',
      over: memory({
        deferred: new Map([
          ['uid-a', { reason: 'BudgetBlocked' as const, tries: 1, untilMs: monotonicMs + 1 }],
        ]),
      }),
      reason: 'BudgetBlocked',
    },
  ])('the next is, if the first $name', ({ over, reason }) => {
    expect(verdicts({ ...three, ...over })).toEqual([`a ${reason}`, 'b Evict', 'c PacingLimit']);
  });

  test('the second does not precede a first that was measured too long ago', () => {
    const requests = [pressureRequest('a', { observedAtMs: measuredAtMs - 1 }), pressureRequest('b')];
    const over = { ...three, ...paused(0, measuredAtMs - 1), reports: [reportOf('node-1', ...requests)] };
    expect(verdicts(over)).toEqual(['a PacingLimit', 'b PacingLimit']);
  });

  test('those of another node are not concerned', () => {
    const pods = new Map([...threePods, ...byUid(pod('d', { ...running, nodeName: 'node-2' }))]);
    const reports = [reportOf('node-2', pressureRequest('d')), ...three.reports];
    expect(verdicts({ pods, reports })).toEqual(['a Evict', 'b PacingLimit', 'c PacingLimit', 'd Evict']);
  });
});

describe('while a pod of the node is ending', () => {
  const ending = (over: Parameters<typeof pod>[1]) => ({ ...three, pods: without('uid-c', over) });
  const later = now.getTime() + 1;
  const over = now.getTime() - 30_000;

  test.each([
    { name: 'its grace period is running', over: ending({ deletionAtMs: later }), waits: true },
    {
      name: 'its grace period ends in 2 min',
      over: ending({ deletionAtMs: now.getTime() + 120_000 }),
      waits: true,
    },
    {
      name: 'its grace period ends later',
      over: ending({ deletionAtMs: now.getTime() + 120_001 }),
      waits: false,
    },
    { name: 'its grace period has been over for 30 s', over: ending({ deletionAtMs: over }), waits: true },
    { name: 'it is stuck after that', over: ending({ deletionAtMs: over - 1 }), waits: false },
    {
      name: 'it has finished and waits for finalizers',
      over: ending({ deletionAtMs: later, phase: 'Failed' }),
      waits: false,
    },
    {
      name: 'it is on another node',
      over: ending({ deletionAtMs: later, nodeName: 'node-2' }),
      waits: false,
    },
    { name: 'it is on no node', over: ending({ deletionAtMs: later, nodeName: undefined }), waits: false },
    {
      name: 'it was evicted a moment ago, and the cache does not show it',
      over: { ...three, ...memory({ evicted: evictedAt0('uid-c') }) },
      waits: true,
    },
    {
      name: 'it was evicted a moment ago, and has finished',
      over: { ...ending({ phase: 'Succeeded' }), ...memory({ evicted: evictedAt0('uid-c') }) },
      waits: false,
    },
    {
      name: 'it was evicted, and is stuck after its grace period',
      over: { ...ending({ deletionAtMs: over - 1 }), ...memory({ evicted: evictedAt0('uid-c') }) },
      waits: false,
    },
  ])('$name: no other pod is due: $waits', ({ over, waits }) => {
    expect(verdicts(over).slice(0, 2)).toEqual([waits ? 'a PacingLimit' : 'a Evict', 'b PacingLimit']);
  });

  test('a pod over a limit of its own is due', () => {
    const reports = [reportOf('node-1', evictionRequest('a'))];
    expect(verdicts({ ...ending({ deletionAtMs: later }), reports })).toEqual(['a Evict']);
  });
});

describe('with requests for limits', () => {
  const limit = evictionRequest('b');

  test('these are due first, and those for pressure wait for what they free', () => {
    const reports = [reportOf('node-1', pressureRequest('a'), limit)];
    expect(verdicts({ ...three, reports })).toEqual(['b Evict', 'a PacingLimit']);
  });

  test('one that is not due delays nothing', () => {
    const reports = [reportOf('node-1', { ...limit, observedAtMs: 0 }, pressureRequest('a'))];
    expect(verdicts({ ...three, reports })).toEqual(['b RequestStale', 'a Evict']);
  });

  test('all of them are due, pause or not', () => {
    const reports = [reportOf('node-1', pressureRequest('c'), evictionRequest('a'), limit)];
    expect(verdicts({ ...three, reports, ...paused(monotonicMs + 1) })).toEqual([
      'a Evict',
      'b Evict',
      'c PacingLimit',
    ]);
  });

  test('a pod with both has one decision, that of the limit', () => {
    const reports = [reportOf('node-1', pressureRequest('b'), limit)];
    const decisions = planOf({ ...three, reports });
    expect(decisions).toMatchObject([{ unit: 'localstorage', verdict: 'Evict', reason: 'emptydirfs.limit' }]);
  });
});

test('a request for pressure without a shortage, or for a limit with one, is no request', () => {
  const reports = [
    reportOf(
      'node-1',
      { ...pressureRequest('a'), shortage: undefined },
      { ...evictionRequest('b'), shortage: { available: 1, threshold: 2 } },
    ),
  ];
  expect(planOf({ ...three, reports })).toEqual([]);
  expect(reports.flatMap(({ requests }) => requests).some(isPressureRequest)).toBe(false);
});
