import { describe, expect, test } from 'vitest';
import type { GCPolicy } from '../../../../src/api/gen/gcpolicy.gen.ts';
import type { NodeGCReport } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { ageText } from '../../../../src/process/table.ts';
import type { Right } from '../../../../src/api/policy/needs.ts';
import type { Installation } from '../../../../src/evaluation/installation/facts.ts';
import { nodeNames, nodeRows, statusTable } from '../../../../src/commands/status/table.ts';
import { statusView as viewOf } from '../../../../src/commands/status/view.ts';
import {
  agents,
  condition,
  controller,
  filling,
  installation,
  mib,
  minutesAgo,
  missed,
  nodes,
  now,
  policy,
  report,
  statusView,
  usageOf,
} from './fixtures.ts';

const failed = condition('Degraded', 'True', { reason: 'PassFailed', message: 'imagegc failed' });
const tripped = condition('Degraded', 'True', {
  reason: 'Tripped',
  message: 'Nodes missing: 3, 60 % of all; the circuit breaker is open, and orphaned pods are kept',
});
const short = condition('PressureAhead', 'True', { reason: 'Crossed', message: 'nodefs.available is 4 %' });
const atRisk = condition('KeepListAtRisk', 'True', { reason: 'AboveKubelet', message: 'It may remove' });
const unit = (name: 'imagegc' | 'containergc', minutes: number, freedBytesTotal: number) =>
  ({ name, lastPassTime: minutesAgo(minutes), result: 'Idle', freedBytesTotal }) as const;

