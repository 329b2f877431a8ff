import { describe, expect, test } from 'vitest';
import type { GCPolicy } from '../../../../src/api/gen/gcpolicy.gen.ts';
import type { NodeGCReport } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { condition, mib, minutesAgo, now, policy, report, statusView } from './fixtures.ts';

const problems = (view: ReturnType<typeof statusView>): string[] =>
  view.trouble.map(({ kind, names, reason }) => `${kind} ${names.join(',')}: ${reason}`);

describe('problems', () => {
  const tripped = condition('Degraded', 'True', { reason: 'Tripped', message: 'Nodes missing: 3' });
  const failed = condition('Degraded', 'True', { reason: 'PassFailed', message: 'imagegc failed' });
  const atRisk = condition('KeepListAtRisk', 'True', { reason: 'AboveKubelet', message: 'It may remove' });
  const short = condition('PressureAhead', 'True', { reason: 'Crossed', message: 'nodefs.available' });
  const holding = condition('Holding', 'True', { reason: 'Holding' });
  const overBudget = condition('BudgetsExceeded', 'True', { reason: 'Over' });
  const behind = { nodes: { desired: 3, upToDate: 1 } };
  const created = (name: string, minutes: number) => ({ name, creationTimestamp: minutesAgo(minutes) });
  const without = { metadata: created('n', 16) };

  test.each<readonly [string, readonly GCPolicy[], readonly string[]]>([
    ['none of a healthy one', [policy('a', { conditions: [condition('Ready', 'True')] })], []],
    ['an open circuit breaker', [policy('a', { conditions: [tripped] })], ['GCPolicy a: Tripped']],
    ['a large deletion that waits', [policy('a', { conditions: [holding] })], ['GCPolicy a: Holding']],
    ['namespaces that exceed budgets', [policy('a', { conditions: [overBudget] })], ['GCPolicy a: Over']],
    ['invalid, whatever its status', [policy('a', { spec: { mode: 'No' } })], ['GCPolicy a: InvalidPolicy']],
    [
      'not observed by a controller',
      [{ metadata: { name: 'a', generation: 1 }, spec: {} }],
      ['GCPolicy a: NotObserved'],
    ],
    [
      'not observed for two minutes, but not a new one',
      [created('old', 2), created('new', 0.5)].map((metadata) => ({ metadata, spec: {} })),
      ['GCPolicy old: NotObserved'],
    ],
    ['with an unobserved change', [policy('a', { observedGeneration: 1 })], ['GCPolicy a: NotObserved']],
    ['nodes that have not reported', [policy('a', behind)], ['GCPolicy a: NodesBehind']],
    [
      'nodes that have not reported within five minutes after its creation',
      [5, 4.9].map((minutes) => ({ ...policy('a', behind), metadata: created(`${minutes}m`, minutes) })),
      ['GCPolicy 5m: NodesBehind'],
    ],
    ['none by status Unknown', [policy('a', { conditions: [condition('Degraded', 'Unknown')] })], []],
  ])('of a policy: %s', (_, policies, expected) => {
    expect(problems(statusView(policies, [], now))).toEqual(expected);
  });

  test.each<readonly [string, readonly NodeGCReport[], readonly string[]]>([
    ['none of a healthy one', [report('n', { conditions: [condition('Degraded', 'False')] })], []],
    [
      'it will be short of disk space, after one whose agent fails',
      [
        report('short', { conditions: [short] }),
        report('fine', { conditions: [condition('PressureAhead', 'False')] }),
        report('failed', { conditions: [failed] }),
      ],
      ['Node failed: PassFailed', 'Node short: Crossed'],
    ],
    ['a keep list at risk', [report('n', { conditions: [atRisk] })], ['Node n: AboveKubelet']],
    ['a report of 15 minutes is not stale', [report('n', { reportTime: minutesAgo(15) })], []],
    ['an older one is stale', [report('n', { reportTime: minutesAgo(15.1) })], ['Node n: Stale']],
    ['one of a clock that is ahead is not stale', [report('n', { reportTime: minutesAgo(-14) })], []],
    [
      'one from the future may be of an agent that no longer runs',
      [report('n', { reportTime: minutesAgo(-60) })],
      ['Node n: Stale'],
    ],
    ['a report that never got a status', [without], ['Node n: Stale']],
    ['none by status Unknown', [report('n', { conditions: [condition('KeepListAtRisk', 'Unknown')] })], []],
  ])('of a node: %s', (_, reports, expected) => {
    expect(problems(statusView([], reports, now))).toEqual(expected);
  });

  test('the worst come first, and the same problem of several nodes is listed once', () => {
    const policies = [
      policy('behind', behind),
      policy('tripped', { conditions: [tripped] }),
      policy('broken', { spec: { priority: 'x' } }),
    ];
    const reports = [
      report('z', { conditions: [atRisk] }),
      report('b', { conditions: [failed] }),
      report('old', { reportTime: minutesAgo(120) }),
      report('a', { conditions: [failed] }),
    ];
    expect(problems(statusView(policies, reports, now))).toEqual([
      'GCPolicy broken: InvalidPolicy',
      'GCPolicy tripped: Tripped',
      'Node a,b: PassFailed',
      'Node z: AboveKubelet',
      'Node old: Stale',
      'GCPolicy behind: NodesBehind',
    ]);
  });

  test('degraded nodes are listed by their own reports, or by the policy where reports cannot be read', () => {
    const degraded = condition('Degraded', 'True', { reason: 'NodesDegraded', message: '1 of 1 nodes' });
    const policies = [policy('a', { conditions: [degraded] })];
    const reports = [report('n', { conditions: [failed] })];
    expect(problems(statusView(policies, reports, now))).toEqual(['Node n: PassFailed']);
    expect(problems(statusView(policies, undefined, now))).toEqual(['GCPolicy a: NodesDegraded']);
  });
});

