import { describe, expect, test } from 'vitest';
import type { TopFacts } from '../../../../src/commands/top/rows.ts';
import { nameLines } from '../../../../src/commands/top/names.ts';
import { topTable } from '../../../../src/commands/top/table.ts';
import { topView, type TopView } from '../../../../src/commands/top/view.ts';
import { factsOf, gib, marked, mib, now, part, workload } from './marked-nodes.ts';

const viewOf = (given: TopFacts, sortBy = 'highest'): TopView & { readonly kind: 'TopWorkloads' } => {
  const unset = { namespace: undefined, nodes: undefined, selector: undefined };
  const view = topView(given, { kind: 'workloads', sortBy, isCurrentNamespace: false, ...unset }, now);
  if (view.kind !== 'TopWorkloads') throw new Error('not workloads');
  return view;
};

const rowsOf = (...reports: TopFacts['reports']) => viewOf(factsOf(reports)).items;

describe('over nodes', () => {
  test('what pods use now adds up, and the highest is that of one pod', () => {
    const a = workload('web', 300, {
      ...{ bytes: 100 * mib, pods: 2, limitBytes: gib, growthBytesPerHour: 10, watchedSeconds: 60 },
      parts: [part('main', 300, { limitBytes: gib }), part('late', undefined)],
    });
    const b = workload('web', 512, {
      ...{ bytes: 50 * mib, limitBytes: gib, requestBytes: 5, growthBytesPerHour: 5, watchedSeconds: 90 },
      parts: [part('main', 100), part('data', 400, { kind: 'volume' })],
    });
    const [row, ...others] = rowsOf(marked('node-1', [a]), marked('node-2', [b]));
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      ...{ namespace: 'shop', kind: 'Deployment', name: 'web', pods: 3, nodes: 2, bytes: 150 * mib },
      ...{ highestBytes: 512 * mib, highestPercent: 50, limitBytes: gib, requestBytes: 5 },
      ...{ growthBytesPerHour: 15, watchedSeconds: 90, lowerBound: false, highestLowerBound: false },
      unlistedBytes: 0,
    });
    expect(row?.parts).toEqual([
      part('main', 300, { limitBytes: gib, requestBytes: undefined }),
      { ...part('data', 400, { kind: 'volume' }), limitBytes: undefined, requestBytes: undefined },
      { ...part('late', undefined), limitBytes: undefined, requestBytes: undefined },
    ]);
  });

  test('of one name in two namespaces, or of two kinds, are two', () => {
    const listed = [
      workload('web', 100),
      workload('web', 100, { namespace: 'blog' }),
      workload('web', 100, { kind: 'StatefulSet' }),
    ];
    expect(rowsOf(marked('node-1', listed))).toHaveLength(3);
    expect(viewOf(factsOf([marked('node-1', listed)], { namespace: 'blog' })).items).toHaveLength(1);
  });

  const web = workload('web', 300);
  const unlisted = (highestMib: number) =>
    marked('node-2', [], { otherWorkloads: { count: 3, highestBytes: highestMib * mib } });
  const young = (highestMib: number, watchedSeconds: number | undefined) =>
    marked('node-2', [], { watchedSeconds, otherWorkloads: { count: 3, highestBytes: highestMib * mib } });
  const own = { otherWorkloads: { count: 9, highestBytes: gib } };
  test.each([
    ['lists all of its workloads', marked('node-2', []), [false, false, 0, false]],
    ['has smaller ones, one of which it may be', unlisted(50), [true, false, 50 * mib, false]],
    ['has larger ones that it does not list', unlisted(301), [true, true, 301 * mib, false]],
    ['has no marks', marked('node-2', undefined), [true, true, 0, true]],
    ['has watched a day', young(50, 86_400), [true, false, 50 * mib, false]],
    ['has watched less than a day', young(50, 86_399), [true, true, 50 * mib, true]],
    ['has watched for an unknown time', young(0, undefined), [false, true, 0, true]],
    ['has no usage', { ...marked('node-2', []), usage: undefined }, [true, true, 0, true]],
  ] as const)(
    'on another node that %s',
    (_, report, [lowerBound, highestLowerBound, unlistedBytes, hasUnknownNodes]) => {
      const expected = { lowerBound, highestLowerBound, unlistedBytes, hasUnknownNodes };
      expect(rowsOf(marked('node-1', [web], own), report)[0]).toMatchObject(expected);
    },
  );

  test('a node that was watched for less than a day is named; only what it lists is known', () => {
    const view = viewOf(factsOf([marked('node-1', [web]), marked('node-2', [web], { watchedSeconds: 300 })]));
    expect(view.items[0]).toMatchObject({ hasUnknownNodes: false, highestLowerBound: false });
    expect(view.notes).toMatchObject([{ reason: 'FewMarks', nodes: ['node-2'] }]);
  });

  test.each([
    ['is not known', { pods: undefined, bytes: undefined }, { nodes: 0, lowerBound: false }],
    ['is measured in part', { lowerBound: true }, { pods: 1, nodes: 1, lowerBound: true }],
    ['is nothing', { pods: 0, bytes: 0 }, { pods: 0, nodes: 0, lowerBound: false }],
  ])('what %s', (_, more, expected) => {
    const [row] = rowsOf(marked('node-1', [workload('web', 1, more)]));
    expect(row).toMatchObject(expected);
    expect(row?.pods).toBe('pods' in expected ? expected.pods : undefined);
  });

  test('a limit of 0 has no percentage, and a disk for images is known', () => {
    const fileSystems = [{ name: 'imagefs' as const, capacityBytes: 1, availableBytes: 1, usedBytes: 0 }];
    const [row] = rowsOf(
      marked('node-1', [workload('web', 1, { limitBytes: 0, parts: undefined })], { fileSystems }),
    );
    expect(row).toMatchObject({ dedicatedImageFs: true, parts: [], otherParts: 0 });
    expect(row?.highestPercent).toBeUndefined();
  });
});

