import { expect, test } from 'vitest';
import { isHopeless, isOfObject } from '../../../src/gc/api-failures.ts';
import type { Outcome } from '../../../src/gc/decision.ts';
import { FailureMemory } from '../../../src/gc/failures.ts';

const minute = 60_000;
const failed = (decision: string, error = 'denied'): Outcome<string> => ({
  ...{ kind: 'failed', decision, error: new Error(error) },
});
const memory = (...outcomes: readonly Outcome<string>[]): FailureMemory<string> => {
  const made = new FailureMemory<string>({
    keyOf: (decision) => decision,
    isOfObject: (error) => error instanceof Error && error.message === 'denied',
  });
  made.record(outcomes, 0);
  return made;
};
const all = (): boolean => true;

test('the pause of an object doubles with each failure, up to 15 minutes', () => {
  const failures = memory();
  const pauses = Array.from({ length: 8 }, (_, i) => {
    failures.record([failed('a')], i * minute);
    return (failures.known(all, i * minute).get('a')?.retryInMs ?? 0) / 1000;
  });
  expect(pauses).toEqual([20, 40, 80, 160, 320, 640, 900, 900]);
  expect(failures.known(all, 7 * minute + 900_001).get('a')).toEqual({ times: 8, retryInMs: -1 });
});

test.each<{ readonly name: string; readonly outcome: Outcome<string>; readonly left: readonly string[] }>([
  { name: 'removed', outcome: { kind: 'done', decision: 'a', freedBytes: 0 }, left: ['b'] },
  { name: 'gone', outcome: { kind: 'gone', decision: 'a' }, left: ['b'] },
  { name: 'kept', outcome: { kind: 'kept', decision: 'a', reason: 'KeepMarked' }, left: ['b'] },
  { name: 'not reached by the server', outcome: failed('a', 'connection refused'), left: ['a', 'b'] },
])('of an object that is $name', ({ outcome, left }) => {
  const failures = memory(failed('a'), failed('b'));
  failures.record([outcome], 1);
  expect([...failures.known(all, 1).keys()]).toEqual(left);
});

test('an object that the server has not judged is not remembered, nor one that no longer exists', () => {
  expect(memory(failed('a', 'connection refused')).known(all, 0)).toEqual(new Map());
  const failures = memory(failed('a'), failed('b'));
  expect([...failures.known((key) => key === 'b', 0).keys()]).toEqual(['b']);
  expect([...failures.known(all, 0).keys()]).toEqual(['b']);
});

const response = (status: number): Error => Object.assign(new Error('refused'), { status });
const broken = (code: string): Error => Object.assign(new Error('broken'), { code });

test.each<{
  readonly name: string;
  readonly err: unknown;
  readonly hopeless: boolean;
  readonly ofObject: boolean;
}>([
  { name: 'a denial', err: response(403), hopeless: false, ofObject: true },
  { name: 'a denial with 429', err: response(429), hopeless: false, ofObject: true },
  { name: 'a webhook that is down', err: response(500), hopeless: false, ofObject: true },
  { name: 'rejected credentials', err: response(401), hopeless: true, ofObject: false },
  { name: 'a gateway without server', err: response(502), hopeless: true, ofObject: false },
  { name: 'a server that is not ready', err: response(503), hopeless: true, ofObject: false },
  { name: 'a server that times out', err: response(504), hopeless: true, ofObject: false },
  { name: 'another response', err: response(505), hopeless: false, ofObject: true },
  { name: 'a refused connection', err: broken('ECONNREFUSED'), hopeless: true, ofObject: false },
  { name: 'no response in time', err: broken('ETIMEDOUT'), hopeless: true, ofObject: true },
  { name: 'a bug', err: new TypeError('x'), hopeless: true, ofObject: false },
  { name: 'no error', err: 'x', hopeless: true, ofObject: false },
])('$name: ends a pass after some in a row: $hopeless; postpones its object: $ofObject', (row) => {
  expect(isHopeless(row.err)).toBe(row.hopeless);
  expect(isOfObject(row.err)).toBe(row.ofObject);
});
