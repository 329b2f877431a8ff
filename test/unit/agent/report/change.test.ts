import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { isStorageChange, isWorthWriting, storageLevels } from '../../../../src/agent/report/change.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { minutesAgo, now, policy } from '../../../builders.ts';
import {
  containers,
  disk,
  evictionRequest,
  facts,
  gib,
  images,
  offender,
  pass,
  passes,
  removedObject,
  storageWarning,
} from './builders.ts';

interface Row {
  readonly name: string;
  /** Age of the last report in minutes. */
  readonly age: number;
  readonly before?: Partial<ReportFacts>;
  readonly next?: Partial<ReportFacts>;
  readonly jitter?: number;
  readonly isLast?: boolean;
}

const isWritten = ({ age, before, next, jitter = 0, isLast = false }: Row): boolean => {
  const previous = planReport(facts(before), undefined, new Date(minutesAgo(age)));
  return isWorthWriting(previous, planReport(facts(next), previous, now), { now, jitter, isLast });
};

const containerPass = pass('containergc');
const failed = { passes: passes(pass('imagegc', { result: 'Failed' }), containerPass) };
const removed = { passes: passes(pass('imagegc', { result: 'Succeeded', removed: 1 }), containerPass) };
const restarted = { passes: [], images: undefined };
/** The largest first. */
const largeLogs = (...ids: readonly string[]): Partial<ReportFacts> => ({
  containers: {
    ...containers,
    offenders: ids.map((id, i) => offender({ kind: 'LogFile', id, bytes: gib - i })),
  },
});

describe('is written', () => {
  test.each<Row>([
    { name: 'after 5 min without a change', age: 5 },
    { name: 'after 6 min without a change, whatever the jitter', age: 6, jitter: 0.99 },
    { name: 'at once when a condition changed', age: 1 / 60, next: failed },
    { name: 'a minute later, when the containers are known', age: 1, before: { containers: undefined } },
    {
      name: 'at once when another policy governs the node',
      age: 0,
      next: { governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined } },
    },
    {
      name: 'at once when the runtime was replaced',
      age: 0,
      next: { runtime: { name: 'containerd', version: 'v3', apiVersion: 'v1' } },
    },
    { name: 'a minute later, after a removal', age: 1, next: removed },
    { name: 'at once after a removal, when the agent stops', age: 0, next: removed, isLast: true },
    {
      name: 'a minute later, after a large change of numbers',
      age: 1,
      next: { images: images({ removable: { count: 40, bytes: 2 * gib } }) },
    },
    { name: 'a minute later, with another log that is too large', age: 1, next: largeLogs('a', 'b') },
    { name: 'a minute later, without a log that was too large', age: 1, before: largeLogs('a') },
    { name: 'a minute later, when the images are unknown', age: 1, next: { images: undefined } },
    { name: 'a minute later, with the first number of its kind', age: 1, next: { snapshots: { count: 2 } } },
    { name: 'when the clock was set back', age: -60 },
    { name: '5 min later, by an agent before its first pass', age: 5, next: restarted },
  ])('$name', (row) => {
    expect(isWritten(row)).toBe(true);
  });

  test('without a report, or one without a readable time', () => {
    const next = planReport(facts(), undefined, now);
    const { reportTime, ...undated } = next;
    expect(reportTime).toBeDefined();
    for (const previous of [undefined, undated, { ...undated, reportTime: 'yesterday' }])
      expect(isWorthWriting(previous, next, { now, jitter: 0, isLast: false })).toBe(true);
  });
});

