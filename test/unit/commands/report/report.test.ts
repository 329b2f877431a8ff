import { describe, expect, test } from 'vitest';
import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import { reportData } from '../../../../src/commands/report/data.ts';
import { reportHtml } from '../../../../src/commands/report/html.ts';
import { reportMarkdown } from '../../../../src/commands/report/markdown.ts';
import { usageData } from '../../../../src/commands/report/usage.ts';
import type { Decision } from '../../../../src/evaluation/plan/document.ts';
import type { ReportedUsage } from '../../../../src/kube/cache/reports-with-usage.ts';
import type { NodePart, PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { minutesAgo, node, pod } from '../../../builders.ts';
import { factsOf, partOf } from '../facts.ts';
import { decision, plan } from '../plan/builders.ts';

describe('what the plan removes', () => {
  const ofPod = (name: string, over: Pick<Decision, 'verdict' | 'reason'> & Partial<Decision>): Decision => {
    const [namespace = '', own = ''] = name.split('/');
    return decision({
      ...{ unit: 'podgc', mode: 'Enforce', policy: 'p' },
      object: { kind: 'Pod', namespace, name: own, uid: name, node: 'node-1' },
      ...over,
    });
  };
  const removed = (name: string, detail: string): Decision =>
    decision({
      ...{ unit: 'imagegc', verdict: 'Remove', reason: 'Space', policy: 'q', order: 1, bytes: 7, detail },
      object: { kind: 'Image', id: 'sha256:a', node: 'node-1', name },
    });
  const hostile = removed('a`|b', 'See <b>@team</b> | *now*.');
  const due = { verdict: 'Delete', reason: 'Orphaned', order: 1 } as const;
  const quarantined = { verdict: 'Keep', reason: 'Quarantined', eligibleAt: '2026-01-15T12:00:40Z' } as const;
  const document = plan({
    decisions: [
      hostile,
      ofPod('web/due', due),
      ofPod('web/dry', { ...due, mode: 'DryRun' }),
      ofPod('web/later', quarantined),
      ofPod('web/far', { ...quarantined, eligibleAt: '2026-03-16T01:00:00Z' }),
      ofPod('db/c', { verdict: 'Keep', reason: 'NoPolicy', policy: null }),
      decision({
        ...{ unit: 'containergc', verdict: 'Warn', reason: 'LogTooLarge', policy: 'q' },
        object: { kind: 'LogFile', path: '/var/log/pods/x', node: 'node-2', pod: 'web/a' },
      }),
    ],
    policies: [{ name: 'p', mode: 'Enforce', planned: 2 }],
    changes: {
      ...{ more: [hostile], less: [], unknown: [] },
      modes: [{ policy: 'p', before: 'DryRun', after: 'Enforce' }],
    },
    notes: ['Nodes are not known.'],
  });

  const signal = (
    name: 'nodefs.available' | 'nodefs.inodesFree' | 'memory.available',
    available: number,
  ) => ({
    ...{ signal: name, available, capacity: 100, measuredAtMs: 1 },
  });
  const imageOf = (id: string, tags: string[], sizeBytes: number, digests: string[] = []) => ({
    ...{ id, tags, digests, sizeBytes, pinned: false, runtimeHandler: '' },
  });
  const log = (path: string, bytes: number) => ({ path, bytes, mtimeMs: 0 });
  const part = (name: string, over: Partial<NodePart>): NodePart =>
    partOf({ name, disk: undefined, ...over });
  const a = imageOf('sha256:a', ['a:1'], 5);
  const measured = part('node-1', {
    images: [a, imageOf('sha256:b', [], 9, ['b@sha256:1']), imageOf('sha256:c', [], 1)],
    disk: { capacityBytes: 1, availableBytes: 1 },
    usage: {
      ...{ atMs: 1, dedicatedImageFs: false, splitContainerFs: false, pods: new Map(), impossible: [] },
      claims: [],
      signals: [
        signal('nodefs.available', 50),
        signal('nodefs.inodesFree', 10),
        signal('memory.available', 0),
      ],
    },
    logs: {
      ...{ roots: { pods: '/logs', containers: '/links' }, directories: [], complete: true },
      entries: [
        ...[log('/logs/web_a_1/c/0.log', 3), log('/logs/web_a_1/c/1.log', 4), log('/logs/db_c_2/c/0.log', 5)],
        log('/links/x', 90),
      ],
    },
  });
  const plain = part('node-2', {
    images: [a],
    disk: { capacityBytes: 100, availableBytes: 20, inodes: 10, inodesFree: 9 },
  });
  const empty = part('node-3', { disk: { capacityBytes: 0, availableBytes: 0 } });
  const ending = (name: string, minutes: number, over: Parameters<typeof pod>[1] = {}) =>
    pod(name, {
      ...{ deletionAtMs: minutesAgo(minutes), deletionGracePeriodSeconds: 30, phase: 'Running' },
      ...{ uid: name, nodeName: 'gone', ...over },
    });
  const facts = {
    ...factsOf({
      pods: [
        ...[ending('web/due', 20), ending('web/later', 19), ending('web/dry', 18), ending('web/young', 9)],
        ending('db/c', 30, {
          deletionGracePeriodSeconds: 0,
          phase: 'Failed',
          finalizers: ['example.com/backup'],
        }),
      ],
    }),
    parts: [empty, measured, plain, part('node-4', {})],
  };

  test('is on one page, with stuck pods and values; no name or explanation is markup or a mention', async () => {
    const data = reportData(document, facts);
    expect(data.images.map(({ name, removedOn }) => [name, removedOn])).toContainEqual(['a:1', 1]);
    await expect(reportMarkdown(document, data)).toMatchFileSnapshot('./__snapshots__/markdown.txt');
  });

  test('counts a layer that images share once, with the last of them', () => {
    const [first, last] = ['sha256:a', 'sha256:b'];
    const bytes = { unique: 10, shared: 500, packed: 0, inexactBecause: undefined };
    const shares = [
      { images: [first, last], bytes: 500, heldBy: undefined },
      { images: [first], bytes: 10, heldBy: undefined },
      { images: [last], bytes: 10, heldBy: undefined },
    ];
    const space = {
      shares,
      images: new Map([first, last].map((id) => [id, bytes])),
      ownPins: new Map(),
      sandboxImages: new Set<string>(),
    };
    const young = (id: string, day: number): Decision =>
      decision({
        ...{ unit: 'imagegc', verdict: 'Keep', reason: 'TooYoung', bytes: 510 },
        object: { kind: 'Image', id, node: 'node-1', name: id },
        eligibleAt: `2026-01-${day}T12:00:00Z`,
      });
    const images = [imageOf(first, ['a:1'], 5), imageOf(last, ['b:1'], 9)];
    const shown = (...days: readonly [number, number]) =>
      reportData(plan({ decisions: [young(first, days[0]), young(last, days[1])] }), {
        ...facts,
        parts: [part('node-1', { images, space })],
      });
    expect(shown(17, 16).due.map((one) => one.bytes)).toEqual([10, 510]);
    expect(shown(16, 16).due.map((one) => one.bytes)).toEqual([520]);
    expect(shown(16, 16).images.map((one) => one.bytes)).toEqual([510, 510]);
  });

  test('marks what may be more, and says what is not known', () => {
    const unknown = [{ what: 'nodes', policy: 'p', nodes: ['node-2'], remedy: 'add --nodes' }] as const;
    const changes = { more: [], less: [], modes: [], unknown };
    const policies = [
      { name: 'p', mode: 'Enforce', planned: 2 },
      { name: 'q', mode: 'Enforce', planned: 1 },
    ] as const;
    const open = plan({ decisions: document.decisions, policies, unknown, changes });
    const lines = reportMarkdown(open, reportData(open, facts)).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringContaining('**≥ 3 to remove** (≥ 7 B on nodes), ≥ 1 warnings'),
        '**What would be removed on node node-2 is not known: add --nodes.**',
        '- p, in mode Enforce: at least 2 removals.',
        '- q, in mode Enforce: 1 removal.',
        'Compared with the policies in force: the difference on node node-2 is not known: add --nodes.',
        '| `p` | ≥ 2 | ? | ≥ 2 | ? |  |',
        '| `q` | 1 | 1 | 0 | 0 | 7 B |',
        '| `node-1` | 3 | 0 | 2 | 1 | 7 B |',
        '| `node-2` | ? | ≥ 1 | ? | ? |  |',
      ]),
    );
  });

  test('has the logs and the stuck pods of the shown pods alone', () => {
    const { logs, stuck } = reportData(document, facts, (one) => one === 'db/c');
    expect([...logs, ...stuck].map(({ name }) => name)).toEqual(['db_c_2 on node-1', 'db/c']);
  });

  test('fits a comment, whatever the cluster', () => {
    const detail = 'It has finished, and more finished pods exist than the policy keeps. '.repeat(3);
    const decisions = Array.from({ length: 5_000 }, (_, i) => removed(`app:${i}`, detail));
    const large = plan({ decisions });
    const text = reportMarkdown(large, reportData(large, factsOf({})));
    expect(text).toContain('And 4980 more.');
    expect(text.length).toBeLessThan(65_536);
  });
});

