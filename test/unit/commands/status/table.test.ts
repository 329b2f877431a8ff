import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { ageText } from '../../../../src/commands/cli/table.ts';
import type { Installation } from '../../../../src/commands/installation/facts.ts';
import { statusView as viewOf } from '../../../../src/commands/status/view.ts';
import { statusTable } from '../../../../src/commands/status/table.ts';
import { installation, condition, mib, minutesAgo, now, policy, report, statusView } from './fixtures.ts';

const options = { now, width: 80, colours: false };

const someStatus: NodeGCReportStatus = {
  imageFileSystem: { usedPercent: 81 },
  images: { removable: { count: 4, bytes: 1536 * mib } },
  units: [
    {
      ...{ name: 'imagegc', lastPassTime: minutesAgo(4), result: 'Idle', freedBytesTotal: 512 * mib },
      totalsSince: minutesAgo(24 * 60),
    },
  ],
};
const tripped = condition('Degraded', 'True', {
  reason: 'Tripped',
  message: 'Nodes missing: 3, 60 % of all; the circuit breaker is open, and orphaned pods are kept',
});
const shortOfSpace = condition('PressureAhead', 'True', {
  reason: 'Crossed',
  message: 'nodefs.available is 4 %',
});
const somePolicy = policy('default', {
  spec: { mode: 'Enforce', pods: {} },
  conditions: [tripped],
  pods: { due: 12, deletedTotal: 1204 },
  nodes: { desired: 1, upToDate: 1, imageBytesReclaimable: 1536 * mib, imageBytesReclaimed: 512 * mib },
});

/** Policies in these modes, each with three due pods. */
const due = (...modes: readonly string[]) =>
  statusView(
    modes.map((mode, i) => policy(`p-${i}`, { spec: { mode }, pods: { due: 3, deletedTotal: 1 } })),
    [report('node-1')],
    now,
  );

const unread = ['gcpolicies', 'nodes', 'deployments of all namespaces'];
const unknown = { ...installation, controllers: undefined, agents: undefined, nodes: undefined, unread };
const broken: Installation = {
  ...installation,
  controllers: installation.controllers?.map((one) => ({ ...one, desired: 0, ready: 0, lease: undefined })),
  agents: installation.agents?.map((one) => ({ ...one, ready: 0, createdTime: minutesAgo(0.5) })),
  warnings: [
    {
      ...{ namespace: 'dustpan-system', kind: 'DaemonSet', name: 'dustpan-agent', reason: 'FailedCreate' },
      message: 'Error creating: pods "dustpan-agent-" is forbidden: exceeded quota: pods, requested: pods=1',
      time: minutesAgo(2),
    },
  ],
};
const autopilot: Installation = {
  ...installation,
  controllers: installation.controllers?.map((one) => ({ ...one, noAgents: 'Autopilot rejects them' })),
  agents: [],
};
const withNodes = policy('default', {
  spec: { pods: {}, nodes: {} },
  pods: { due: 1 },
  nodes: { desired: 3, upToDate: 0 },
});
const reportOf = (i: number) =>
  report(`node-${i}`, {
    usage: {
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

const views = {
  'a policy in trouble, and a node': statusView([somePolicy], [report('node-1', someStatus)], now),
  'no policy': statusView([], [], now),
  'no reports': statusView([somePolicy], [], now),
  'unknown reports': statusView([somePolicy], undefined, now),
  'nothing may be read': viewOf({ policies: undefined, reports: undefined, installation: unknown }, now),
  'problems of the installation': viewOf({ policies: [], reports: [], installation: broken }, now),
  'not installed': viewOf(
    { policies: [], reports: [], installation: { ...installation, controllers: [], agents: [] } },
    now,
  ),
  'a platform without agents, and a policy for nodes': viewOf(
    { policies: [withNodes], reports: [], installation: autopilot },
    now,
  ),
  'the fullest disks': statusView(
    [],
    Array.from({ length: 12 }, (_, i) => reportOf(i)),
    now,
  ),
  'problems by reports of different ages': statusView(
    [],
    [
      report('node-1', { conditions: [shortOfSpace] }),
      report('node-2', { conditions: [shortOfSpace], reportTime: minutesAgo(14) }),
      report('node-3', { reportTime: minutesAgo(40) }),
    ],
    now,
  ),
  'due pods': due('Enforce', 'Enforce'),
  'due pods of policies in mode DryRun': due('DryRun', 'DryRun'),
  'due pods of policies in different modes': due('Enforce', 'DryRun'),
};

test('the tables are those of the file', async () => {
  const texts = Object.entries(views).map(
    ([name, view]) => `# ${name}\n\n${statusTable(view, options).join('\n')}\n`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/status.txt');
});

test('no line is wider than the terminal, whatever the names and messages', () => {
  const message = `${'word '.repeat(50)} ${'/path'.repeat(50)}`;
  const conditions = [condition('Degraded', 'True', { reason: 'DeletesFailed', message })];
  const policies = ['a', 'b'].map((name) => policy(`${name}-${'x'.repeat(90)}`, { conditions }));
  for (const width of [40, 80]) {
    // Commands stay in one line, to be copied.
    const lines = statusTable(statusView(policies, [], now), { ...options, width }).filter(
      (line) => !line.startsWith('    '),
    );
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  }
});

test('only problems are coloured', () => {
  const lines = statusTable(statusView([somePolicy], [], now), { ...options, colours: true });
  expect(lines[2]).toMatch(/^\u001b\[31m! GCPolicy default/);
  expect([...lines.slice(0, 2), ...lines.slice(4)].join('')).not.toContain('\u001b');
});

test.each([
  [minutesAgo(0.5), '30s'],
  [minutesAgo(59.9), '59m'],
  [minutesAgo(60), '1h'],
  [minutesAgo(60 * 49), '2d'],
  [minutesAgo(-5), '0s'],
  ['never', '-'],
  [null, '-'],
])('the age of %s is %s', (time, text) => {
  expect(ageText(time, now)).toBe(text);
});
