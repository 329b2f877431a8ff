import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holdLeftMs, inForceAt, inForceForMs, inForceIn } from '../../../src/gc/hold.ts';
import { openBreakersIn } from '../../../src/gc/open-breaker.ts';
import { now } from '../../builders.ts';

const rule = { above: 100, forMs: 300_000 };
const enforced = { mode: 'Enforce', rulesId: 'c', skipHoldOf: undefined } as const;
const large = { due: 101, governed: 150, removable: 150, inForceForMs: 0 };
const unset = { above: undefined };

test.each([
  { name: 'more than holdAbove and more than half', left: 300_000 },
  { name: 'as many as holdAbove', removal: { due: 100 }, left: undefined },
  { name: 'half of what it governs', removal: { governed: 202 }, left: undefined },
  { name: 'one more than half', removal: { due: 102, governed: 203 }, left: 300_000 },
  { name: 'a moment before the end', removal: { inForceForMs: 299_999 }, left: 1 },
  { name: 'the end', removal: { inForceForMs: 300_000 }, left: undefined },
  { name: 'rules of unknown age', removal: { inForceForMs: undefined }, left: undefined },
  { name: 'mode DryRun', held: { mode: 'DryRun' as const }, left: undefined },
  { name: 'holdAbove 0', above: 0, left: undefined },
  { name: 'the annotation has these rules', held: { skipHoldOf: 'c' }, left: undefined },
  { name: 'the annotation has other rules', held: { skipHoldOf: 'b' }, left: 300_000 },
  { name: 'no holdAbove, 11', ...unset, removal: { due: 11, removable: 100 }, left: 300_000 },
  { name: 'no holdAbove, 10', ...unset, removal: { due: 10, removable: 10 }, left: undefined },
  {
    name: 'no holdAbove, 15 of 150 that the rules could remove',
    ...unset,
    removal: { due: 15 },
    left: undefined,
  },
  {
    name: 'no holdAbove, 16 of 150 that the rules could remove',
    ...unset,
    removal: { due: 16 },
    left: 300_000,
  },
  {
    name: 'no holdAbove, whatever runs',
    ...unset,
    removal: { due: 37, governed: 9_000, removable: 37 },
    left: 300_000,
  },
])('$name: $left ms left', ({ removal = {}, held = {}, left, ...over }) =>
  expect(holdLeftMs({ ...enforced, ...held }, { ...rule, ...over }, { ...large, ...removal })).toBe(left),
);

test('never lasts longer than holdFor, and lets no pass remove more than holdAbove or half before its end', () => {
  const count = fc.integer({ min: 0, max: 1000 });
  const ms = fc.integer({ min: 0, max: 600_000 });
  fc.assert(
    fc.property(fc.tuple(count, count, count, ms, ms), ([above, due, governed, forMs, inForceForMs]) => {
      const left = holdLeftMs(enforced, { above, forMs }, { due, governed, removable: due, inForceForMs });
      if (left !== undefined) expect(inForceForMs + left).toBe(forMs);
      else if (above > 0 && inForceForMs < forMs)
        expect(due).toBeLessThanOrEqual(Math.max(above, governed / 2));
    }),
  );
});

const hold = { rulesId: 'c', since: '2026-01-15T12:00:00Z' };

test.each([
  { name: 'a complete record', status: { hold }, read: { rulesId: 'c', since: now } },
  { name: 'no status', status: undefined, read: undefined },
  { name: 'no record', status: {}, read: undefined },
  {
    name: 'a record of a generation',
    status: { hold: { generation: 3, since: hold.since } },
    read: undefined,
  },
  { name: 'a record without a time', status: { hold: { rulesId: 'c' } }, read: undefined },
  { name: 'a record with another text', status: { hold: { ...hold, since: 'today' } }, read: undefined },
])('reads from a status: $name', ({ status, read }) =>
  expect(inForceIn([{ name: 'a', status }]).get('a')).toEqual(read),
);

test.each([
  { name: 'of these rules', known: { rulesId: 'c', agoMs: 20_000 }, expected: 20_000 },
  {
    name: 'of these rules in the future: they begin now',
    known: { rulesId: 'c', agoMs: -20_000 },
    expected: 0,
  },
  { name: 'of other rules', known: { rulesId: 'b', agoMs: 20_000 }, expected: undefined },
  { name: 'missing', known: undefined, expected: undefined },
])('a record $name: in force for $expected ms', ({ known, expected }) => {
  const record = known && { rulesId: known.rulesId, since: new Date(now.getTime() - known.agoMs) };
  expect(inForceForMs(enforced, record, now)).toBe(expected);
  expect(inForceAt(enforced, record, now)).toEqual({
    rulesId: 'c',
    since: new Date(now.getTime() - (expected ?? 0)),
  });
});

const tripped = { type: 'Degraded', status: 'True', reason: 'Tripped' };
const pods = { missingNodes: 3 };
const conditions = (over: object): object => ({ conditions: [{ ...tripped, ...over }], pods });

test.each([
  { name: 'is open', status: { conditions: [{ type: 'Ready' }, tripped], pods }, expected: 3 },
  { name: 'is open, with an unknown number of nodes', status: { conditions: [tripped] }, expected: Infinity },
  {
    name: 'is open, with no number',
    status: { conditions: [tripped], pods: { missingNodes: '3' } },
    expected: Infinity,
  },
  { name: 'was open', status: conditions({ status: 'False' }), expected: undefined },
  { name: 'is not the trouble', status: conditions({ reason: 'DeletesFailed' }), expected: undefined },
  { name: 'is in another condition', status: conditions({ type: 'Ready' }), expected: undefined },
  { name: 'is closed, without conditions', status: { pods }, expected: undefined },
  { name: 'is closed, without a status', status: undefined, expected: undefined },
  {
    name: 'is closed, with conditions that are none',
    status: { conditions: [null, 1] },
    expected: undefined,
  },
])('the circuit breaker $name', ({ status, expected }) =>
  expect(openBreakersIn([{ name: 'default', status }]).get('default')).toBe(expected),
);
