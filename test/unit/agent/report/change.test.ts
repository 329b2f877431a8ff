import { expect, test } from 'vitest';
import { isWorthWriting } from '../../../../src/agent/report/change.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { minutesAgo, now, policy } from '../../../builders.ts';
import {
  disk,
  evictionRequest,
  facts,
  governed,
  images,
  pass,
  passes,
  gib,
  storageWarning,
} from './builders.ts';

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

const { uid: policyUid, generation } = policy();

const stored = (warned: readonly string[], asked: readonly string[] = []) => ({
  storage: {
    warnings: warned.map((name) => {
      const [pod = '', percent] = name.split(' ');
      return storageWarning(pod, { percent: Number(percent) });
    }),
    evictionRequests: asked.map((name) => {
      const [pod = '', minutes = '0'] = name.split(' ');
      return evictionRequest(pod, { observedAtMs: minutesAgo(Number(minutes)) });
    }),
    offenders: [],
    policy: { uid: policyUid, generation },
  },
});
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i} 80`);

test.each<{
  readonly name: string;
  readonly age: number;
  readonly before: Partial<ReportFacts>;
  readonly next: Partial<ReportFacts>;
  readonly expected: boolean;
}>([
  { name: 'a new request', age: 0, before: stored([]), next: stored([], ['a']), expected: true },
  { name: 'a request that is gone', age: 0, before: stored([], ['a']), next: stored([]), expected: true },
  {
    name: 'a new request, of an agent that has just started',
    age: 0,
    before: stored([]),
    next: { ...stored([], ['a']), passes: [], images: undefined },
    expected: true,
  },
  {
    name: 'the same request, of an agent that has just started',
    age: 4,
    before: stored([], ['a 1']),
    next: { ...stored([], ['a 0']), passes: [], images: undefined },
    expected: false,
  },
  {
    name: 'no request yet, of an agent that has just started',
    age: 0,
    before: stored([], ['a']),
    next: { passes: [], images: undefined },
    expected: false,
  },
  { name: 'another pod', age: 0, before: stored([], ['a']), next: stored([], ['b']), expected: true },
  {
    name: 'requests that are not known any more',
    age: 0,
    before: stored([], ['a']),
    next: { storage: undefined },
    expected: true,
  },
  {
    name: 'another order',
    age: 2,
    before: stored([], ['a', 'b']),
    next: stored([], ['b', 'a']),
    expected: false,
  },
  {
    name: 'a fresher figure of a request, right after a report',
    age: 0.9,
    before: stored([], ['a 1']),
    next: stored([], ['a 0']),
    expected: false,
  },
  {
    name: 'a fresher figure of a request, a minute later: else it would not be believed',
    age: 1,
    before: stored([], ['a 1']),
    next: stored([], ['a 0']),
    expected: true,
  },
  { name: 'a new warning', age: 0, before: stored([]), next: stored(['a 80']), expected: true },
  { name: 'a higher level', age: 0, before: stored(['a 80']), next: stored(['a 95']), expected: true },
  {
    name: 'a lower level, right after',
    age: 0.5,
    before: stored(['a 95']),
    next: stored(['a 80']),
    expected: false,
  },
  {
    name: 'a lower level, a minute later',
    age: 1,
    before: stored(['a 95']),
    next: stored(['a 80']),
    expected: true,
  },
  {
    name: 'a warning that is over, right after',
    age: 0.5,
    before: stored(['a 80']),
    next: stored([]),
    expected: false,
  },
  {
    name: 'a warning that is over, a minute later',
    age: 1,
    before: stored(['a 80']),
    next: stored([]),
    expected: true,
  },
  {
    name: 'figures of a warning',
    age: 4,
    before: stored(['a 80']),
    next: { storage: { ...stored([]).storage, warnings: [storageWarning('a', { usedBytes: 84 })] } },
    expected: false,
  },
  {
    name: 'of more than can be listed, others are',
    age: 0,
    before: stored(many(40), many(40)),
    next: stored(many(40).toReversed(), many(40).toReversed()),
    expected: false,
  },
  {
    name: 'of more than can be listed, one more',
    age: 0,
    before: stored([], many(40)),
    next: stored([], many(41)),
    expected: true,
  },
])('local storage: $name: $expected', ({ age, before, next, expected }) => {
  const previous = planReport(facts(before), undefined, new Date(minutesAgo(age)));
  const given = { now, jitter: 0 };
  expect(isWorthWriting(previous, planReport(facts(next), previous, now), given)).toBe(expected);
});

test('the first report is written, and one after a report that cannot be read', () => {
  const next = planReport(facts({ governance: governed() }), undefined, now);
  expect(isWorthWriting(undefined, next, { now, jitter: 0 })).toBe(true);
  expect(isWorthWriting({ ...next, reportTime: 'yesterday' }, next, { now, jitter: 0 })).toBe(true);
});
