import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { Offender } from '../../../../src/api/report/node-pass.ts';
import { cut } from '../../../../src/agent/report/bounds.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { isStorageNews, isWorthWriting, storageLevels } from '../../../../src/agent/report/change.ts';
import { now } from '../../../builders.ts';
import { hostile } from '../../../hostile.ts';
import { facts, images, pass, passes } from './builders.ts';

const degraded = (over: Parameters<typeof facts>[0]): string | undefined =>
  planReport(facts(over), undefined, now).conditions?.find(({ type }) => type === 'Degraded')?.message;

test.each([
  { text: 'short', expected: 'short' },
  { text: ' a\n b ', expected: 'a b' },
  { text: '123456', expected: '1234…' },
  { text: '\u2028\t\u202e', expected: String.raw`\u20…` },
  { text: '😀😀😀😀', expected: '😀😀😀😀' },
  { text: '😀😀😀😀😀', expected: '😀😀😀😀😀' },
  { text: '😀😀😀😀😀😀', expected: '😀😀😀😀…' },
])('$text in five characters is $expected', ({ text, expected }) => {
  expect(cut(text, 5)).toBe(expected);
});

test('a report has what would clear a screen as text', () => {
  const report = planReport(
    facts({
      runtime: { name: hostile, version: hostile, apiVersion: 'v1' },
      passes: passes(pass('imagegc', { result: 'Failed', errors: 1, message: hostile })),
      images: images({ offenders: [offender({ id: hostile, name: hostile })] }),
    }),
    undefined,
    now,
  );
  const shown = String.raw`a\u001b[2Jb ERROR forged\u009b2Jc\u202egpj.exe d\u007f`;
  expect(report.runtime).toEqual({ name: shown, version: shown, apiVersion: 'v1' });
  expect(report.units?.[0]?.message).toBe(shown);
  expect(report.conditions?.[2]?.message).toBe(`imagegc failed (1 removals failed): ${shown}`);
  expect(report.largestOffenders?.[0]).toMatchObject({ id: shown, name: shown });
});

describe('the condition Degraded', () => {
  test('tells how many removals failed, and why where that is known', () => {
    const failed = pass('imagegc', { result: 'Failed', errors: 3 });
    expect(degraded({ passes: passes(failed) })).toBe('imagegc failed (3 removals failed)');
    expect(degraded({ passes: passes({ ...failed, message: 'EBUSY' }) })).toBe(
      'imagegc failed (3 removals failed): EBUSY',
    );
  });

  test.each([
    { reason: 'RuleOff', says: 'The policy has no rules for this node' },
    { reason: 'InvalidPolicy', says: 'The policy that governs this node cannot be followed' },
  ] as const)('tells of $reason without more', ({ reason, says }) => {
    expect(degraded({ governance: { kind: 'keep', reason, policy: undefined } })).toBe(says);
  });
});

const offender = (over: Partial<Offender>): Offender => ({
  ...{ kind: 'Image', id: undefined, name: undefined, namespace: undefined, bytes: 1, reason: undefined },
  ...over,
});

test('equal offenders are in one order, whatever the order they come in: by id, or else by name', () => {
  const all = [
    offender({}),
    offender({ name: 'm' }),
    offender({ id: 'x', name: 'a' }),
    offender({ id: 'b' }),
  ];
  const orderOf = (offenders: readonly Offender[]): unknown =>
    planReport(facts({ images: images({ offenders }) }), undefined, now).largestOffenders;
  expect(orderOf(all)).toMatchObject([{}, { id: 'b' }, { name: 'm' }, { id: 'x' }]);
  expect(orderOf(all.toReversed())).toEqual(orderOf(all));
});

describe('whether to write', () => {
  const given = { now, jitter: 0 };
  const next = planReport(facts(), undefined, now);

  test('a report without a time is as good as none', () => {
    const { reportTime, ...undated } = next;
    expect(reportTime).toBeDefined();
    expect(isWorthWriting(undated, next, given)).toBe(true);
  });

  test('a figure that is there for the first time is told after a minute', () => {
    const before = planReport(facts(), undefined, new Date(now.getTime() - 60_000));
    const after = planReport(facts({ snapshots: { count: 2 } }), undefined, now);
    expect(isWorthWriting(before, after, given)).toBe(true);
  });
});

type Warnings = NonNullable<NodeGCReportStatus['storageWarnings']>;

describe('warnings of a report that somebody else wrote', () => {
  const warning = (percent?: number): Warnings[number] => ({
    ...{ pod: { namespace: 'web', name: 'a', uid: 'uid-a' }, signal: 'emptydirfs.limit' },
    ...{ observedBytes: 1, limitBytes: 1, ...(percent !== undefined && { percent }) },
  });

  test.each([
    { name: 'one without a level is new', before: undefined, after: [warning()], news: true },
    {
      name: 'one without a level is none more than before',
      before: [warning()],
      after: [warning()],
      news: false,
    },
    { name: 'one that had no level has one', before: [warning()], after: [warning(80)], news: true },
  ])('$name', ({ before, after, news }) => {
    const status = (storageWarnings: Warnings | undefined): NodeGCReportStatus => ({
      ...(storageWarnings && { storageWarnings, storageWarningCount: storageWarnings.length }),
    });
    expect(isStorageNews(status(before), status(after))).toBe(news);
  });

  test('of more than are listed the number alone is news', () => {
    const more = (storageWarningCount?: number): NodeGCReportStatus => ({
      ...{ storageWarnings: [warning(80)] },
      ...(storageWarningCount !== undefined && { storageWarningCount }),
    });
    expect(isStorageNews({}, more(40))).toBe(true);
    expect(isStorageNews(more(40), more(40))).toBe(false);
  });

  test('a level that is not told counts as 0', () => {
    expect(storageLevels({ storageWarnings: [warning()] })).toBe(
      storageLevels({ storageWarnings: [warning(0)] }),
    );
  });
});