describe('tables', () => {
  const options = { now, width: 80, colours: false };
  const freeing = report('node-1', {
    images: { removable: { count: 4, bytes: 1536 * mib } },
    units: [{ ...unit('imagegc', 4, 512 * mib), totalsSince: minutesAgo(24 * 60) }],
  });
  const inTrouble = policy('default', {
    spec: { mode: 'Enforce', pods: {} },
    conditions: [tripped],
    pods: { due: 12, deletedTotal: 1204 },
    nodes: { desired: 1, upToDate: 1, imageBytesReclaimable: 1536 * mib, imageBytesReclaimed: 512 * mib },
  });
  const due = (mode: string) => policy(mode, { spec: { mode }, pods: { due: 3, deletedTotal: 1 } });
  const unread = ['gcpolicies', 'nodes', 'deployments of all namespaces'];
  const unknown = { ...installation, controllers: undefined, agents: undefined, nodes: undefined, unread };
  const broken: Installation = {
    ...installation,
    controllers: [{ ...controller, desired: 0, ready: 0, lease: undefined }],
    agents: [{ ...agents, ready: 0, createdTime: minutesAgo(0.5) }],
    warnings: [
      {
        ...{ namespace: 'dustpan-system', kind: 'DaemonSet', name: 'dustpan-agent', reason: 'FailedCreate' },
        message:
          'Error creating: pods "dustpan-agent-" is forbidden: exceeded quota: pods, requested: pods=1',
        time: minutesAgo(2),
      },
    ],
  };
  const unmatched = {
    reason: 'SelectsNothing',
    message: 'The policy is valid; no image on 3 nodes matches "ngnix" of nodes.imageGC.keep',
  };
  const autopilot = { controllers: [{ ...controller, noAgents: 'Autopilot rejects them' }], agents: [] };
  const withNodes = policy('default', {
    spec: { pods: {}, nodes: {} },
    pods: { due: 1 },
    nodes: { desired: 3, upToDate: 0 },
  });
  const filled = (i: number) =>
    report(`node-${i}`, {
      usage: {
        podSlots: 110,
        podSlotsTaken: i === 9 ? undefined : 100 + i,
        measuredTime: minutesAgo(1),
        fileSystems: [
          {
            ...{ name: 'nodefs', capacityBytes: 1000 * mib, availableBytes: (900 - 50 * i) * mib },
            ...{ usedBytes: (100 + 50 * i) * mib, imagesUnusedBytes: 60 * mib, otherBytes: 5 * mib },
          },
        ],
        pods: [{ namespace: 'team-a', name: 'web-0', uid: 'u', bytes: i * 10 * mib }],
      },
    });
  const of = (given: Partial<Installation>, policies: readonly GCPolicy[] = []) => {
    const changed = { ...installation, ...given };
    return viewOf({ policies, reports: [], installation: changed, nodes: changed.nodes }, now);
  };
  const [first, second] = nodes;
  const lost = { ...first, ready: false, readyChangedAtMs: now.getTime() - 240_000 };
  const justMade = { ready: 0, createdTime: minutesAgo(0.1) };
  const young = {
    controllers: [{ ...controller, ...justMade, lease: undefined }],
    ...{ agents: [{ ...agents, ...justMade }], nodes: [lost, second] },
  };
  const full = { ...second, taintKeys: ['node.kubernetes.io/disk-pressure'] };

  const views = {
    'a policy in trouble, and a node': statusView([inTrouble], [freeing]),
    'unknown reports': statusView([inTrouble], undefined),
    'unknown reports, and no sums of them': statusView(
      [policy('a', { spec: { nodes: {} }, nodes: { desired: 1 } })],
      undefined,
    ),
    'a hold, and a policy before its first pass': statusView(
      [
        policy('a', {
          spec: { mode: 'Enforce', pods: {} },
          pods: { due: 0, waiting: 40 },
          hold: { rulesId: 'r', since: minutesAgo(1), until: minutesAgo(-4), due: 40 },
        }),
        policy('b', { spec: { pods: {} } }),
      ],
      [],
    ),
    'only a policy before its first pass': statusView([policy('b', { spec: { pods: {} } })], []),
    'a pass that ended long ago, and a controller without rights': of(
      {
        missingRights: [
          {
            ...{ kind: 'Deployment', namespace: 'dustpan-system', serviceAccount: 'dustpan' },
            rights: [
              { verb: 'list', group: '', resource: 'pods' },
              { verb: 'list', group: 'batch', resource: 'jobs', values: ['rbac.jobs'] },
            ],
          },
        ],
      },
      [policy('a', { spec: { pods: {} }, lastPassTime: minutesAgo(30), pods: { due: 2 } })],
    ),
    'no DaemonSet beside the Deployment of the chart': of({ agents: [] }),
    "a threshold above the kubelet's": statusView(
      [],
      [
        report('node-1', {
          conditions: [
            condition('KeepListAtRisk', 'True', { reason: 'ThresholdTooHigh', message: 'Set it lower' }),
          ],
        }),
      ],
    ),
    'a pattern that matches no image': statusView(
      [policy('a', { conditions: [condition('Accepted', 'True', unmatched)] })],
      [],
    ),
    'nothing may be read': viewOf(
      { policies: undefined, reports: undefined, installation: unknown, nodes: undefined },
      now,
    ),
    'no node is ready, and one has DiskPressure': of({ nodes: [lost, { ...full, ready: false }] }),
    'values of different ages': statusView(
      [],
      [
        report('node-4', {
          ...filled(4).status,
          conditions: [
            condition('Degraded', 'True', { reason: 'TargetMissed', message: 'imagegc: 87 % used' }),
          ],
          units: [{ ...unit('imagegc', 6, 0), result: 'Short' }, unit('containergc', 1, 0)],
        }),
      ],
    ),
    'problems of the installation': of(broken),
    'not installed': of({ controllers: [], agents: [] }),
    'installed by other means, with fresh passes and reports': viewOf(
      {
        policies: [policy('default', { spec: { pods: {} } })],
        reports: [report('node-1'), report('node-2')],
        installation: { ...installation, controllers: [], agents: [] },
        nodes,
      },
      now,
    ),
    'a controller that was installed a moment ago, agents that work, and a node that is not ready': of({
      ...young,
      agents: [agents],
    }),
    'installed a moment ago, and a node is not ready': of(young),
    'a platform without agents, and a policy for nodes': of(autopilot, [withNodes]),
    'an agent that the node selector has taken off its node': viewOf(
      {
        ...{ policies: [], reports: [report('node-2')], nodes },
        installation: {
          ...{ ...installation, agents: [{ ...agents, desired: 1, ready: 1, nodeSelector: { pool: 'a' } }] },
          ...{ pods: [], nodes: [{ ...first, labels: { pool: 'a' } }, second] },
        },
      },
      now,
    ),
    'the fullest disks': statusView(
      [],
      Array.from({ length: 12 }, (_, i) => filled(i)),
    ),
    'disks that will be full despite collection, and a target missed in mode DryRun': statusView(
      [],
      [
        ...['node-1', 'node-2', 'node-3', 'node-4', 'node-5'].map((name) =>
          report(name, usageOf({ ...filling(30), name: 'imagefs' })),
        ),
        report('node-6', {
          ...{ conditions: [missed], policy: { name: 'default', observedGeneration: 2, mode: 'DryRun' } },
          ...usageOf({ availableBytes: 4 * mib }),
        }),
      ],
    ),
    'problems by reports of different ages': statusView(
      [],
      [
        report('node-1', { conditions: [short] }),
        report('node-2', { conditions: [short], reportTime: minutesAgo(14) }),
        report('node-3', { reportTime: minutesAgo(40) }),
      ],
    ),
    'due pods of policies in different modes': statusView(
      [due('Enforce'), due('DryRun')],
      [report('node-1')],
    ),
  };

  test('are those of the file', async () => {
    const texts = Object.entries(views).map(
      ([name, view]) => `# ${name}\n\n${statusTable(view, options).join('\n')}\n`,
    );
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/status.txt');
  });

  test('for scripts: all nodes, not cut, and none is left out because its disk is unknown', () => {
    const long = `node-${'x'.repeat(60)}`;
    const view = statusView([], [report(long, {}), ...Array.from({ length: 12 }, (_, i) => filled(i))]);
    expect(nodeNames(view)).toHaveLength(13);
    expect(nodeNames(view)[0]).toBe('node/node-11');
    expect(nodeRows(view, { ...options, width: undefined }).at(-1)).toMatch(`${long}  `);
    const wide = statusTable(view, { ...options, isWide: true });
    expect(wide.find((line) => line.startsWith(long))).toMatch(/ - .* 0 +0 +/);
    // As the totals call it: part of it is not due.
    expect(wide.find((line) => line.startsWith('NODE'))).toMatch(/ REMOVABLE +FREED /);
  });

  test('are not wider than the terminal, whatever the names and messages', () => {
    const message = `${'word '.repeat(50)} ${'/path'.repeat(50)}`;
    const conditions = [condition('Degraded', 'True', { reason: 'DeletesFailed', message })];
    const policies = ['a', 'b'].map((name) => policy(`${name}-${'x'.repeat(90)}`, { conditions }));
    for (const width of [40, 80]) {
      // Commands stay in one line, to be copied.
      const lines = statusTable(statusView(policies, []), { ...options, width }).filter(
        (line) => !line.startsWith('    '),
      );
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    }
  });

  test('have ages in one unit', () => {
    const times = [...[0.5, 59.9, 60, 60 * 49, -5].map(minutesAgo), null];
    expect(times.map((time) => ageText(time, now))).toEqual(['30s', '59m', '1h', '2d', '0s', '-']);
  });
});

