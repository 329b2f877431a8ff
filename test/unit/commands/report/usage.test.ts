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

const growing = { growthBytesPerHour: 5 * gib, fullTime: at(10) };
const everything: readonly ReportedUsage[] = [
  // Collection keeps up.
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
  // Two disks: a part of the second is unknown, and collection gives time.
  reported('node-2', {
    fileSystems: [
      disk(),
      disk({
        ...{ name: 'imagefs', ...growing, imagesInUseBytes: undefined, otherBytes: undefined },
        ...{ collectableBytes: 10 * gib, fullAfterCollectionTime: at(12) },
      }),
    ],
    namespaces: [{ name: 'web', pods: 1, bytes: 12 * gib, growthBytesPerHour: 2 * gib }],
  }),
  reported('stale', { measuredTime: at(-0.3), fileSystems: [disk(growing)] }),
  // No images are on this disk, and it is not known what can be collected.
  reported('partly', {
    ...{ measuredTime: undefined, namespaces: undefined, unknown: 'pods: no response' },
    fileSystems: [
      disk({
        ...{ ...growing, imagesInUseBytes: undefined, imagesUnusedBytes: undefined, otherBytes: 45 * gib },
      }),
    ],
  }),
  // Measured at different moments, the classes exceed the used bytes; and the disk should be full by now.
  reported('moments', {
    ...{ measuredTime: at(-0.2), otherNamespaces: { count: 3, bytes: 9 } },
    fileSystems: [
      disk({
        ...{ ...growing, volumesBytes: 10 * gib, availableBytes: 60 * gib, fullTime: at(-0.1) },
        ...{ collectableBytes: 200 * gib, fullAfterCollectionTime: at(-0.1) },
      }),
    ],
  }),
  reported('impossible', { fileSystems: undefined }),
  olderAgent,
];

test('has these tables and texts', async () => {
  const usage = facts(everything, ['node-1', 'silent-3', 'silent-4', 'silent-1', 'silent-2']);
  const page = usageSection(dataOf(everything));
  const labels = [...page.matchAll(/aria-label="([^"]*)"/g)].map(([, label = '']) => label);
  const captions = [...page.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, caption = '']) => caption);
  const texts = [reportMarkdown(plan(), reportData(plan(), usage)), ...labels, ...captions, ''];
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/usage.txt');
});

test('nothing is unknown about a node whose report has everything', () => {
  expect(dataOf([reported('a')]).unknown).toEqual([]);
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