describe('what uses the disks', () => {
  const now = new Date('2026-01-15T12:00:00Z');
  const gib = 2 ** 30;
  const at = (hours: number): string => new Date(now.getTime() + hours * 3_600_000).toISOString();

  /** Half of 100 GiB is available, and the classes are known. */
  const disk = (
    over: Partial<NodeGCReportStatusUsageFileSystem> = {},
  ): NodeGCReportStatusUsageFileSystem => ({
    ...{ name: 'nodefs', capacityBytes: 100 * gib, availableBytes: 50 * gib, usedBytes: 45 * gib },
    ...{ imagesInUseBytes: 5 * gib, imagesUnusedBytes: 15 * gib, otherBytes: 25 * gib },
    ...over,
  });
  const reported = (name: string, over: Partial<NodeGCReportStatusUsage> = {}): ReportedUsage => ({
    node: name,
    reportTime: at(0),
    usage: { measuredTime: at(0), fileSystems: [disk()], namespaces: [], workloads: [], ...over },
  });
  const olderAgent: ReportedUsage = { node: 'old', reportTime: at(0), usage: undefined };
  const factsWith = (usage: readonly ReportedUsage[], nodes?: readonly string[]): PlanFacts => ({
    ...factsOf({ nodes: nodes?.map((name) => node(name)) }),
    usage,
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
      workloads: [
        {
          ...{ namespace: 'web', kind: 'Deployment', name: 'we|b', pods: 2, bytes: 6 * gib },
          ...{ highestBytes: 4 * gib, watchedSeconds: 604_800, limitBytes: 4 * gib },
          parts: [{ kind: 'container', name: '`main`', highestBytes: 4 * gib, limitBytes: 4 * gib }],
        },
        // Too new for a suggestion.
        { ...{ namespace: 'db', kind: 'StatefulSet', name: 'db', highestBytes: gib, watchedSeconds: 60 } },
      ],
      watchedSeconds: 604_800,
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
      workloads: undefined,
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

  test('is in these tables and texts', async () => {
    const facts = factsWith(everything, ['node-1', 'silent-3', 'silent-4', 'silent-1', 'silent-2']);
    const data = reportData(plan(), facts);
    const page = [...reportHtml(plan(), data)].join('');
    const labels = [...page.matchAll(/aria-label="([^"]*)"/g)].map(([, label = '']) => label);
    const texts = [reportMarkdown(plan(), data), ...labels, ''];
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/usage.txt');
  });

  test('is not shown without a report, and nothing is unknown about a node whose report has everything', () => {
    expect(usageData(factsWith([]), now)).toBeUndefined();
    expect(usageData(factsWith([reported('a')]), now)?.unknown).toEqual([]);
  });
});
