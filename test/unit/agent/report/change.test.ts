import { describe, expect, test } from 'vitest';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusImagesPull,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import { isStorageChange, isWorthWriting, storageLevels } from '../../../../src/agent/report/change.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { minutesAgo, now, policy } from '../../../builders.ts';
import { keptBy } from '../builders.ts';
import {
  containers,
  disk,
  evictionRequest,
  facts,
  gib,
  images,
  leftovers,
  offender,
  pass,
  passes,
  removedItem,
  storageWarning,
} from './builders.ts';

/** The age of the last report in minutes, its facts and the next ones. */
type Row = [
  name: string,
  age: number,
  before?: Partial<ReportFacts>,
  next?: Partial<ReportFacts>,
  given?: { readonly jitter?: number; readonly isLast?: boolean },
];

const isWritten = (...[, age, before, next, given]: Row): boolean => {
  const previous = planReport(facts(before), undefined, new Date(minutesAgo(age)));
  const how = { now, jitter: 0, isLast: false, ...given };
  return isWorthWriting(previous, planReport(facts(next), previous, now), how);
};

const containerPass = pass('containergc');
const imagePass = (over: Parameters<typeof pass>[1]) => pass('imagegc', over);
const failed = { passes: passes(imagePass({ result: 'Failed' }), containerPass) };
const removed = { passes: passes(imagePass({ result: 'Succeeded', removed: 1 }), containerPass) };
const removable = (count: number, bytes: number) => ({ images: images({ removable: { count, bytes } }) });
const listing = (inUse: number) => ({
  images: images({ removeList: [{ image: 'a', matched: true, inUse, kept: 0, untagged: 0 }] }),
});
const unmatched = (...keep: number[]) => ({
  images: images({ unmatched: { keep, only: [], maximumAgeByImage: [], policy: policy() } }),
});
const pulling = (over: Partial<NodeGCReportStatusImagesPull>) => ({
  images: images({ pulls: [{ image: 'a', pods: ['default/web'], podCount: 1, fit: 'Fits', ...over }] }),
});
const restarted = { passes: [], images: undefined };
/** The largest first. */
const largeLogs = (...ids: readonly string[]): Partial<ReportFacts> => ({
  containers: {
    ...containers,
    offenders: ids.map((id, i) => offender({ kind: 'LogFile', id, bytes: gib - i })),
  },
});

const logSized = (bytes: number): Partial<ReportFacts> => ({
  lastRemoved: { images: [], others: [removedItem('LogFile', { bytes })] },
});

describe('is written', () => {
  test.each<Row>([
    ['after 5 min without a change', 5],
    ['after 6 min without a change, whatever the jitter', 6, {}, {}, { jitter: 0.99 }],
    ['at once when a condition changed', 1 / 60, {}, failed],
    ['a minute later, when the containers are known', 1, { containers: undefined }],
    ['a minute later, when the images are unknown', 1, {}, { images: undefined }],
    ['at once when another policy governs the node', 0, {}, { governance: keptBy('NoPolicy') }],
    ['a minute later, after a removal', 1, {}, removed],
    ['at once after a removal, when the agent stops', 0, {}, removed, { isLast: true }],
    ['a minute later, after a large change of numbers', 1, {}, removable(40, 2 * gib)],
    ['a minute later, with another log that is too large', 1, {}, largeLogs('a', 'b')],
    ['a minute later, when an image on the remove list is no longer in use', 1, listing(1), listing(0)],
    ['a minute later, when the entries that match no image are known', 1, {}, unmatched()],
    ['a minute later, with the first number of its kind', 1, {}, { leftovers: leftovers() }],
    ['at once, when an image that a pod waits for does not fit', 0, {}, pulling({ fit: 'Short' })],
    ['a minute later, when a pull has received much', 1, pulling({}), pulling({ receivedBytes: gib })],
    ['when the clock was set back', -60],
    ['5 min later, by an agent before its first pass', 5, {}, restarted],
  ])('%s', (...row) => {
    expect(isWritten(...row)).toBe(true);
  });

  test('without a report, or one without a readable time', () => {
    const next = planReport(facts(), undefined, now);
    for (const previous of [undefined, {}, { ...next, reportTime: 'yesterday' }])
      expect(isWorthWriting(previous, next, { now, jitter: 0, isLast: false })).toBe(true);
  });
});

