import { expect, test } from 'vitest';
import { nameLines, topTable } from '../../../../src/commands/top/table.ts';
import {
  busyUsage,
  disk,
  facts,
  gib,
  image,
  inMinutes,
  namespace,
  now,
  pod,
  reported,
  withoutUsage,
  viewOf,
} from './fixtures.ts';

const piped = { now, width: undefined, colours: false, isWide: false };
const terminal = { ...piped, width: 120 };
const narrow = { ...piped, width: 80 };
const wide = { ...piped, isWide: true };

const twoDisks = {
  measuredTime: inMinutes(-2),
  namespaces: [namespace('team-a', 8, { layersBytes: 0, volumesBytes: 8 * gib, logsBytes: 0 })],
  fileSystems: [
    disk(20, { volumesBytes: 8 * gib }),
    disk(180, {
      name: 'imagefs',
      imagesUnusedBytes: 60 * gib,
      collectableBytes: 60 * gib,
      growthBytesPerHour: gib,
      fullTime: inMinutes(20 * 60),
    }),
  ],
};
const cluster = facts(
  [
    reported('node-1'),
    reported('node-2', twoDisks),
    withoutUsage('node-3'),
    reported('node-4', { ...busyUsage(60), measuredTime: inMinutes(-200) }),
    reported('node-5', {
      measuredTime: inMinutes(10),
      fileSystems: [disk(10, { availableBytes: 999 * gib })],
    }),
    reported('node-6', {
      measuredTime: inMinutes(-1),
      unknown: 'pods: the kubelet responded with status 403',
      fileSystems: [disk(50)],
    }),
  ],
  { nodes: new Set(['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6', 'node-7']) },
);
const bounded = facts([
  reported('node-1', {
    ...busyUsage(),
    podCount: 60,
    otherNamespaces: { count: 3, bytes: 2 * gib },
    otherImages: { count: 1, bytes: gib },
  }),
  reported('node-2', {
    ...busyUsage(),
    namespaces: [namespace('team-a', 1), namespace('true', 0.5, { logsBytes: undefined })],
    pods: [pod('true', 'web-0', 0.5, { limitBytes: 0 })],
    images: [image('registry.example.com/team-a/etl:2026.11.2', 6), image('', 1, { name: undefined })],
  }),
]);
const one = facts([reported('node-1')]);
const ofNode = { nodes: ['node-1'] };
const old = facts([withoutUsage('node-1')]);
const slow = facts([reported('node-1', { ...busyUsage(), forecast: undefined })]);

const tables = {
  'top nodes': topTable(viewOf('nodes', cluster), piped),
  'top nodes, on a terminal': topTable(viewOf('nodes', cluster), terminal),
  'top nodes, on a narrow terminal': topTable(viewOf('nodes', one), narrow),
  'top nodes -o wide': topTable(viewOf('nodes', one), wide),
  'top nodes, without the right to list nodes': topTable(
    viewOf('nodes', { ...one, nodes: undefined }),
    narrow,
  ),
  'top nodes, without a report': topTable(viewOf('nodes', facts([])), piped),
  'top namespaces --node, as in README': topTable(viewOf('namespaces', one, ofNode), piped),
  'top namespaces --node, on a terminal': topTable(viewOf('namespaces', one, ofNode), terminal),
  'top namespaces, more than a report has': topTable(viewOf('namespaces', bounded), wide),
  'top namespaces --node, without usage': topTable(viewOf('namespaces', old, ofNode), piped),
  'top namespaces --node, without a forecast': topTable(viewOf('namespaces', slow, ofNode), piped),
  'top pods -A, on a terminal': topTable(viewOf('pods', bounded), terminal),
  'top pods -n true -o wide': topTable(viewOf('pods', { ...bounded, namespace: 'true' }), wide),
  'top pods -l': topTable(
    viewOf('pods', { ...bounded, selected: new Set(['uid-web-0', 'uid-gone']) }),
    piped,
  ),
  'top images': topTable(viewOf('images', bounded), terminal),
  'top images -o wide': topTable(viewOf('images', bounded), wide),
  'top images, before the first pass of the agents': topTable(viewOf('images', old), piped),
  'top nodes -o name': nameLines(viewOf('nodes', bounded)),
  'top namespaces -o name': nameLines(viewOf('namespaces', bounded)),
  'top pods -o name': nameLines(viewOf('pods', bounded)),
  'top images -o name': nameLines(viewOf('images', bounded)),
};

test('the tables are those of the file', async () => {
  const texts = Object.entries(tables).map(([name, lines]) => `# ${name}\n\n${lines.join('\n')}\n`);
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/top.txt');
});

test('on a terminal, no line of a long name is wider than it', () => {
  const node = reported(`node-${'x'.repeat(80)}`);
  for (const kind of ['nodes', 'namespaces', 'pods', 'images'] as const)
    for (const width of [80, 120]) {
      const lines = topTable(viewOf(kind, facts([node])), { ...narrow, width });
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    }
});

test('only what is unknown is coloured', () => {
  const lines = topTable(viewOf('nodes', old), { ...piped, colours: true });
  expect(lines[0]).toMatch(/^\u001b\[31m! node-1: /);
  expect(lines.slice(2).join('')).not.toContain('\u001b');
});