describe('is not written', () => {
  test.each<Row>([
    { name: 'without a change', age: 4.9 },
    { name: 'without a change, when the agent stops', age: 0.5, isLast: true },
    { name: 'without a change, with jitter', age: 5.5, jitter: 0.9 },
    {
      name: 'for another time of a pass',
      age: 4,
      next: { passes: passes(pass('imagegc', { at: new Date(0) }), containerPass) },
    },
    { name: 'less than a minute later, after a removal', age: 0.5, next: removed },
    {
      name: 'for a small change of numbers',
      age: 4,
      next: { imageDisk: disk(52), images: images({ total: { count: 12, bytes: 10 * gib } }) },
    },
    {
      name: 'for another text of a size that changed little',
      age: 4,
      before: { images: images({ removable: { count: 2, bytes: 2 * gib } }) },
      next: { images: images({ removable: { count: 2, bytes: 2.1 * gib } }) },
    },
    { name: 'less than a minute later, with another log that is too large', age: 0.9, next: largeLogs('a') },
    { name: 'for the order of large logs', age: 4, before: largeLogs('a', 'b'), next: largeLogs('b', 'a') },
    {
      name: 'for the sizes of the objects that were removed last, after a restart',
      age: 4,
      before: { lastRemoved: { images: [], others: [removedObject('LogFile', { bytes: gib })] } },
    },
    {
      name: 'for another large image',
      age: 4,
      next: { images: images({ offenders: [offender({ id: 'sha256:a', bytes: gib })] }) },
    },
    { name: 'less than a minute later, for a large change', age: 0.9, next: { imageDisk: disk(60) } },
    { name: 'by an agent before its first pass', age: 4, next: restarted },
  ])('$name', (row) => {
    expect(isWritten(row)).toBe(false);
  });
});

const { uid: policyUid, generation } = policy();

