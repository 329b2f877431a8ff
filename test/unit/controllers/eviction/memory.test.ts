import { expect, test } from 'vitest';
import {
  isLimitRequest,
  isPressureRequest,
  type EvictionRequest,
} from '../../../../src/api/local-storage.ts';
import type { PodEviction } from '../../../../src/controllers/eviction/facts.ts';
import {
  forgetOthers,
  newMemory,
  noMemory,
  remember,
  rememberReported,
  triesBefore,
  type Result,
} from '../../../../src/controllers/eviction/memory.ts';
import { evictionRequest, evictedAt0, pressureRequest, reportOf } from './builders.ts';

const blocked = (retryAfterMs?: number): Result => ({
  kind: 'deferred',
  reason: 'BudgetBlocked',
  retryAfterMs,
});
const at = (monotonicMs: number) => ({ monotonicMs, now: new Date(1_000_000 + monotonicMs) });
/** The target of a request of node-1 for the pod `a`. */
function targetOf(request: EvictionRequest, node = 'node-1'): PodEviction['target'] {
  if (!isLimitRequest(request) && !isPressureRequest(request)) throw new Error('no valid request');
  return {
    ...request.pod,
    ...{ kind: 'Pod', uid: 'a', node, request, owner: 'default/a', createdAtMs: 0 },
    rule: { respectPodDisruptionBudgets: true, gracePeriodSeconds: undefined },
  };
}
const after = (...results: readonly Result[]) =>
  results.reduce(
    (memory, result) => remember(memory, targetOf(evictionRequest('a')), { result, ...at(0) }),
    noMemory,
  );

test('a blocked pod is retried after 10 s, then after twice as long each time, at most every 5 min', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7].map(
    (tries) => after(...Array.from({ length: tries }, () => blocked())).deferred.get('a')?.untilMs,
  );
  expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test('never sooner than the Retry-After, which counts up to five minutes', () => {
  expect(after(blocked(3_600_000)).deferred.get('a')?.untilMs).toBe(300_000);
  expect(after(blocked(25_000)).deferred.get('a')?.untilMs).toBe(25_000);
  expect(after(blocked(1)).deferred.get('a')?.untilMs).toBe(10_000);
});

test('the pauses restart after another reason or a try without deferral', () => {
  const failed: Result = { kind: 'deferred', reason: 'EvictionFailed', retryAfterMs: undefined };
  expect(triesBefore(after(blocked(), blocked()), 'a', 'BudgetBlocked')).toBe(2);
  expect(triesBefore(after(blocked(), failed), 'a', 'BudgetBlocked')).toBe(0);
  expect(triesBefore(after(blocked(), { kind: 'kept' }), 'a', 'BudgetBlocked')).toBe(0);
});

test('an evicted or critical pod is not deferred any more', () => {
  const evicted: Result = { kind: 'evicted', requestedGraceSeconds: undefined };
  const { deferred, evicted: found } = after(blocked(), evicted);
  expect([deferred.size, found]).toEqual([0, evictedAt0('a')]);
  expect(after(blocked(), { kind: 'critical' })).toEqual({ ...noMemory, critical: new Set(['a']) });
});

test.each([
  { name: 'requested and exists', requested: ['a'], there: ['uid-a'], left: 1 },
  { name: 'not requested any more', requested: ['b'], there: ['uid-a'], left: 0 },
  { name: 'gone', requested: ['a'], there: [], left: 0 },
])('the memory of a pod that is $name', ({ requested, there, left }) => {
  const pods = new Map(there.map((uid) => [uid, {}]));
  const memory = {
    ...noMemory,
    evicted: evictedAt0('uid-a'),
    critical: new Set(['uid-a']),
    deferred: new Map([['uid-a', { reason: 'BudgetBlocked' as const, tries: 1, untilMs: 1 }]]),
  };
  const reports = [reportOf('n', ...requested.map((name) => evictionRequest(name)))];
  const kept = forgetOthers(memory, { reports, pods, monotonicMs: 0 });
  expect([kept.critical.size, kept.deferred.size]).toEqual([left, left]);
  expect(kept.evicted.size).toBe(1);
});

test('remembers an evicted pod until it is gone, and whether it was reported', () => {
  const memory = { ...noMemory, evicted: evictedAt0('a', 'b', 'c') };
  const pods = new Map(['a', 'b'].map((uid) => [uid, {}]));
  const { evicted } = rememberReported(memory, new Set(['b']), pods);
  expect([...evicted].map(([uid, { isReported }]) => [uid, isReported])).toEqual([
    ['a', false],
    ['b', true],
  ]);
});

const evicted: Result = { kind: 'evicted', requestedGraceSeconds: undefined };
const failed: Result = { kind: 'deferred', reason: 'EvictionFailed', retryAfterMs: undefined };
const unanswered: Result = { ...failed, isUnanswered: true };

test.each([
  { name: 'an eviction', result: evicted, pauses: true },
  { name: 'a request without a response: it may have been fulfilled', result: unanswered, pauses: true },
  { name: 'a failure with a response, or before the request: no', result: failed, pauses: false },
  { name: 'a budget that blocks: no', result: blocked(), pauses: false },
  { name: 'a critical pod: no', result: { kind: 'critical' }, pauses: false },
  { name: 'a pod that is kept: no', result: { kind: 'kept' }, pauses: false },
] as const)('after $name, the node under pressure has a pause of a minute', ({ result, pauses }) => {
  const { pauses: found } = remember(noMemory, targetOf(pressureRequest('a')), { result, ...at(5_000) });
  expect([...found]).toEqual(pauses ? [['node-1', { untilMs: 65_000, measuredAfterMs: 1_005_000 }]] : []);
});

test('after an eviction for a limit too: it frees disk space', () => {
  expect(after(evicted).pauses.size).toBe(1);
});

test('remembers the pause of a node while a measurement from before it may be fresh', () => {
  const first = remember(noMemory, targetOf(pressureRequest('a')), { result: evicted, ...at(0) });
  const nodesAfter = (ms: number): string[] => [
    ...remember(first, targetOf(pressureRequest('b'), 'node-2'), {
      result: evicted,
      ...at(ms),
    }).pauses.keys(),
  ];
  expect(nodesAfter(659_999)).toEqual(['node-1', 'node-2']);
  expect(nodesAfter(660_000)).toEqual(['node-2']);
  expect(forgetOthers(first, { reports: [], pods: new Map(), monotonicMs: 0 }).pauses).toBe(first.pauses);
});

test('a new leader pauses for a minute, unless it is the first', () => {
  expect(newMemory(at(7_000), false)).toBe(noMemory);
  expect(newMemory(at(7_000), true)).toEqual({
    ...noMemory,
    firstPause: { untilMs: 67_000, measuredAfterMs: 1_007_000 },
  });
});
