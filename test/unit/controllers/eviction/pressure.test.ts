import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import type { EvictionFacts, EvictionMemory } from '../../../../src/controllers/eviction/facts.ts';
import { noMemory } from '../../../../src/controllers/eviction/memory.ts';
import { planEvictions } from '../../../../src/controllers/eviction/plan.ts';
import { minutesAgo, now, pod } from '../../../builders.ts';
import {
  byUid,
  evictedAt0,
  evictionRequest,
  evictPolicy,
  facts,
  keepLabel,
  mebibyte,
  pressurePolicy,
  pressureRequest,
  reportOf,
  running,
} from './builders.ts';

const monotonicMs = 100_000;
const planOf = (over: Partial<EvictionFacts>, policy = pressurePolicy()) =>
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

const available = (bytes: number) => requesting({ shortage: { available: bytes, threshold } });
const newLeader = (untilMs: number, measuredAfterMs = 0) =>
  memory({ firstPause: { untilMs, measuredAfterMs } });
const noPods = pressurePolicy({ evictPods: false });
const elsewhere = new Map([['node-2', { untilMs: monotonicMs + 1, measuredAfterMs: 0 }]]);

/** The rules for every request are in plan.test.ts. */
describe('a pod that its node requests because it is short of disk space', () => {
  test.each<[name: string, expected: string, over: Partial<EvictionFacts>, by?: Policy]>([
    ['the policy has no such rule', 'PolicyChanged', {}, evictPolicy()],
    ['the policy evicts no pods', 'PolicyChanged', {}, noPods],
    ['the policy has no threshold for it', 'PolicyChanged', requesting({ signal: 'imagefs.available' })],
    ['exactly the threshold is available', 'PolicyChanged', available(threshold)],
    ['a byte less is available', 'Evict', available(threshold - 1)],
    ['the pod uses nothing', 'PolicyChanged', requesting({ observedBytes: 0 })],
    ['its node has a pause', 'PacingLimit', paused(monotonicMs + 1)],
    ['the pause of its node has ended', 'Evict', paused(monotonicMs)],
    ['it was not measured since the last eviction there', 'PacingLimit', paused(0, measuredAtMs)],
    ['it was measured after that', 'Evict', paused(0, measuredAtMs - 1)],
    ['another node has a pause', 'Evict', memory({ pauses: elsewhere })],
    ['the leader is new', 'PacingLimit', newLeader(monotonicMs + 1)],
    ['it was not measured since the leader is new', 'PacingLimit', newLeader(0, measuredAtMs)],
  ])('%s: %s', (_, expected, over, by) => {
    const all = { reports: [reportOf('node-1', pressureRequest('a'))], ...over };
    expect(verdicts(all, by)).toEqual([`a ${expected}`]);
  });

  test('is evicted within its budgets, with its own grace period', () => {
    const [decision] = planOf(requesting({ gracePeriodSeconds: 0 }));
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

  const deferred = new Map([
    ['uid-a', { reason: 'BudgetBlocked' as const, tries: 1, untilMs: monotonicMs + 1 }],
  ]);
  test.each([
    ['has the keep label', 'KeepMarked', { pods: without('uid-a', { labels: keepLabel }) }],
    ['is blocked by a budget', 'BudgetBlocked', memory({ deferred })],
  ])('the next is, if the first %s: %s', (_, reason, over) => {
    expect(verdicts({ ...three, ...over })).toEqual([`a ${reason}`, 'b Evict', 'c PacingLimit']);
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
  const evicted = memory({ evicted: evictedAt0('uid-c') });

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
    expect(verdicts(over).slice(0, 2)).toEqual([waits ? 'a PacingLimit' : 'a Evict', 'b PacingLimit']);
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
  expect(planOf({ ...three, reports: [reportOf('node-1', pressure, limit)] })).toEqual([]);
});
