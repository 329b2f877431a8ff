import { describe, expect, test } from 'vitest';
import type { TopView } from '../../../../src/commands/top/view.ts';
import {
  busyDisk,
  busyUsage,
  disk,
  facts,
  gib,
  image,
  inMinutes,
  namespace,
  pod,
  reported,
  viewOf,
  withoutUsage,
} from './fixtures.ts';

const names = ({ items }: TopView) => items.map((item: { readonly name?: string | undefined }) => item.name);

describe('notes', () => {
  const stale = { ...busyUsage(), measuredTime: inMinutes(-16) };
  test.each([
    { name: 'a current report', given: facts([reported('a')]), expected: [] },
    { name: 'no report', given: facts([]), expected: [['NoReport']] },
    {
      name: 'nodes may not be listed',
      given: facts([reported('a')], { nodes: undefined }),
      expected: [['NodesUnknown']],
    },
    {
      name: 'nodes without an agent are in one note',
      given: facts([reported('a')], { nodes: new Set(['a', 'b', 'c']) }),
      expected: [['NoAgent', 'b', 'c']],
    },
    { name: 'an older agent', given: facts([withoutUsage('a')]), expected: [['NoUsage', 'a']] },
    {
      name: 'an older agent that has stopped',
      given: facts([{ ...withoutUsage('a'), reportTime: inMinutes(-16) }]),
      expected: [
        ['NoUsage', 'a'],
        ['Stale', 'a'],
      ],
    },
    { name: 'old values', given: facts([reported('a', stale)]), expected: [['Stale', 'a']] },
    {
      name: 'values of exactly 15 minutes',
      given: facts([reported('a', { ...stale, measuredTime: inMinutes(-15) })]),
      expected: [],
    },
    {
      name: 'a clock that is ahead',
      given: facts([reported('a', { ...stale, measuredTime: inMinutes(2) })]),
      expected: [['ClockAhead', 'a']],
    },
    {
      name: 'a clock that is ahead by less than a minute',
      given: facts([reported('a', { ...stale, measuredTime: inMinutes(1) })]),
      expected: [],
    },
    {
      name: 'a kubelet that does not respond: nodes with different reasons are in different notes',
      given: facts([
        reported('a', { ...busyUsage(), unknown: 'pods: no response' }),
        reported('b', { ...busyUsage(), unknown: 'pods: forbidden' }),
      ]),
      expected: [
        ['PartlyUnknown', 'a'],
        ['PartlyUnknown', 'b'],
      ],
    },
  ])('$name', ({ given, expected }) => {
    const { notes } = viewOf('nodes', given);
    expect(notes.map(({ reason, nodes }) => [reason, ...nodes])).toEqual(expected);
  });
});