/** Warnings as `pod level`, requests as `pod minutes-since-measured`. */
const stored = (warned: readonly string[], requested: readonly string[] = []) => ({
  storage: {
    warnings: warned.map((text) => {
      const [pod = '', percent] = text.split(' ');
      return storageWarning(pod, { percent: Number(percent) });
    }),
    evictionRequests: requested.map((text) => {
      const [pod = '', minutes = '0'] = text.split(' ');
      return evictionRequest(pod, { observedAtMs: minutesAgo(Number(minutes)) });
    }),
    offenders: [],
    policy: { uid: policyUid, generation },
  },
});
const nothing = stored([]);
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i} 80`);

describe('about local storage, is written', () => {
  test.each<Row>([
    { name: 'at once for a new request', age: 0, before: nothing, next: stored([], ['a']) },
    { name: 'at once when a request is gone', age: 0, before: stored([], ['a']), next: nothing },
    {
      name: 'at once for a new request, before the first pass too',
      age: 0,
      before: nothing,
      next: { ...stored([], ['a']), ...restarted },
    },
    { name: 'at once for another pod', age: 0, before: stored([], ['a']), next: stored([], ['b']) },
    {
      name: 'at once when the usage is unknown',
      age: 0,
      before: stored([], ['a']),
      next: { storage: undefined },
    },
    {
      name: 'a minute later for a newer measurement: the controller ignores old ones',
      age: 1,
      before: stored([], ['a 1']),
      next: stored([], ['a 0']),
    },
    { name: 'at once for a new warning', age: 0, before: nothing, next: stored(['a 80']) },
    { name: 'at once for a higher level', age: 0, before: stored(['a 80']), next: stored(['a 95']) },
    { name: 'a minute later for a lower level', age: 1, before: stored(['a 95']), next: stored(['a 80']) },
    { name: 'a minute after a warning ended', age: 1, before: stored(['a 80']), next: nothing },
    {
      name: 'at once for one more request than before, beyond the listed ones',
      age: 0,
      before: stored([], many(40)),
      next: stored([], many(41)),
    },
  ])('$name', (row) => {
    expect(isWritten(row)).toBe(true);
  });
});

describe('about local storage, is not written', () => {
  test.each<Row>([
    {
      name: 'for the same request, before the first pass',
      age: 4,
      before: stored([], ['a 1']),
      next: { ...stored([], ['a 0']), ...restarted },
    },
    { name: 'for no request, before the first pass', age: 0, before: stored([], ['a']), next: restarted },
    { name: 'for another order', age: 2, before: stored([], ['a', 'b']), next: stored([], ['b', 'a']) },
    {
      name: 'at once for a newer measurement',
      age: 0.9,
      before: stored([], ['a 1']),
      next: stored([], ['a 0']),
    },
    { name: 'at once for a lower level', age: 0.5, before: stored(['a 95']), next: stored(['a 80']) },
    { name: 'at once when a warning ended', age: 0.5, before: stored(['a 80']), next: nothing },
    {
      name: 'for another usage on the same level',
      age: 4,
      before: stored(['a 80']),
      next: { storage: { ...nothing.storage, warnings: [storageWarning('a', { usedBytes: 84 })] } },
    },
    {
      name: 'for another selection of more than can be listed',
      age: 0,
      before: stored(many(40), many(40)),
      next: stored(many(40).toReversed(), many(40).toReversed()),
    },
  ])('$name', (row) => {
    expect(isWritten(row)).toBe(false);
  });
});

type Warnings = NonNullable<NodeGCReportStatus['storageWarnings']>;

describe('warnings of a report that another program wrote', () => {
  const warning = (percent?: number): Warnings[number] => ({
    ...{ pod: { namespace: 'web', name: 'a', uid: 'uid-a' }, signal: 'emptydirfs.limit' },
    ...{ observedBytes: 1, limitBytes: 1, ...(percent !== undefined && { percent }) },
  });
  const status = (storageWarnings: Warnings, count = storageWarnings.length): NodeGCReportStatus => ({
    storageWarnings,
    storageWarningCount: count,
  });

  test.each([
    { name: 'a warning without a level is new', before: {}, after: [warning()], news: true },
    {
      name: 'a warning without a level is not new',
      before: status([warning()]),
      after: [warning()],
      news: false,
    },
    { name: 'a warning gets a level', before: status([warning()]), after: [warning(80)], news: true },
  ])('$name', ({ before, after, news }) => {
    expect(isStorageChange(before, status(after))).toBe(news);
  });

  test('only the number counts if not all are listed', () => {
    const more = status([warning(80)], 40);
    expect(isStorageChange({}, more)).toBe(true);
    expect(isStorageChange(more, more)).toBe(false);
  });

  test('a missing level counts as 0', () => {
    const [missing, zero] = [status([warning()]), status([warning(0)])];
    expect(storageLevels(missing)).toBe(storageLevels(zero));
  });
});

describe('the usage of the node', () => {
  const disk = {
    name: 'nodefs' as const,
    capacityBytes: 100 * gib,
    availableBytes: 50 * gib,
    usedBytes: 50 * gib,
  };
  const one = { namespace: 'a', name: 'p', uid: 'u', bytes: 10 * gib };
  const namespace = { name: 'nodefs', pods: 1, bytes: 10 * gib, growthBytesPerHour: gib };
  const usage: NodeGCReportStatus['usage'] = {
    fileSystems: [disk],
    pods: [one],
    namespaces: [namespace],
    images: [{ id: 'i', bytes: 10 * gib, inUse: true }],
  };

  test.each([
    { name: 'the first one', before: undefined, next: usage, expected: true },
    { name: 'no change', before: usage, next: usage, expected: false },
    {
      name: 'something is unknown now',
      before: usage,
      next: { ...usage, unknown: 'logs: EIO' },
      expected: true,
    },
    {
      name: 'a pod that grew by 4 %',
      before: usage,
      next: { ...usage, pods: [{ ...one, bytes: 10.4 * gib }] },
      expected: false,
    },
    {
      name: 'a pod that grew by 6 %',
      before: usage,
      next: { ...usage, pods: [{ ...one, bytes: 10.7 * gib }] },
      expected: true,
    },
    {
      name: 'a new pod',
      before: usage,
      next: { ...usage, pods: [one, { ...one, uid: 'v' }] },
      expected: true,
    },
    { name: 'a pod that is gone', before: usage, next: { ...usage, pods: [] }, expected: true },
    {
      name: 'a growth alone',
      before: usage,
      next: { ...usage, namespaces: [{ ...namespace, growthBytesPerHour: 5 * gib }] },
      expected: false,
    },
    {
      name: 'the last one, after a restart of the agent',
      before: usage,
      next: undefined,
      expected: false,
    },
  ])('$name: written after a minute $expected', ({ before, next, expected }) => {
    expect(isWritten({ name: '', age: 1, before: { usage: before }, next: { usage: next } })).toBe(expected);
  });

  test('without disks counts by its size alone', () => {
    const small = { pods: [{ ...one, bytes: 1024 }] };
    const next = { usage: { pods: [{ ...one, bytes: 4096 }] } };
    expect(isWritten({ name: '', age: 1, before: { usage: small }, next })).toBe(false);
  });
});