describe('problems', () => {
  const problems = (policies: readonly GCPolicy[], reports: readonly NodeGCReport[] | undefined = []) =>
    statusView(policies, reports).trouble.map(
      ({ kind, names, reason }) => `${kind} ${names.join(',')}: ${reason}`,
    );
  const created = (name: string, minutes: number) => ({ name, creationTimestamp: minutesAgo(minutes) });
  const behind = { spec: { nodes: {} }, nodes: { desired: 2, upToDate: 0 } };
  /** A policy that the controller has not observed since it was written, so many minutes ago. */
  const edited = (
    name: string,
    minutes: number,
    over: Parameters<typeof policy>[1] = { observedGeneration: 1 },
  ) => {
    const one = policy(name, over);
    const managedFields = [
      { manager: 'kubectl', time: minutesAgo(minutes) },
      { manager: 'dustpan', subresource: 'status', time: minutesAgo(0) },
    ];
    return { ...one, metadata: { name, ...one.metadata, managedFields } };
  };
  const under = (name: string, observedGeneration = 2) =>
    ({ policy: { name, observedGeneration, mode: 'Enforce' } }) as const;

  test('nodes that are not ready, or under pressure by their taints, worst first', () => {
    const state = { ...nodes[0], ready: false, taintKeys: ['node.kubernetes.io/memory-pressure'] };
    const pressed = {
      ...nodes[1],
      taintKeys: ['node.kubernetes.io/disk-pressure', 'node.kubernetes.io/pid-pressure'],
    };
    const facts = { policies: [policy('a', { conditions: [tripped] })], reports: [], installation };
    const { trouble, verdict } = viewOf({ ...facts, nodes: [state, pressed] }, now);
    expect(trouble.map(({ names, reason }) => `${names.join(',')} ${reason}`)).toEqual([
      'node-1 NotReady',
      'node-1 MemoryPressure',
      'node-2 DiskPressure',
      'node-2 PIDPressure',
      'a Tripped',
    ]);
    expect(verdict).toBe('WorksInPart');
    expect(viewOf({ ...facts, nodes: [pressed] }, now).verdict).toBe('Works');
    // As of the installation alone: no test of a release fails because of a node.
    expect(viewOf({ ...facts, policies: undefined, nodes: undefined }, now).trouble).toEqual([]);
  });

  test('without a leader and a node that is ready, nothing works', () => {
    const without = { ...installation, controllers: [{ ...controller, ready: 0, lease: undefined }] };
    const facts = { policies: [], reports: [], installation: without };
    const lost = nodes.map((one) => ({ ...one, ready: false }));
    expect(viewOf({ ...facts, nodes: lost }, now).verdict).toBe('DoesNotWork');
    expect(viewOf({ ...facts, nodes }, now).verdict).toBe('WorksInPart');
    expect(viewOf({ ...facts, nodes: [] }, now).verdict).toBe('WorksInPart');
  });

  test('a node that has just become ready is not late', () => {
    const reasonsAfter = (minutes: number): readonly string[] => {
      const [first, second] = nodes;
      const joined = { ...second, readyChangedAtMs: now.getTime() - minutes * 60_000 };
      const facts = {
        policies: [policy('a', behind)],
        reports: [report('node-1', under('a'))],
        installation,
      };
      return viewOf({ ...facts, nodes: [first, joined] }, now).trouble.map(({ reason }) => reason);
    };
    expect([4.9, 5].map(reasonsAfter)).toEqual([[], ['NodesBehind']]);
  });

  test('the worst come first, and the same problem of several nodes is listed once', () => {
    const policies = [
      policy('tripped', { conditions: [tripped] }),
      policy('broken', { spec: { priority: 'x' } }),
      policy('waiting', { conditions: [condition('Holding', 'True', { reason: 'Holding' })] }),
      policy('budgets', { conditions: [condition('BudgetsExceeded', 'True', { reason: 'Over' })] }),
      policy('changed', { observedGeneration: 1 }),
    ];
    const reports = [
      report('z', { conditions: [atRisk] }),
      report('b', { conditions: [failed] }),
      report('short', { conditions: [short] }),
      report('old', { reportTime: minutesAgo(120) }),
      report('a', { conditions: [failed] }),
    ];
    expect(problems(policies, reports)).toEqual([
      'GCPolicy broken: InvalidPolicy',
      'GCPolicy tripped: Tripped',
      'Node a,b: PassFailed',
      'GCPolicy budgets: Over',
      'Node z: AboveKubelet',
      'Node short: Crossed',
      'GCPolicy waiting: Holding',
      'GCPolicy changed: NotObserved',
      'Node old: Stale',
    ]);
  });

  test.each<readonly [string, readonly GCPolicy[], readonly NodeGCReport[], readonly string[]]>([
    [
      'none by a status that is False or Unknown',
      [policy('a', { conditions: [condition('Ready', 'True'), condition('Degraded', 'Unknown')] })],
      [report('n', { conditions: [condition('Degraded', 'False'), condition('KeepListAtRisk', 'Unknown')] })],
      [],
    ],
    [
      'a policy that no controller has observed for two minutes, but not a new one',
      [created('old', 2), created('new', 0.5)].map((metadata) => ({ metadata, spec: {} })),
      [],
      ['GCPolicy old: NotObserved'],
    ],
    [
      'a policy that no controller has observed for two minutes after a change',
      [edited('old', 2), edited('new', 0.5)],
      [],
      ['GCPolicy old: NotObserved'],
    ],
    [
      'no nodes whose agents reported just before another policy was deleted, or this one changed',
      [policy('a', behind)],
      [report('node-1', under('deleted')), report('node-2', under('a', 1))],
      [],
    ],
    [
      'nodes whose last report is older than a change can be',
      [policy('a', behind)],
      [
        report('node-1', { reportTime: minutesAgo(6), ...under('deleted') }),
        report('node-2', { reportTime: minutesAgo(6), ...under('a') }),
      ],
      ['GCPolicy a: NodesBehind'],
    ],
    [
      'parts of a policy that match nothing, by its condition',
      ['SelectsNothing', 'MatchesNothing', 'Valid'].map((reason, i) =>
        policy('abc'.charAt(i), { conditions: [condition('Accepted', 'True', { reason })] }),
      ),
      [],
      ['GCPolicy a: SelectsNothing', 'GCPolicy b: MatchesNothing'],
    ],
    [
      'nodes of an agent that does not report',
      [policy('a', behind)],
      [report('node-1')],
      ['GCPolicy a: NodesBehind'],
    ],
    [
      'reports that are older than 15 minutes, without a time, or of a clock that is as far ahead',
      [],
      [
        ...[15, 15.1, -14, -60].map((minutes) => report(`${minutes}m`, { reportTime: minutesAgo(minutes) })),
        { metadata: created('never', 16) },
      ],
      ['Node -60m,15.1m,never: Stale'],
    ],
  ])('%s', (_, policies, reports, expected) => {
    expect(problems(policies, reports)).toEqual(expected);
  });

  test.each<readonly [string, (minutes: number) => GCPolicy]>([
    ['a change of a policy', (minutes) => edited('a', minutes, behind)],
    ['the creation of a policy', (minutes) => ({ ...policy('a', behind), metadata: created('a', minutes) })],
  ])('nodes have five minutes to report after %s', (_, policyOf) => {
    const found = [4.9, 5].map((minutes) => problems([policyOf(minutes)]));
    expect(found).toEqual([[], ['GCPolicy a: NodesBehind']]);
  });

  test('the command for a right that the values of the chart leave out sets the value that grants it', () => {
    const degraded = condition('Degraded', 'True', { reason: 'MissingRights', message: 'It may not' });
    const spec = { pods: { terminated: { protectUnfinishedJobs: true } } };
    const policies = [policy('a', { spec, conditions: [degraded] })];
    const commandsOf = (rights: readonly Right[]): readonly string[] => {
      const missingRights = [{ ...controller, rights }];
      const facts = { policies, reports: [], nodes: [], installation: { ...installation, missingRights } };
      return viewOf(facts, now).trouble.map(({ command }) => command);
    };
    const listJobs = { verb: 'list', group: 'batch', resource: 'jobs', values: ['rbac.jobs'] };
    expect(commandsOf([listJobs])).toEqual([expect.stringMatching(/^helm upgrade .* --set rbac.jobs=true$/)]);
    expect(commandsOf([])).toEqual(['kubectl describe gcpolicy a']);
  });

  test('degraded nodes are listed by their own reports, or by the policy where reports cannot be read', () => {
    const degraded = condition('Degraded', 'True', { reason: 'NodesDegraded', message: '1 of 1 nodes' });
    const policies = [policy('a', { conditions: [degraded] })];
    expect(problems(policies, [report('n', { conditions: [failed] })])).toEqual(['Node n: PassFailed']);
    expect(statusView(policies, undefined).trouble).toMatchObject([
      { names: ['a'], reason: 'NodesDegraded' },
    ]);
  });

  test.each<[string, Parameters<typeof policy>[1], Record<string, unknown>, readonly string[]]>([
    [
      'selects everything',
      { spec: { pods: {}, nodes: {} } },
      { pods: {}, nodes: {} },
      ['GCPolicy low: Shadowed'],
    ],
    ['has no nodes', { spec: { pods: {}, nodes: {} } }, { pods: {} }, []],
    ['excludes a namespace', { spec: { pods: {} } }, { pods: { excludeNamespaces: ['a'] } }, []],
    ['leaves it pods', { spec: { pods: {} }, pods: { governed: 1 } }, { pods: {} }, []],
  ])('a policy governs nothing if one of a higher rank %s', (_, low, high, expected) => {
    expect(problems([policy('low', low), policy('high', { spec: { priority: 5, ...high } })])).toEqual(
      expected,
    );
  });
});

