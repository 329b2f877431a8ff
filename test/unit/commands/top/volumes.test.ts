import { describe, expect, test } from 'vitest';
import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageVolume,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { TopFacts } from '../../../../src/commands/top/rows.ts';
import { nameLines } from '../../../../src/commands/top/names.ts';
import { topTable } from '../../../../src/commands/top/table.ts';
import { topView, type TopView } from '../../../../src/commands/top/view.ts';
import { factsOf, gib, marked, now } from './marked-nodes.ts';

type Volume = NodeGCReportStatusUsageVolume;

const at = (minutes: number): string =>
  new Date(now.getTime() + minutes * 60_000).toISOString().replace('.000Z', 'Z');

/** A claim of 10 GiB, measured two minutes ago. */
const claim = (name: string, usedGib: number, more: Partial<Volume> = {}): Volume => ({
  ...{ kind: 'pvc', namespace: 'shop', pod: `${name}-0`, name, pods: 1, usedBytes: usedGib * gib },
  ...{ limitBytes: 10 * gib, usedPercent: 10 * usedGib, inodesPercent: 1, measuredTime: at(-2) },
  ...more,
});

const emptyDir = (pod: string, usedGib: number, more: Partial<Volume> = {}): Volume => ({
  ...{ kind: 'emptyDir', namespace: 'shop', pod, name: 'tmp', pods: 1, usedBytes: usedGib * gib },
  measuredTime: at(-1),
  ...more,
});

const on = (node: string, volumes: Volume[] | undefined, more: Partial<NodeGCReportStatusUsage> = {}) =>
  marked(node, [], { volumes, ...more });

type VolumesView = TopView & { readonly kind: 'TopVolumes' };

function viewOf(given: TopFacts, sortBy = 'percent'): VolumesView {
  const unset = { namespace: undefined, nodes: undefined, selector: undefined };
  const view = topView(given, { kind: 'volumes', sortBy, isCurrentNamespace: false, ...unset }, now);
  if (view.kind !== 'TopVolumes') throw new Error('not volumes');
  return view;
}

describe('rows', () => {
  test('a claim on several nodes is there once, with the newest values', () => {
    const { items } = viewOf(
      factsOf([
        on('node-1', [claim('data', 1, { pods: 2 })]),
        on('node-2', [claim('data', 3, { pod: 'web-9', measuredTime: at(-1) })]),
        on('node-3', [claim('data', 2, { measuredTime: undefined })], { measuredTime: at(-3) }),
      ]),
    );
    expect(items).toHaveLength(1);
    expect(items).toMatchObject([
      {
        usedBytes: 3 * gib,
        pod: 'web-9',
        pods: 4,
        nodes: ['node-2', 'node-1', 'node-3'],
        measuredTime: at(-1),
      },
    ]);
  });

  test.each([
    ['values of a report that is stale', { measuredTime: at(-20) }, { measuredTime: at(-19) }],
    ['values of a report that is ahead', { measuredTime: at(20) }, { measuredTime: at(20) }],
    ['a measurement that is older than its report', {}, { measuredTime: at(-17) }],
  ])('without %s, where there are others', (_, usage, volume) => {
    const stale = on('node-1', [claim('data', 1, volume)], usage);
    expect(viewOf(factsOf([stale])).items).toMatchObject([{ stale: true, nodes: ['node-1'], pods: 1 }]);
    const { items } = viewOf(factsOf([stale, on('node-2', [claim('data', 2)])]));
    expect(items).toMatchObject([{ stale: false, nodes: ['node-2'], pods: 1, usedBytes: 2 * gib }]);
  });

  test.each([
    ['lists no volumes', on('node-2', undefined), true],
    ['does not list all', on('node-2', [], { otherVolumes: { count: 1 } }), true],
    ['lists all', on('node-2', []), false],
    ['lists it, but not all others', on('node-2', [claim('data', 1)], { otherVolumes: { count: 1 } }), false],
  ])('more pods may mount a claim where another node %s, but not an emptyDir', (_, other, expected) => {
    const { items } = viewOf(factsOf([on('node-1', [claim('data', 2), emptyDir('web', 1)]), other]), 'name');
    expect(items.map(({ lowerBound }) => lowerBound)).toEqual([expected, false]);
  });

  test('emptyDirs of two pods are two, and so are claims of one name in two namespaces', () => {
    const volumes = [
      ...[emptyDir('a', 1), emptyDir('b', 1), emptyDir('data-0', 1, { name: 'data' })],
      ...[claim('data', 1), claim('data', 1, { namespace: 'blog' })],
    ];
    expect(viewOf(factsOf([on('node-1', volumes)])).items).toHaveLength(5);
    expect(viewOf(factsOf([on('node-1', volumes)], { namespace: 'blog' })).items).toHaveLength(1);
  });

  const rows = [
    claim('b', 9, { growthBytesPerHour: 1, fullTime: at(60) }),
    claim('a', 5, { inodesPercent: 95, limitBytes: 50 * gib, measuredTime: at(-4) }),
    emptyDir('c-0', 20, { name: 'c', growthBytesPerHour: 2 }),
  ];
  test.each([
    ['percent', 'a b c'],
    ['bytes', 'c b a'],
    ['limit', 'a b c'],
    ['growth', 'c b a'],
    ['full', 'b a c'],
    ['pod', 'a b c'],
    ['age', 'a b c'],
    ['name', 'a b c'],
  ])('are sorted by %s', (sortBy, order) => {
    const { items } = viewOf(factsOf([on('node-1', rows)]), sortBy);
    expect(items.map(({ name }) => name).join(' ')).toBe(order);
  });
});