describe('the table', () => {
  const piped = { now, width: undefined, colours: false, isWide: false };
  const cluster = factsOf([
    marked(
      'node-1',
      [
        workload('etl', 40 * 1024, {
          namespace: 'team-a',
          limitBytes: 50 * gib,
          requestBytes: gib,
          kind: 'CronJob',
        }),
        workload('web', 900, { limitBytes: gib, growthBytesPerHour: 30 * mib, watchedSeconds: 3 * 3600 }),
        workload('etcd', 300, { kind: 'StaticPod', namespace: 'kube-system' }),
      ],
      { otherWorkloads: { count: 7, highestBytes: 60 * mib } },
    ),
    marked('node-2', [workload('web', 600, { bytes: 5 * mib, limitBytes: gib })], {
      otherWorkloads: { count: 2, highestBytes: 350 * mib },
    }),
    marked('node-3', undefined),
  ]);
  const tables = {
    'top workloads -A, piped': topTable(viewOf(cluster), piped),
    'top workloads -A, on a terminal': topTable(viewOf(cluster), { ...piped, width: 120 }),
    'top workloads -A, on a narrow terminal': topTable(viewOf(cluster), { ...piped, width: 80 }),
    'top workloads -A -o wide': topTable(viewOf(cluster), { ...piped, isWide: true }),
    'top workloads, none stands out': topTable(
      viewOf(factsOf([marked('node-1', [], { otherWorkloads: { count: 1, highestBytes: 9 * mib } })])),
      piped,
    ),
    'top workloads -A, none stands out': topTable(viewOf(factsOf([marked('node-1', [])])), {
      ...piped,
      isAll: true,
    }),
    'top workloads -o name': nameLines(viewOf(cluster)),
  };

  test('is that of the file', async () => {
    const texts = Object.entries(tables).map(([name, lines]) => `# ${name}\n\n${lines.join('\n')}\n`);
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/workloads.txt');
  });

  test.each([
    ['highest', 'etl web etcd'],
    ['bytes', 'etl web etcd'],
    ['percent', 'web etl etcd'],
    ['growth', 'web etcd etl'],
    ['pods', 'web etcd etl'],
    ['nodes', 'web etcd etl'],
    ['name', 'etcd web etl'],
  ])('sorted by %s', (sortBy, names) => {
    expect(
      viewOf(cluster, sortBy)
        .items.map(({ name }) => name)
        .join(' '),
    ).toBe(names);
  });
});