test('policies are in the order in which they claim objects', () => {
  const policies = [policy('b'), policy('high', { spec: { priority: 5, mode: 'Enforce' } }), policy('a')];
  const view = statusView(policies, [], now);
  expect(view.policies?.map(({ name, mode, priority }) => [name, mode, priority])).toEqual([
    ['high', 'Enforce', 5],
    ['a', 'DryRun', 0],
    ['b', 'DryRun', 0],
  ]);
});

const unit = (name: 'imagegc' | 'containergc', minutes: number, freedBytesTotal: number) =>
  ({ name, lastPassTime: minutesAgo(minutes), result: 'Idle', freedBytesTotal }) as const;

test('a node has the reclaimable bytes of images and logs, the bytes freed by all units, and its last pass', () => {
  const signal = {
    ...{ name: 'nodefs.available' as const, available: 20, capacity: 100, availablePercent: 20 },
    measuredTime: minutesAgo(1),
  } as const;
  const status = {
    imageFileSystem: { usedPercent: 81 },
    images: { removable: { count: 4, bytes: 100 } },
    containers: { removable: 2 },
    logs: { removableBytes: 10 },
    signals: [signal],
    units: [unit('imagegc', 4, 1000), unit('containergc', 1, 50)],
  };
  expect(statusView([], [report('n', status)], now).nodes?.[0]).toMatchObject({
    ...{ name: 'n', inTrouble: false, policy: 'default', mode: 'Enforce', imageFsUsedPercent: 81 },
    ...{ imagesRemovable: 4, containersRemovable: 2, reclaimableBytes: 110, reclaimedBytes: 1050 },
    lastPassTime: minutesAgo(1),
    signals: [signal],
  });
  expect(statusView([], [report('n')], now).nodes?.[0]?.signals).toEqual([]);
});

test('the totals say since when they count: the oldest of these policies and units', () => {
  const young = { ...policy('young'), metadata: { name: 'young', creationTimestamp: minutesAgo(5) } };
  const old = policy('old', { pods: { deletedTotal: 1 } });
  const since = (minutes: number) => ({ ...unit('imagegc', 1, 5), totalsSince: minutesAgo(minutes) });
  const reports = [report('a', { units: [since(30)] }), report('b', { units: [since(90)] }), report('c')];
  const view = statusView([{ ...young, status: { pods: { deletedTotal: 2 } } }, old], reports, now);
  expect(view.totals).toMatchObject({ podsDeleted: 3, podsDeletedSince: minutesAgo(60) });
  expect(view.totals).toMatchObject({ reclaimedBytes: 10, reclaimedSince: minutesAgo(90) });
  expect(statusView([policy('nodes-only')], [], now).totals.podsDeletedSince).toBeNull();
});