describe('the table', () => {
  const piped = { now, width: undefined, colours: false, isWide: false };
  const cluster = factsOf([
    on('node-1', [
      claim('data-postgres', 9.2, { pod: 'postgres-0', growthBytesPerHour: gib / 4, fullTime: at(190) }),
      emptyDir('etl-5c7d9-x2x4p', 3, { limitBytes: 4 * gib, usedPercent: 75, namespace: 'team-a' }),
      claim('uploads', 4, { pod: 'web-1', pods: 3, inodesPercent: undefined }),
      emptyDir('web-1', 20),
    ]),
    on('node-2', [claim('uploads', 4, { pod: 'web-2' })], { otherVolumes: { count: 5, highestPercent: 12 } }),
    on('node-3', undefined),
    on('node-4', [claim('old', 8, { fullTime: at(5) })], { measuredTime: at(-60) }),
  ]);

  const screens = {
    'top volumes -A, piped': piped,
    'top volumes -A, on a terminal': { ...piped, width: 120 },
    'top volumes -A, on a narrow terminal': { ...piped, width: 80 },
    'top volumes -A -o wide': { ...piped, isWide: true },
  };

  test('is that of the file', async () => {
    const tables = {
      ...Object.fromEntries(
        Object.entries(screens).map(([name, screen]) => [name, topTable(viewOf(cluster), screen)]),
      ),
      'top volumes, none is listed': topTable(viewOf(factsOf([on('node-1', [])])), piped),
      'top volumes, others are unknown, or full within a week': [
        { count: 7, highestPercent: 12, unknownCount: 2, fillingCount: 1 },
        { count: 2, unknownCount: 2 },
      ].flatMap((otherVolumes) => topTable(viewOf(factsOf([on('node-1', [], { otherVolumes })])), piped)),
      'top volumes --sort-by=name -o name': nameLines(viewOf(cluster, 'name')),
    };
    const texts = Object.entries(tables).map(([name, lines]) => `# ${name}\n\n${lines.join('\n')}\n`);
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/volumes.txt');
  });

  test('a report without volumes is named', () => {
    expect(viewOf(cluster).notes.filter(({ reason }) => reason === 'NoVolumes')).toMatchObject([
      { nodes: ['node-3'] },
    ]);
  });
});
