import { expect, test } from 'vitest';
import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import { reportData } from '../../../../src/commands/report/data.ts';
import { reportMarkdown } from '../../../../src/commands/report/markdown.ts';
import { usageSection } from '../../../../src/commands/report/usage-html.ts';
import { usageData, type UsageData } from '../../../../src/commands/report/usage.ts';
import type { ReportedUsage } from '../../../../src/kube/cache/node-usage.ts';
import type { PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { node } from '../../../builders.ts';
import { factsOf } from '../facts.ts';
import { plan } from '../plan/builders.ts';

const now = new Date('2026-01-15T12:00:00Z');
const gib = 2 ** 30;
const at = (hours: number): string => new Date(now.getTime() + hours * 3_600_000).toISOString();

/** Half of 100 GiB is available, and the classes are known. */
const disk = (over: Partial<NodeGCReportStatusUsageFileSystem> = {}): NodeGCReportStatusUsageFileSystem => ({
  name: 'nodefs',
  capacityBytes: 100 * gib,
  availableBytes: 50 * gib,
  usedBytes: 45 * gib,
  imagesInUseBytes: 5 * gib,
  imagesUnusedBytes: 15 * gib,
  otherBytes: 25 * gib,
  ...over,
});
const reported = (name: string, over: Partial<NodeGCReportStatusUsage> = {}): ReportedUsage => ({
  node: name,
  reportTime: at(0),
  usage: { measuredTime: at(0), fileSystems: [disk()], namespaces: [], ...over },
});
const olderAgent: ReportedUsage = { node: 'old', reportTime: at(0), usage: undefined };

const facts = (usage: readonly ReportedUsage[], nodes?: readonly string[]): PlanFacts => ({
  ...factsOf({ nodes: nodes?.map((name) => node(name)) }),
  usage,
});

function dataOf(usage: readonly ReportedUsage[], nodes?: readonly string[]): UsageData {
  const data = usageData(facts(usage, nodes), now);
  if (data === undefined) throw new Error('no usage');
  return data;
}

test('without a report and a node there is no usage', () => {
  expect(usageData(facts([]), now)).toBeUndefined();
});

test.each([
  [
    'classes add up to the used bytes; the rest is reserved',
    {},
    { imagesInUse: 5, imagesUnused: 15, other: 25, reserved: 5, free: 50 },
  ],
  [
    'without other, the rest of the used bytes is unknown',
    { imagesInUseBytes: undefined, otherBytes: undefined },
    { imagesUnused: 15, unknown: 30, reserved: 5, free: 50 },
  ],
  [
    'a file system without images does not have unknown bytes',
    { imagesInUseBytes: undefined, imagesUnusedBytes: undefined, otherBytes: 45 * gib },
    { other: 45, reserved: 5, free: 50 },
  ],
  [
    'measured at different moments, classes may exceed the used bytes',
    { volumesBytes: 10 * gib, availableBytes: 60 * gib },
    { imagesInUse: 5, imagesUnused: 15, volumes: 10, other: 25, free: 60 },
  ],
])('parts of a disk: %s', (_, over, parts) => {
  const [bar] = dataOf([reported('a', { fileSystems: [disk(over)] })]).disks;
  expect(Object.fromEntries(bar?.parts.map(({ part, bytes }) => [part, bytes / gib]) ?? [])).toEqual(parts);
});

test('disks: the fullest first, each file system by itself', () => {
  const images = disk({ name: 'imagefs', availableBytes: 20 * gib, usedBytes: 80 * gib });
  const { disks } = dataOf([reported('b'), reported('a'), reported('c', { fileSystems: [disk(), images] })]);
  expect(disks.map((one) => [one.node, one.name, one.usedPercent])).toEqual([
    ['c', 'imagefs', 80],
    ['a', 'nodefs', 50],
    ['b', 'nodefs', 50],
    ['c', 'nodefs', 50],
  ]);
});

test('namespaces: sums of the nodes that know them, the largest first', () => {
  const web = (bytes: number, growthBytesPerHour?: number) => ({
    name: 'web',
    pods: 1,
    bytes,
    growthBytesPerHour,
  });
  const db = { name: 'db', pods: 1, bytes: 9 };
  const { namespaces } = dataOf([
    reported('a', { namespaces: [web(3, 1), db] }),
    reported('b', { namespaces: [web(4, 2)] }),
    reported('c', { namespaces: undefined }),
    reported('d', { namespaces: [web(5)] }),
    olderAgent,
  ]);
  expect(namespaces).toEqual([
    { name: 'web', bytes: 12, nodes: 3, growthBytesPerHour: 3 },
    { name: 'db', bytes: 9, nodes: 1, growthBytesPerHour: undefined },
  ]);
});

const growing = { growthBytesPerHour: 5 * gib, fullTime: at(10) };
test.each([
  ['nothing grows, or it is unknown', {}, undefined],
  ['the collectable bytes are unknown', growing, [10, undefined, undefined]],
  ['collection keeps up', { ...growing, collectableBytes: 10 * gib }, [10, 40, Infinity]],
  [
    'collection gives time',
    { ...growing, collectableBytes: 10 * gib, fullAfterCollectionTime: at(12) },
    [10, 40, 12],
  ],
  [
    'the time has passed since the measurement',
    { ...growing, fullTime: at(-0.1), collectableBytes: 200 * gib, fullAfterCollectionTime: at(-0.1) },
    [0, 0, 0],
  ],
])('until a disk is full: %s', (_, over, curve) => {
  const [found] = dataOf([reported('a', { fileSystems: [disk(over)] })]).curves;
  const { usedPercent, fullInMs } = found?.afterCollection ?? {};
  const hours = (ms: number | undefined) => ms && ms / 3_600_000;
  expect(found && [hours(found.fullInMs), usedPercent, hours(fullInMs)]).toEqual(curve);
});

test('stale values are marked, and make no forecast', () => {
  const fileSystems = [disk(growing)];
  const { disks, curves } = dataOf([
    reported('a', { measuredTime: at(-0.3), fileSystems }),
    reported('b', { measuredTime: at(-0.2), fileSystems }),
    reported('c', { measuredTime: undefined, fileSystems }),
  ]);
  expect(disks.map(({ stale }) => stale)).toEqual([true, false, false]);
  expect(curves.map((one) => one.node)).toEqual(['b', 'c']);
});

test.each([
  ['nothing', [reported('a')], []],
  ['a node without a report', [], ['a, b, c and 1 more: there is no report.'], ['c', 'd', 'a', 'b']],
  ['an older agent', [olderAgent], ['old: the report has no usage of disks.']],
  ['impossible disks', [reported('a', { fileSystems: undefined })], ['a: the report has no usage of disks.']],
  [
    'an agent that has stopped',
    [reported('b', { measuredTime: at(-1) }), reported('a', { measuredTime: at(-2) })],
    ['a, b: the values are older than 15 minutes.'],
  ],
  [
    'pods, and why',
    [reported('a', { namespaces: undefined, unknown: 'pods: no response' })],
    ['a: unknown: pods: no response.', 'a: the report has no usage of namespaces.'],
  ],
  [
    'small namespaces',
    [reported('a', { otherNamespaces: { count: 3, bytes: 9 } })],
    ['a: the report lacks the smallest namespaces.'],
  ],
])('unknown: %s', (_, reports, unknown, nodes?: readonly string[]) => {
  expect(dataOf(reports, nodes).unknown).toEqual(unknown);
});

const everything: readonly ReportedUsage[] = [
  reported('node-1', {
    fileSystems: [
      disk({
        ...{ ...growing, availableBytes: 10 * gib, usedBytes: 85 * gib, collectableBytes: 15 * gib },
        ...{ layersBytes: 4 * gib, volumesBytes: 30 * gib, logsBytes: 5 * gib, orphansBytes: gib },
      }),
    ],
    namespaces: [
      { name: 'web', pods: 3, bytes: 30 * gib, growthBytesPerHour: gib },
      { name: 'db', pods: 1, bytes: 9 * gib },
    ],
  }),
  reported('node-2', { fileSystems: [disk({ name: 'imagefs', ...growing, otherBytes: undefined })] }),
  reported('node-3', { measuredTime: at(-1) }),
  olderAgent,
];

test('has these tables and texts', async () => {
  const usage = facts(everything, ['node-1', 'node-2', 'node-3', 'node-4', 'old']);
  const page = usageSection(dataOf(everything));
  const labels = [...page.matchAll(/aria-label="([^"]*)"/g)].map(([, label = '']) => label);
  const captions = [...page.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, caption = '']) => caption);
  const texts = [reportMarkdown(plan(), reportData(plan(), usage)), ...labels, ...captions, ''];
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/usage.txt');
});

test.each([
  { name: 'no disk is known', reports: [olderAgent], has: '>old: the report has no usage of disks.<' },
  { name: 'no disk grows', reports: [reported('a')], has: 'no disk will be full within a week' },
  {
    name: 'many disks',
    reports: Array.from({ length: 25 }, (_, i) => reported(`n${i}`, { fileSystems: [disk(growing)] })),
    has: '</tbody></table><p>And 5 more.</p>',
  },
])('the page: $name', ({ reports, has }) => {
  expect(usageSection(dataOf(reports))).toContain(has);
});
