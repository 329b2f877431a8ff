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

/** Policies in these modes, each with three due pods. */
const due = (...modes: readonly string[]) =>
  statusView(
    modes.map((mode, i) => policy(`p-${i}`, { spec: { mode }, pods: { due: 3, deletedTotal: 1 } })),
    [report('node-1')],
    now,
  );

const views = {
  'a policy in trouble, and a node': statusView([somePolicy], [report('node-1', someStatus)], now),
  'no policy': statusView([], [], now),
  'no reports': statusView([somePolicy], [], now),
  'unknown reports': statusView([somePolicy], undefined, now),
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
    const lines = statusTable(statusView(policies, [], now), { ...options, width });
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  }
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