describe('is not written', () => {
  test.each<Row>([
    ['without a change', 4.9],
    ['without a change, with jitter', 5.5, {}, {}, { jitter: 0.9 }],
    ['for another time of a pass', 4, {}, { passes: passes(imagePass({ at: new Date(0) }), containerPass) }],
    ['less than a minute later, after a removal', 0.5, {}, removed],
    [
      'for a small change of numbers',
      4,
      {},
      { imageDisk: disk(52), images: images({ total: { count: 12, bytes: 10 * gib } }) },
    ],
    ['for the sizes of the objects that were removed last, after a restart', 4, logSized(gib)],
    ['for an entry that matches an image again', 4, unmatched(1, 9), unmatched(9)],
    ['for another large image', 4, {}, { images: images({ offenders: [offender({ bytes: gib })] }) }],
    ['for a pull that fits', 4, {}, pulling({ receivedBytes: 1000 })],
    ['by an agent before its first pass', 4, {}, restarted],
  ])('%s', (...row) => {
    expect(isWritten(...row)).toBe(false);
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
/** A request whose measurement is so many minutes old. */
const measured = (minutes: number) => stored([], [`a ${minutes}`]);
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i} 80`);

const otherUsage = { storage: { ...nothing.storage, warnings: [storageWarning('a', { usedBytes: 84 })] } };

describe('about local storage, is written', () => {
  test.each<Row>([
    ['at once for a new request', 0, nothing, stored([], ['a'])],
    ['at once when a request is gone', 0, stored([], ['a']), nothing],
    [
      'at once for a new request, before the first pass too',
      0,
      nothing,
      { ...stored([], ['a']), ...restarted },
    ],
    ['at once when the usage is unknown', 0, stored([], ['a']), { storage: undefined }],
    [
      'a minute later for a newer measurement, as the controller ignores old ones',
      1,
      measured(1),
      measured(0),
    ],
    ['at once for a new warning', 0, nothing, stored(['a 80'])],
    ['at once for a higher level', 0, stored(['a 80']), stored(['a 95'])],
    ['at once for one more request, beyond the listed ones', 0, stored([], many(40)), stored([], many(41))],
  ])('%s', (...row) => {
    expect(isWritten(...row)).toBe(true);
  });
});

describe('about local storage, is not written', () => {
  test.each<Row>([
    ['for the same request, before the first pass', 4, measured(1), { ...measured(0), ...restarted }],
    ['for no request, before the first pass', 0, stored([], ['a']), restarted],
    ['at once for a newer measurement', 0.9, measured(1), measured(0)],
    ['for another usage on the same level', 4, stored(['a 80']), otherUsage],
    [
      'for another selection of more than can be listed',
      0,
      stored(many(40), many(40)),
      stored(many(40).toReversed(), many(40).toReversed()),
    ],
  ])('%s', (...row) => {
    expect(isWritten(...row)).toBe(false);
  });
});

test('a warning without a level, in a report that another program wrote, is on level 0', () => {
  const warning = { pod: { namespace: 'web', name: 'a', uid: 'u' }, signal: 'emptydirfs.limit' } as const;
  const status = (percent?: number, storageWarningCount = 1): NodeGCReportStatus => ({
    storageWarnings: [
      { ...warning, observedBytes: 1, limitBytes: 1, ...(percent !== undefined && { percent }) },
    ],
    storageWarningCount,
  });
  expect(storageLevels(status())).toBe(storageLevels(status(0)));
  const news = [{}, status(), status(80)].map((before) => isStorageChange(before, status()));
  expect(news).toEqual([true, false, false]);
  expect(isStorageChange(status(), status(80))).toBe(true);
  expect(isStorageChange({}, status(80, 40))).toBe(true);
});

describe('the usage of the node', () => {
  const half = { capacityBytes: 100 * gib, availableBytes: 50 * gib, usedBytes: 50 * gib };
  const one = { namespace: 'a', name: 'p', uid: 'u', bytes: 10 * gib };
  const namespace = { name: 'nodefs', pods: 1, bytes: 10 * gib, growthBytesPerHour: gib };
  const marked = (highestBytes: number, bytes = 0) => ({
    ...{ namespace: 'a', kind: 'Job', name: 'j', watchedSeconds: 60, highestBytes, bytes },
  });
  const usage: NodeGCReportStatus['usage'] = {
    fileSystems: [{ name: 'nodefs', ...half }],
    pods: [one],
    namespaces: [namespace],
    images: [{ id: 'i', bytes: 10 * gib, inUse: true }],
    workloads: [marked(10 * gib)],
  };
  const sized = (bytes: number) => ({ ...usage, pods: [{ ...one, bytes }] });
  const claimed = (usedBytes: number): typeof usage => ({
    ...usage,
    volumes: [{ kind: 'pvc', namespace: 'a', pod: 'p', name: 'data', usedBytes }],
  });

  test.each([
    ['the first one', undefined, usage, true],
    ['no change', usage, usage, false],
    ['something is unknown now', usage, { ...usage, unknown: 'logs: EIO' }, true],
    ['a pod that grew by 4 %', usage, sized(10.4 * gib), false],
    ['a pod that grew by 6 %', usage, sized(10.7 * gib), true],
    ['a new pod', usage, { ...usage, pods: [one, { ...one, uid: 'v' }] }, true],
    ['a pod that is gone', usage, { ...usage, pods: [] }, true],
    ['a higher mark of a workload', usage, { ...usage, workloads: [marked(11 * gib)] }, true],
    ['a workload that uses more', usage, { ...usage, workloads: [marked(10 * gib, 9 * gib)] }, false],
    ['a volume that grew by 6 %', claimed(10 * gib), claimed(10.7 * gib), true],
    ['the last one, after a restart of the agent', usage, undefined, false],
  ])('whether it is written: %s', (name, before, next, expected) => {
    expect(isWritten(name, 1, { usage: before }, { usage: next })).toBe(expected);
  });

  test('without disks counts by its size alone', () => {
    const [small, larger] = [1024, 4096].map((bytes) => ({ usage: { pods: [{ ...one, bytes }] } }));
    expect(isWritten('', 1, small, larger)).toBe(false);
  });
});
