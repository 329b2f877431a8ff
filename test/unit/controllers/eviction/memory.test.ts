import { expect, test } from 'vitest';
import {
  forgetOthers,
  noMemory,
  remember,
  rememberReported,
  triesBefore,
  type Result,
} from '../../../../src/controllers/eviction/memory.ts';
import { evictionRequest, evictedAt0, reportOf } from './builders.ts';

const blocked = (retryAfterMs?: number): Result => ({
  kind: 'deferred',
  reason: 'BudgetBlocked',
  retryAfterMs,
});
const after = (...results: readonly Result[]) =>
  results.reduce((memory, result) => remember(memory, 'a', { result, monotonicMs: 0 }), noMemory);

test('a blocked pod is retried after 10 s, then after twice as long each time, at most every 5 min', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7].map(
    (tries) => after(...Array.from({ length: tries }, () => blocked())).deferred.get('a')?.untilMs,
  );
  expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test('never sooner than the Retry-After', () => {
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
  expect(after(blocked(), evicted)).toEqual({ ...noMemory, evicted: evictedAt0('a') });
  expect(after(blocked(), { kind: 'critical' })).toEqual({ ...noMemory, critical: new Set(['a']) });
});

test.each([
  { name: 'requested and exists', requested: ['a'], there: ['uid-a'], left: 1 },
  { name: 'not requested any more', requested: ['b'], there: ['uid-a'], left: 0 },
  { name: 'gone', requested: ['a'], there: [], left: 0 },
])('the memory of a pod that is $name', ({ requested, there, left }) => {
  const pods = new Map(there.map((uid) => [uid, {}]));
  const memory = {
    evicted: evictedAt0('uid-a'),
    critical: new Set(['uid-a']),
    deferred: new Map([['uid-a', { reason: 'BudgetBlocked' as const, tries: 1, untilMs: 1 }]]),
  };
  const kept = forgetOthers(memory, [reportOf('n', ...requested.map((name) => evictionRequest(name)))], pods);
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