test('nodes with problems come first, then those with the most reclaimable bytes, then by name', () => {
  const free = (bytes: number) => ({ images: { removable: { bytes } } });
  const reports = [
    report('b', free(1)),
    report('a', free(1)),
    report('much', free(9)),
    report('stale', { reportTime: minutesAgo(99) }),
  ];
  expect(statusView([], reports, now).nodes?.map(({ name }) => name)).toEqual(['stale', 'much', 'a', 'b']);
});

test('totals come from the reports, or from the policies where reports cannot be read', () => {
  const nodes = { desired: 5, upToDate: 5, imageBytesReclaimable: 7 * mib, imageBytesReclaimed: 8 * mib };
  const policies = [
    policy('a', { spec: { mode: 'Enforce' }, pods: { due: 3, deletedTotal: 10 }, nodes }),
    policy('b', { pods: { due: 1 } }),
  ];
  const reports = [report('n', { logs: { removableBytes: mib }, units: [unit('imagegc', 1, 2 * mib)] })];
  const pods = { podsDue: 4, podsDueInDryRun: 1, podsDeleted: 10, podsDeletedSince: minutesAgo(60) };
  const common = { policies: 2, ...pods, reclaimedSince: null };
  const read = { nodes: 1, reclaimableBytes: mib, reclaimedBytes: 2 * mib };
  expect(statusView(policies, reports, now).totals).toEqual({ ...common, ...read });
  const withoutReports = statusView(policies, undefined, now);
  const told = { nodes: 5, reclaimableBytes: 7 * mib, reclaimedBytes: 8 * mib };
  expect(withoutReports.totals).toEqual({ ...common, ...told });
  expect(withoutReports.nodes).toBeNull();
});

test('the reclaimable bytes of a policy: of its own nodes, else of its status, else none', () => {
  const nodes = { desired: 1, imageBytesReclaimable: 7 * mib, imageBytesReclaimed: 8 * mib };
  const reports = [
    report('mine', { logs: { removableBytes: mib }, units: [unit('containergc', 1, 2 * mib)] }),
    report('other', { policy: { name: 'b', observedGeneration: 1 }, logs: { removableBytes: 100 * mib } }),
  ];
  const bytesBy = (given: typeof reports | undefined, rules = {}) => {
    const row = statusView([policy('default', rules)], given, now).policies?.[0];
    return [row?.reclaimableBytes, row?.reclaimedBytes];
  };
  expect(bytesBy(reports, { nodes })).toEqual([mib, 2 * mib]);
  expect(bytesBy(undefined, { nodes })).toEqual([7 * mib, 8 * mib]);
  expect(bytesBy([])).toEqual([null, null]);
});

test.each<[string, Parameters<typeof policy>[1], Record<string, unknown>, readonly string[]]>([
  ['selects all pods', { spec: { pods: {} } }, { pods: {} }, ['GCPolicy low: Shadowed']],
  [
    'selects all nodes, too',
    { spec: { pods: {}, nodes: {} } },
    { pods: {}, nodes: {} },
    ['GCPolicy low: Shadowed'],
  ],
  ['has no nodes', { spec: { pods: {}, nodes: {} } }, { pods: {} }, []],
  [
    'selects some namespaces',
    { spec: { pods: {} } },
    { pods: { namespaceSelector: { matchLabels: { a: 'b' } } } },
    [],
  ],
  ['excludes a namespace', { spec: { pods: {} } }, { pods: { excludeNamespaces: ['a'] } }, []],
  ['leaves it pods', { spec: { pods: {} }, pods: { governed: 1 } }, { pods: {} }, []],
])('a policy governs nothing if one of a higher rank %s', (_, low, high, expected) => {
  const view = statusView([policy('low', low), policy('high', { spec: { priority: 5, ...high } })], []);
  expect(problems(view)).toEqual(expected);
});