describe('nodes', () => {
  const rows = (...args: Parameters<typeof facts>) => {
    const view = viewOf('nodes', facts(...args));
    return view.kind === 'TopNodes' ? view.items : [];
  };

  test('the fullest of two file systems is first, and what is unknown is absent', () => {
    const usage = { fileSystems: [disk(20), disk(150, { name: 'imagefs' as const })] };
    const [row] = rows([reported('a', usage)]);
    expect(row?.fileSystems.map(({ name, usedPercent }) => [name, usedPercent])).toEqual([
      ['imagefs', 75],
      ['nodefs', 10],
    ]);
    expect(JSON.parse(JSON.stringify(row))).toEqual({
      name: 'a',
      stale: false,
      fileSystems: [
        { ...disk(150, { name: 'imagefs' }), usedPercent: 75 },
        { ...disk(20), usedPercent: 10 },
      ],
    });
  });

  test.each([
    { name: 'grows, and collection helps', given: busyDisk(134), expected: false },
    {
      name: 'grows only by unused images',
      given: { ...busyDisk(134), fullAfterCollectionTime: undefined },
      expected: true,
    },
    {
      name: 'grows, and what can be collected is unknown',
      given: { ...busyDisk(134), fullAfterCollectionTime: undefined, collectableBytes: undefined },
      expected: undefined,
    },
    { name: 'does not grow', given: disk(134, { collectableBytes: gib }), expected: undefined },
  ])('collection keeps up with a disk that $name: $expected', ({ given, expected }) => {
    const [row] = rows([reported('a', { fileSystems: [given] })]);
    expect(row?.fileSystems[0]?.collectionKeepsUp).toBe(expected);
  });

  test('a disk of size 0 has no percentage', () => {
    const [row] = rows([reported('a', { fileSystems: [disk(0, { capacityBytes: 0, availableBytes: 0 })] })]);
    expect(row?.fileSystems[0]?.usedPercent).toBeUndefined();
  });

  test('the largest namespace, and the one that grows fastest', () => {
    const namespaces = [
      namespace('large', 9),
      namespace('slow', 5, { growthBytesPerHour: 1 }),
      namespace('fast', 1, { growthBytesPerHour: 2 }),
    ];
    const [row, other] = rows([
      reported('a', { namespaces }),
      reported('b', { namespaces: namespaces.slice(0, 1) }),
    ]);
    expect([row?.largestNamespace?.name, row?.fastestNamespace?.name]).toEqual(['large', 'fast']);
    expect(other?.fastestNamespace).toBeUndefined();
  });

  test.each([
    { sortBy: 'percent', expected: ['b', 'a', 'c', 'none'] },
    { sortBy: 'bytes', expected: ['b', 'a', 'c', 'none'] },
    { sortBy: 'growth', expected: ['c', 'a', 'b', 'none'] },
    { sortBy: 'full', expected: ['c', 'a', 'b', 'none'] },
    { sortBy: 'full-after-collection', expected: ['a', 'b', 'c', 'none'] },
    { sortBy: 'age', expected: ['c', 'a', 'b', 'none'] },
    { sortBy: 'name', expected: ['a', 'b', 'c', 'none'] },
  ])('by $sortBy', ({ sortBy, expected }) => {
    const growing = { growthBytesPerHour: 5, fullTime: inMinutes(10) };
    const given = facts([
      withoutUsage('none'),
      reported('c', {
        measuredTime: inMinutes(-3),
        fileSystems: [disk(10, growing), disk(1, { name: 'imagefs' })],
      }),
      reported('b', { fileSystems: [disk(150)] }),
      reported('a', {
        measuredTime: inMinutes(-2),
        fileSystems: [
          disk(100, {
            growthBytesPerHour: 1,
            fullTime: inMinutes(20),
            fullAfterCollectionTime: inMinutes(30),
          }),
        ],
      }),
    ]);
    expect(names(viewOf('nodes', given, { sortBy }))).toEqual(expected);
  });

  test('a node that a selector does not select is left out', () => {
    const given = facts([reported('a'), reported('b')], { selected: new Set(['b']) });
    expect(viewOf('nodes', given).items).toMatchObject([{ name: 'b' }]);
    expect(viewOf('nodes', given, { nodes: ['a'] }).items).toEqual([]);
    expect(viewOf('images', given).items[0]).toMatchObject({ nodes: [{ node: 'b' }] });
  });
});

describe('forecasts', () => {
  const full = (name: string, hours: number) =>
    reported(name, {
      measuredTime: inMinutes(-1),
      forecast: `${hours} h`,
      fileSystems: [disk(1, { fullTime: inMinutes(60 * hours) })],
    });
  const nodes = [full('d', 40), full('c', 30), full('b', 20), full('a', 10)];
  const stale = { ...reported('old'), usage: { ...busyUsage(), measuredTime: inMinutes(-16) } };

  test.each([
    {
      name: 'of the three nodes that are full first',
      kind: 'nodes' as const,
      given: [...nodes, stale, withoutUsage('x')],
      expected: ['a', 'b', 'c'],
    },
    { name: 'none with other kinds', kind: 'pods' as const, given: nodes, expected: [] },
    {
      name: 'of each node of --node',
      kind: 'namespaces' as const,
      given: [...nodes, stale],
      only: ['d', 'old'],
      expected: ['old', 'd'],
    },
  ])('$name', ({ kind, given, only, expected }) => {
    const view = viewOf(kind, facts(given), { nodes: only });
    expect(view.forecasts.map(({ node }) => node)).toEqual(expected);
  });
});