describe('as data', () => {
  test('policies are in the order in which they claim objects', () => {
    const high = policy('high', { spec: { priority: 5, mode: 'Enforce' } });
    expect(statusView([policy('b'), high, policy('a')], []).policies).toMatchObject([
      { name: 'high', mode: 'Enforce', priority: 5 },
      { name: 'a', mode: 'DryRun', priority: 0 },
      { name: 'b', mode: 'DryRun', priority: 0 },
    ]);
  });

  test('nodes with problems come first, then those with the most reclaimable bytes, then by name', () => {
    const free = (bytes: number) => ({ images: { removable: { bytes } } });
    const reports = [
      report('b', free(1)),
      report('a', free(1)),
      report('much', free(9)),
      report('stale', { reportTime: minutesAgo(99) }),
    ];
    expect(statusView([], reports).nodes?.map(({ name }) => name)).toEqual(['stale', 'much', 'a', 'b']);
  });

  test('a node has the bytes of images and logs, the bytes freed by all units, and its last pass', () => {
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
    expect(statusView([], [report('n', status)]).nodes?.[0]).toMatchObject({
      ...{ name: 'n', inTrouble: false, policy: 'default', mode: 'Enforce', imageFsUsedPercent: 81 },
      ...{ imagesRemovable: 4, containersRemovable: 2, reclaimableBytes: 110, reclaimedBytes: 1050 },
      lastPassTime: minutesAgo(1),
      signals: [signal],
    });
  });

  const nodes = { desired: 5, upToDate: 5, imageBytesReclaimable: 7 * mib, imageBytesReclaimed: 8 * mib };

  test('totals are of the reports, or of the policies where reports cannot be read', () => {
    const policies = [
      policy('a', { spec: { mode: 'Enforce' }, pods: { due: 3, deletedTotal: 10 }, nodes }),
      policy('b', { pods: { due: 1 } }),
    ];
    const freed = (minutes: number) => ({ ...unit('imagegc', 1, mib), totalsSince: minutesAgo(minutes) });
    const reports = [
      report('m', { logs: { removableBytes: mib }, units: [freed(30)] }),
      report('n', { units: [freed(90)] }),
    ];
    const common = { policies: 2, podsDue: 4, podsDueInDryRun: 1, podsDeleted: 10, podsHeld: 0 };
    // The oldest of the policies and units.
    const podsDeletedSince = minutesAgo(60);
    expect(statusView(policies, reports).totals).toMatchObject({
      ...{ ...common, podsDeletedSince, nodes: 2, reclaimableBytes: mib },
      ...{ reclaimedBytes: 2 * mib, reclaimedSince: minutesAgo(90) },
    });
    const sums = { nodes: 5, reclaimableBytes: 7 * mib, reclaimedBytes: 8 * mib, reclaimedSince: null };
    expect(statusView(policies, undefined)).toMatchObject({ totals: { ...common, ...sums }, nodes: null });
  });

  test('the bytes of a policy are those of its own nodes, else of its status, else none', () => {
    const reports = [
      report('mine', { logs: { removableBytes: mib }, units: [unit('containergc', 1, 2 * mib)] }),
      report('other', { policy: { name: 'b', observedGeneration: 1 }, logs: { removableBytes: 100 * mib } }),
    ];
    const bytesBy = (given: typeof reports | undefined, rules = {}) => {
      const row = statusView([policy('default', rules)], given).policies?.[0];
      return [row?.reclaimableBytes, row?.reclaimedBytes];
    };
    expect(bytesBy(reports, { nodes })).toEqual([mib, 2 * mib]);
    expect(bytesBy(undefined, { nodes })).toEqual([7 * mib, 8 * mib]);
    expect(bytesBy([])).toEqual([null, null]);
  });
});
