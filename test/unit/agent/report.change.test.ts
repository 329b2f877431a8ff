import { expect, test } from 'vitest';
import { isWorthWriting } from '../../../src/agent/report/change.ts';
import type { ReportFacts } from '../../../src/agent/report/facts.ts';
import { planReport } from '../../../src/agent/report/plan.ts';
import { minutesAgo, now } from '../../builders.ts';
import { disk, facts, governed, images, pass, passes, gib } from './report.world.ts';

const failed = { passes: passes(pass('imagegc', { result: 'Failed' }), pass('containergc')) };
const removed = { passes: passes(pass('imagegc', { result: 'Succeeded', removed: 1 }), pass('containergc')) };

test.each<{
  name: string;
  /** Of the last report, in minutes. */
  age: number;
  next?: Partial<ReportFacts>;
  jitter?: number;
  expected: boolean;
}>([
  { name: 'nothing changed', age: 4.9, expected: false },
  {
    name: 'another time of a pass alone',
    age: 4,
    next: { passes: passes(pass('imagegc', { at: new Date(0) }), pass('containergc')) },
    expected: false,
  },
  { name: 'nothing changed for 5 min', age: 5, expected: true },
  { name: 'nothing changed for 5 min, an agent that waits longer', age: 5.5, jitter: 0.9, expected: false },
  { name: 'even that one after 6 min', age: 6, jitter: 0.99, expected: true },
  { name: 'a condition turned a second ago', age: 1 / 60, next: failed, expected: true },
  {
    name: 'another policy governs',
    age: 0,
    next: { governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined } },
    expected: true,
  },
  {
    name: 'the runtime was replaced',
    age: 0,
    next: { runtime: { name: 'containerd', version: 'v3', apiVersion: 'v1' } },
    expected: true,
  },
  { name: 'something was removed just now', age: 0.5, next: removed, expected: false },
  { name: 'something was removed, a minute after the last report', age: 1, next: removed, expected: true },
  {
    name: 'figures moved a little',
    age: 4,
    next: { imageDisk: disk(52), images: images({ total: { count: 12, bytes: 10 * gib } }) },
    expected: false,
  },
  {
    name: 'figures moved much',
    age: 1,
    next: { images: images({ removable: { count: 40, bytes: 2 * gib } }) },
    expected: true,
  },
  {
    name: 'figures moved much, right after a report',
    age: 0.9,
    next: { imageDisk: disk(60) },
    expected: false,
  },
  { name: 'images are not known any more', age: 1, next: { images: undefined }, expected: true },
  { name: 'the clock was set back', age: -60, expected: true },
  {
    name: 'an agent that has just started and knows nothing yet',
    age: 4,
    next: { passes: [], images: undefined },
    expected: false,
  },
  {
    name: 'one that still knows nothing after 5 min',
    age: 5,
    next: { passes: [], images: undefined },
    expected: true,
  },
])('$name: $expected', ({ age, next = {}, jitter = 0, expected }) => {
  const previous = planReport(facts(), undefined, new Date(minutesAgo(age)));
  const given = { now, jitter };
  expect(isWorthWriting(previous, planReport(facts(next), previous, now), given)).toBe(expected);
});

test('the first report is written, and one after a report that cannot be read', () => {
  const next = planReport(facts({ governance: governed() }), undefined, now);
  expect(isWorthWriting(undefined, next, { now, jitter: 0 })).toBe(true);
  expect(isWorthWriting({ ...next, reportTime: 'yesterday' }, next, { now, jitter: 0 })).toBe(true);
});
