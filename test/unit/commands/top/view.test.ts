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
  const measured = (minutes: number) =>
    facts([reported('a', { ...stale, measuredTime: inMinutes(minutes) })]);
  const stopped = { ...withoutUsage('a'), reportTime: inMinutes(-16) };
  const unknown = (name: string, why: string) => reported(name, { ...busyUsage(), unknown: why });
  const differing = [unknown('a', 'pods: no response'), unknown('b', 'pods: forbidden')];

  test.each([
    ['a current report', facts([reported('a')]), []],
    [
      'nodes without an agent are in one note',
      facts([reported('a')], { nodes: new Set(['a', 'b', 'c']) }),
      ['NoAgent b c'],
    ],
    ['an older agent that has stopped', facts([stopped]), ['NoUsage a', 'Stale a']],
    ['old values', measured(-16), ['Stale a']],
    ['values of exactly 15 minutes', measured(-15), []],
    ['a clock that is ahead', measured(2), ['ClockAhead a']],
    ['a clock that is ahead by less than a minute', measured(1), []],
    [
      'nodes with different reasons are in different notes',
      facts(differing),
      ['PartlyUnknown a', 'PartlyUnknown b'],
    ],
  ])('%s', (_, given, expected) => {
    const { notes } = viewOf('nodes', given);
    expect(notes.map(({ reason, nodes }) => [reason, ...nodes].join(' '))).toEqual(expected);
  });
});

describe('nodes', () => {
  const rows = (...args: Parameters<typeof facts>) => {
    const view = viewOf('nodes', facts(...args));
    return view.kind === 'TopNodes' ? view.items : [];
  };

  test('the fullest of two file systems is first, and what is unknown is absent', () => {
    const [row] = rows([reported('a', { fileSystems: [disk(20), disk(150, { name: 'imagefs' })] })]);
    expect(JSON.parse(JSON.stringify(row))).toEqual({
      name: 'a',
      stale: false,
      fileSystems: [
        { ...disk(150, { name: 'imagefs' }), usedPercent: 75 },
        { ...disk(20), usedPercent: 10 },
      ],
    });
  });

  const nothingHelps = { ...busyDisk(134), fullAfterCollectionTime: undefined };
  const uncollected = { ...nothingHelps, collectableBytes: undefined };
  test.each([
    ['grows, and collection helps', false, busyDisk(134)],
    ['grows only by unused images', true, nothingHelps],
    ['grows, and what can be collected is unknown', undefined, uncollected],
    ['does not grow', undefined, disk(134, { collectableBytes: gib })],
  ])('collection keeps up with a disk that %s: %s', (_, expected, given) => {
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
    const growing = disk(10, { growthBytesPerHour: 5, fullTime: inMinutes(10) });
    const full = { fullTime: inMinutes(20), fullAfterCollectionTime: inMinutes(30) };
    const given = facts([
      withoutUsage('none'),
      reported('c', { measuredTime: inMinutes(-3), fileSystems: [growing, disk(1, { name: 'imagefs' })] }),
      reported('b', { fileSystems: [disk(150)] }),
      reported('a', {
        measuredTime: inMinutes(-2),
        fileSystems: [disk(100, { growthBytesPerHour: 1, ...full })],
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

  test('of the three nodes that are full first, and of each node of --node; none with other kinds', () => {
    const forecasts = (...args: Parameters<typeof viewOf>) =>
      viewOf(...args).forecasts.map(({ node }) => node);
    expect(forecasts('nodes', facts([...nodes, stale, withoutUsage('x')]))).toEqual(['a', 'b', 'c']);
    expect(forecasts('namespaces', facts([...nodes, stale]), { nodes: ['d', 'old'] })).toEqual(['old', 'd']);
    expect(forecasts('pods', facts(nodes))).toEqual([]);
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
    ['has no agent', [], [true, true], ['x', 'y']],
    ['has an older agent', [withoutUsage('y')], [true, true]],
    ['does not know its pods', [reported('y', {})], [true, true]],
    [
      'does not list all',
      [reported('y', { namespaces: [namespace('a', 1)], otherNamespaces: { count: 1, bytes: gib } })],
      [false, true],
    ],
    ['lists all', [reported('y', { namespaces: [namespace('a', 1)] })], [false, false]],
  ])('a sum is a lower bound if a node %s', (_, report, expected, nodes?: readonly string[]) => {
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
      expect(names(viewOf('namespaces', given, { sortBy }))).toEqual(['a', 'b']);
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
    ['all', {}, { count: 5, bytes: 2 * gib }],
    ['a namespace', { namespace: 'a' }, { count: 1, bytes: 0 }],
    ['a namespace that is not listed', { namespace: 'c' }, { count: undefined, bytes: undefined }],
    [
      'selected ones, whose sizes are unknown',
      { selected: new Set(['uid-p', 'uid-gone']) },
      { count: 1, bytes: undefined },
    ],
  ])('the rest of %s', (_, more, expected) => {
    expect(viewOf('pods', given(more))).toMatchObject({ rest: expected });
  });

  test.each([
    ...['bytes', 'layers', 'volumes', 'logs', 'node', 'age'].map((sortBy) => [sortBy, 'pqr']),
    ['percent', 'qpr'],
    ['name', 'prq'],
  ])('by %s', (sortBy, expected) => {
    expect(names(viewOf('pods', given(), { sortBy })).join('')).toBe(expected);
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