describe('namespaces', () => {
  const usage = {
    measuredTime: inMinutes(-1),
    namespaces: [namespace('a', 4, { growthBytesPerHour: 10 }), namespace('b', 2)],
  };

  test('are added up over the nodes', () => {
    const given = facts([reported('x', usage), reported('y', { ...usage, measuredTime: inMinutes(-20) })]);
    const [first] = viewOf('namespaces', given).items;
    expect(first).toEqual({
      name: 'a',
      nodes: 2,
      pods: 6,
      bytes: 8 * gib,
      layersBytes: 4 * gib,
      volumesBytes: 2 * gib,
      logsBytes: 2 * gib,
      growthBytesPerHour: 20,
      lowerBound: false,
      measuredTime: inMinutes(-20),
      stale: true,
    });
  });

  test('a sum is unknown if a part is', () => {
    const other = { namespaces: [namespace('a', 1, { logsBytes: undefined })] };
    const given = facts([reported('x', usage), reported('y', other)]);
    expect(viewOf('namespaces', given).items[0]).toMatchObject({ bytes: 5 * gib, logsBytes: undefined });
  });

  test.each([
    { name: 'has no agent', report: [], nodes: ['x', 'y'], expected: [true, true] },
    { name: 'has an older agent', report: [withoutUsage('y')], expected: [true, true] },
    { name: 'does not know its pods', report: [reported('y', {})], expected: [true, true] },
    {
      name: 'does not list all',
      report: [reported('y', { namespaces: [namespace('a', 1)], otherNamespaces: { count: 1, bytes: gib } })],
      expected: [false, true],
    },
    {
      name: 'lists all',
      report: [reported('y', { namespaces: [namespace('a', 1)] })],
      expected: [false, false],
    },
  ])('a sum is a lower bound if a node $name', ({ report, nodes, expected }) => {
    const reports = [reported('x', usage), ...report];
    const given = facts(reports, nodes && { nodes: new Set(nodes) });
    expect(viewOf('namespaces', given).items).toMatchObject(
      expected.map((lowerBound, i) => ({ name: ['a', 'b'][i], lowerBound })),
    );
  });

  test.each([
    { name: 'a namespace', more: { namespace: 'b' }, expected: ['b'] },
    { name: 'selected ones', more: { selected: new Set(['b', 'c']) }, expected: ['b'] },
    { name: 'one whose name JavaScript knows', more: { namespace: 'constructor' }, expected: [] },
  ])('only $name', ({ more, expected }) => {
    expect(names(viewOf('namespaces', facts([reported('x', usage)], more)))).toEqual(expected);
  });

  test('the rest of each node counts', () => {
    const given = facts([
      reported('x', { ...usage, otherNamespaces: { count: 2, bytes: gib } }),
      reported('y', { ...usage, otherNamespaces: { count: 1, bytes: gib } }),
      reported('z', usage),
    ]);
    expect(viewOf('namespaces', given)).toMatchObject({ rest: { count: 3, bytes: 2 * gib } });
  });

  test.each(['bytes', 'layers', 'volumes', 'logs', 'growth', 'pods', 'nodes', 'age', 'name'])(
    'by %s',
    (sortBy) => {
      const given = facts([
        reported('x', { measuredTime: inMinutes(-2), namespaces: [namespace('b', 1, { pods: 1 })] }),
        reported('y', usage),
        reported('z', { measuredTime: inMinutes(-3), namespaces: [namespace('a', 3)] }),
      ]);
      const expected = ['a', 'b'];
      expect(names(viewOf('namespaces', given, { sortBy }))).toEqual(expected);
    },
  );
});

