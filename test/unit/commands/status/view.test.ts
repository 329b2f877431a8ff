import { describe, expect, test } from 'vitest';
import type { GCPolicy } from '../../../../src/api/gen/gcpolicy.gen.ts';
import type { NodeGCReport } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { statusView } from '../../../../src/commands/status/view.ts';
import { condition, mib, minutesAgo, now, policy, report } from './fixtures.ts';

const problems = (view: ReturnType<typeof statusView>): string[] =>
  view.trouble.map(({ kind, names, reason }) => `${kind} ${names.join(',')}: ${reason}`);

describe('problems', () => {
  const tripped = condition('Degraded', 'True', { reason: 'Tripped', message: 'Nodes missing: 3' });
  const failed = condition('Degraded', 'True', { reason: 'PassFailed', message: 'imagegc failed' });
  const atRisk = condition('KeepListAtRisk', 'True', {
    reason: 'AboveKubelet',
    message: 'The kubelet may remove',
  });

  const short = condition('PressureAhead', 'True', { reason: 'Crossed', message: 'nodefs.available' });

  interface Row {
    readonly name: string;
    readonly policies?: readonly GCPolicy[];
    readonly reports?: readonly NodeGCReport[];
    readonly expected: readonly string[];
  }

  test.each<Row>([
    {
      name: 'none in a healthy cluster',
      policies: [policy('a', { conditions: [condition('Ready', 'True')] })],
      reports: [report('n', { conditions: [condition('Degraded', 'False')] })],
      expected: [],
    },
    {
      name: 'a policy with an open circuit breaker',
      policies: [policy('a', { conditions: [tripped] })],
      expected: ['GCPolicy a: Tripped'],
    },
    {
      name: 'a policy whose large deletion waits',
      policies: [policy('a', { conditions: [condition('Holding', 'True', { reason: 'Holding' })] })],
      expected: ['GCPolicy a: Holding'],
    },
    {
      name: 'namespaces that exceed their budgets',
      policies: [policy('a', { conditions: [condition('BudgetsExceeded', 'True', { reason: 'Over' })] })],
      expected: ['GCPolicy a: Over'],
    },
    {
      name: 'a node that will be short of disk space, after one whose agent fails',
      reports: [
        report('short', { conditions: [short] }),
        report('fine', { conditions: [condition('PressureAhead', 'False')] }),
        report('failed', { conditions: [failed] }),
      ],
      expected: ['Node failed: PassFailed', 'Node short: Crossed'],
    },
    {
      name: 'an invalid policy, whatever its status',
      policies: [policy('a', { spec: { mode: 'Sometimes' } })],
      expected: ['GCPolicy a: InvalidPolicy'],
    },
    {
      name: 'a policy that no controller has observed',
      policies: [{ metadata: { name: 'a', generation: 1 }, spec: {} }],
      expected: ['GCPolicy a: NotObserved'],
    },
    {
      name: 'a policy not observed for two minutes, but not a new one',
      policies: [
        { metadata: { name: 'old', creationTimestamp: minutesAgo(2) }, spec: {} },
        { metadata: { name: 'new', creationTimestamp: minutesAgo(0.5) }, spec: {} },
      ],
      expected: ['GCPolicy old: NotObserved'],
    },
    {
      name: 'a policy whose last change was not observed',
      policies: [policy('a', { observedGeneration: 1 })],
      expected: ['GCPolicy a: NotObserved'],
    },
    {
      name: 'nodes that have not reported',
      policies: [policy('a', { nodes: { desired: 3, upToDate: 1 } })],
      expected: ['GCPolicy a: NodesBehind'],
    },
    {
      name: 'nodes that have not reported within five minutes after the creation of the policy',
      policies: [5, 4.9].map((minutes) => {
        const behind = policy(`${minutes}m`, { nodes: { desired: 3, upToDate: 1 } });
        return { ...behind, metadata: { name: `${minutes}m`, creationTimestamp: minutesAgo(minutes) } };
      }),
      expected: ['GCPolicy 5m: NodesBehind'],
    },
    {
      name: 'a node whose pass failed',
      reports: [report('n', { conditions: [failed] })],
      expected: ['Node n: PassFailed'],
    },
    {
      name: 'a keep list at risk',
      reports: [report('n', { conditions: [atRisk] })],
      expected: ['Node n: AboveKubelet'],
    },
    {
      name: 'a report of 15 minutes is not stale',
      reports: [report('n', { reportTime: minutesAgo(15) })],
      expected: [],
    },
    {
      name: 'an older report is stale',
      reports: [report('n', { reportTime: minutesAgo(15.1) })],
      expected: ['Node n: Stale'],
    },
    {
      name: 'a report of a clock that is ahead is not stale',
      reports: [report('n', { reportTime: minutesAgo(-14) })],
      expected: [],
    },
    {
      name: 'a report from the future may be of an agent that no longer runs',
      reports: [report('n', { reportTime: minutesAgo(-60) })],
      expected: ['Node n: Stale'],
    },
    {
      name: 'a report that never got a status',
      reports: [{ metadata: { name: 'n', creationTimestamp: minutesAgo(16) } }],
      expected: ['Node n: Stale'],
    },
    {
      name: 'none for a condition in status Unknown',
      policies: [policy('a', { conditions: [condition('Degraded', 'Unknown')] })],
      reports: [report('n', { conditions: [condition('KeepListAtRisk', 'Unknown')] })],
      expected: [],
    },
  ])('$name', ({ policies = [], reports = [], expected }) => {
    expect(problems(statusView(policies, reports, now))).toEqual(expected);
  });

  test('the worst come first, and the same problem of several nodes is listed once', () => {
    const policies = [
      policy('behind', { nodes: { desired: 3, upToDate: 1 } }),
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
    const degraded = condition('Degraded', 'True', {
      reason: 'NodesDegraded',
      message: '1 of 1 nodes are degraded',
    });
    const policies = [policy('a', { conditions: [degraded] })];
    expect(problems(statusView(policies, [report('n', { conditions: [failed] })], now))).toEqual([
      'Node n: PassFailed',
    ]);
    expect(problems(statusView(policies, undefined, now))).toEqual(['GCPolicy a: NodesDegraded']);
  });
});

test('policies are in the order in which they claim objects', () => {
  const policies = [policy('b'), policy('high', { spec: { priority: 5, mode: 'Enforce' } }), policy('a')];
  const view = statusView(policies, [], now);
  expect(view.policies.map(({ name, mode, priority }) => [name, mode, priority])).toEqual([
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
  const pods = {
    policies: 2,
    podsDue: 4,
    podsDueInDryRun: 1,
    podsDeleted: 10,
    podsDeletedSince: minutesAgo(60),
  };
  const view = statusView(policies, reports, now);
  expect(view.totals).toEqual({
    ...pods,
    nodes: 1,
    reclaimableBytes: mib,
    reclaimedBytes: 2 * mib,
    reclaimedSince: null,
  });
  const withoutReports = statusView(policies, undefined, now);
  expect(withoutReports.totals).toEqual({
    ...pods,
    nodes: 5,
    reclaimableBytes: 7 * mib,
    reclaimedBytes: 8 * mib,
    reclaimedSince: null,
  });
  expect(withoutReports.nodes).toBeNull();
});

test.each([
  {
    name: 'the reports of its own nodes, including logs',
    reports: [
      report('mine', { logs: { removableBytes: mib }, units: [unit('containergc', 1, 2 * mib)] }),
      report('other', { policy: { name: 'b', observedGeneration: 1 }, logs: { removableBytes: 100 * mib } }),
    ],
    bytes: { reclaimableBytes: mib, reclaimedBytes: 2 * mib },
  },
  {
    name: 'its own status where the reports cannot be read',
    reports: undefined,
    bytes: { reclaimableBytes: 7 * mib, reclaimedBytes: 8 * mib },
  },
])('the reclaimable bytes of a policy come from $name', ({ reports, bytes }) => {
  const nodes = { desired: 1, imageBytesReclaimable: 7 * mib, imageBytesReclaimed: 8 * mib };
  expect(statusView([policy('default', { nodes })], reports, now).policies).toMatchObject([bytes]);
});

test('a policy without rules for nodes has no reclaimable bytes, not 0', () => {
  expect(statusView([policy('pods-only')], [], now).policies).toMatchObject([
    { reclaimableBytes: null, reclaimedBytes: null },
  ]);
});
