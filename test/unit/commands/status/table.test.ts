import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { ageText } from '../../../../src/commands/cli/table.ts';
import { statusTable } from '../../../../src/commands/status/table.ts';
import { statusView } from '../../../../src/commands/status/view.ts';
import { condition, mib, minutesAgo, now, policy, report } from './fixtures.ts';

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
const somePolicy = policy('default', {
  spec: { mode: 'Enforce', pods: {} },
  conditions: [tripped],
  pods: { due: 12, deletedTotal: 1204 },
  nodes: { desired: 1, upToDate: 1, imageBytesReclaimable: 1536 * mib, imageBytesReclaimed: 512 * mib },
});

test('has this layout', () => {
  const view = statusView([somePolicy], [report('node-1', someStatus)], now);
  expect(statusTable(view, options)).toEqual([
    '! GCPolicy default: Tripped (3m): Nodes missing: 3, 60 % of all; the circuit',
    '  breaker is open, and orphaned pods are kept',
    '',
    '1 policy',
    'pods: 12 due, 1204 deleted since 2026-01-15 11:00 UTC',
    '1 node: 1.5 GiB can be freed, 512.0 MiB were freed since 2026-01-14 12:00 UTC',
    'Details: kubectl get gcpolicies,nodegcreports -o wide',
  ]);
});

test('no line is wider than the terminal, whatever the names and messages', () => {
  const message = `${'word '.repeat(50)} ${'/path'.repeat(50)}`;
  const conditions = [condition('Degraded', 'True', { reason: 'DeletesFailed', message })];
  const policies = ['a', 'b'].map((name) => policy(`${name}-${'x'.repeat(90)}`, { conditions }));
  for (const width of [40, 80]) {
    const lines = statusTable(statusView(policies, [], now), { ...options, width });
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  }
});

test.each([
  { name: 'no policy', view: statusView([], [], now), line: 'There is no GCPolicy: nothing is removed.' },
  { name: 'no reports', view: statusView([somePolicy], [], now), line: 'No agent has reported.' },
  {
    name: 'unknown reports',
    view: statusView([somePolicy], undefined, now),
    line: 'The reports of nodes could not be read.',
  },
])('reports $name', ({ view, line }) => {
  expect(statusTable(view, options)).toContain(line);
});

test.each([
  { modes: ['Enforce', 'Enforce'], line: 'pods: 6 due, 2 deleted since 2026-01-15 11:00 UTC' },
  {
    modes: ['DryRun', 'DryRun'],
    line: 'pods: 6 due, all under DryRun policies; 2 deleted since 2026-01-15 11:00 UTC',
  },
  {
    modes: ['Enforce', 'DryRun'],
    line: 'pods: 6 due, 3 of them under DryRun policies; 2 deleted since 2026-01-15 11:00 UTC',
  },
])('due pods of policies in modes $modes', ({ modes, line }) => {
  const policies = modes.map((mode, i) =>
    policy(`p-${i}`, { spec: { mode }, pods: { due: 3, deletedTotal: 1 } }),
  );
  expect(statusTable(statusView(policies, [report('n')], now), { ...options, width: 100 })).toContain(line);
});

test('only problems are coloured', () => {
  const lines = statusTable(statusView([somePolicy], [], now), { ...options, colours: true });
  expect(lines[0]).toMatch(/^\u001b\[31m! GCPolicy default/);
  expect(lines.slice(2).join('')).not.toContain('\u001b');
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