describe('pods', () => {
  const usage = {
    measuredTime: inMinutes(-1),
    podCount: 8,
    namespaces: [namespace('a', 6, { pods: 3 }), namespace('b', 4, { pods: 3 })],
    otherNamespaces: { count: 1, bytes: gib },
    pods: [pod('a', 'p', 5, { limitBytes: 10 * gib }), pod('b', 'q', 3, { limitBytes: 0 }), pod('a', 'r', 1)],
  };
  const given = (more = {}) => facts([reported('x', usage)], more);

  test('with the share of their limit', () => {
    const view = viewOf('pods', given());
    expect(view.items).toMatchObject([
      { name: 'p', node: 'x', usedPercent: 50, stale: false },
      { name: 'q', usedPercent: 100 },
      { name: 'r', usedPercent: undefined },
    ]);
  });

  test.each([
    { name: 'all', more: {}, expected: { count: 5, bytes: 2 * gib } },
    { name: 'a namespace', more: { namespace: 'a' }, expected: { count: 1, bytes: 0 } },
    {
      name: 'a namespace that is not listed',
      more: { namespace: 'c' },
      expected: { count: undefined, bytes: undefined },
    },
    {
      name: 'selected ones, whose sizes are unknown',
      more: { selected: new Set(['uid-p', 'uid-gone']) },
      expected: { count: 1, bytes: undefined },
    },
  ])('the rest of $name', ({ more, expected }) => {
    expect(viewOf('pods', given(more))).toMatchObject({ rest: expected });
  });

  test.each([
    { sortBy: 'bytes', expected: ['p', 'q', 'r'] },
    { sortBy: 'layers', expected: ['p', 'q', 'r'] },
    { sortBy: 'volumes', expected: ['p', 'q', 'r'] },
    { sortBy: 'logs', expected: ['p', 'q', 'r'] },
    { sortBy: 'percent', expected: ['q', 'p', 'r'] },
    { sortBy: 'node', expected: ['p', 'q', 'r'] },
    { sortBy: 'age', expected: ['p', 'q', 'r'] },
    { sortBy: 'name', expected: ['p', 'r', 'q'] },
  ])('by $sortBy', ({ sortBy, expected }) => {
    expect(names(viewOf('pods', given(), { sortBy }))).toEqual(expected);
  });

  test('an unknown field is a bug', () => {
    expect(() => viewOf('pods', given(), { sortBy: 'colour' })).toThrow('rows have no field colour');
  });
});

describe('images', () => {
  const id = { id: 'sha256:1' };
  const nodes = [
    reported('x', {
      measuredTime: inMinutes(-2),
      images: [
        { ...image('app:1', 2, { unusedSince: inMinutes(-60) }), ...id },
        image('base', 1, { unusedSince: inMinutes(-90), isKept: true }),
      ],
    }),
    reported('y', {
      measuredTime: inMinutes(-1),
      images: [{ ...image('app:1', 3, { unusedSince: inMinutes(-5) }), ...id }],
      otherImages: { count: 4, bytes: gib },
    }),
    reported('z', {
      images: [
        { ...image('app:1', 2, { name: undefined, inUse: true }), ...id },
        image('web', 4, { inUse: true }),
      ],
    }),
  ];

  test('what the cluster would gain, and since when nothing uses those copies', () => {
    const { items } = viewOf('images', facts(nodes), { sortBy: 'gain' });
    expect(items[0]).toMatchObject({
      name: 'app:1',
      sizeBytes: 3 * gib,
      bytes: 7 * gib,
      gainBytes: 5 * gib,
      unusedSince: inMinutes(-5),
      measuredTime: inMinutes(-2),
      nodes: [
        { node: 'x', inUse: false, kept: false, unusedSince: inMinutes(-60) },
        { node: 'y' },
        { node: 'z', inUse: true },
      ],
    });
    expect(items).toMatchObject([{}, { name: 'base', gainBytes: 0 }, { name: 'web', gainBytes: 0 }]);
  });

  test('the rest of each node counts', () => {
    expect(viewOf('images', facts(nodes))).toMatchObject({ rest: { count: 4, bytes: gib } });
  });

  test.each([
    { sortBy: 'bytes', expected: ['app:1', 'web', 'base'] },
    { sortBy: 'size', expected: ['web', 'app:1', 'base'] },
    { sortBy: 'nodes', expected: ['app:1', 'base', 'web'] },
    { sortBy: 'unused-since', expected: ['base', 'app:1', 'web'] },
    { sortBy: 'name', expected: ['app:1', 'base', 'web'] },
  ])('by $sortBy', ({ sortBy, expected }) => {
    expect(names(viewOf('images', facts(nodes), { sortBy }))).toEqual(expected);
  });
});
