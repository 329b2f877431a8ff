import { describe, expect, test } from 'vitest';
import { ageText } from '../../../src/cli/age-text.ts';
import { statusTable } from '../../../src/cli/status-table.ts';
import { statusView } from '../../../src/cli/status-view.ts';
import { condition, mib, minutesAgo, now, policy, report } from './status.fixtures.ts';

const options = { now, width: 80, colours: false };

const someStatus = {
  imageFileSystem: { usedPercent: 81 },
  images: { removable: { count: 4, bytes: 1536 * mib } },
  units: [{ name: 'imagegc', lastPassTime: minutesAgo(4), result: 'Idle', freedBytesTotal: 512 * mib }],
} as const;
const tripped = condition('Degraded', 'True', {
  reason: 'Tripped',
  message: 'Nodes missing: 3, 60 % of all: orphans are kept',
});
const somePolicy = policy('default', {
  spec: { mode: 'Enforce', pods: {} },
  conditions: [tripped],
  pods: { due: 12, deletedTotal: 1204 },
  nodes: { desired: 1, upToDate: 1, imageBytesReclaimable: 1536 * mib, imageBytesReclaimed: 512 * mib },
});

test('looks like this', () => {
  const view = statusView(
    [somePolicy],
    [report('node-1', { ...someStatus, units: [...someStatus.units] })],
    now,
  );
  expect(statusTable(view, options)).toEqual([
    '! GCPolicy default: Tripped (3m): Nodes missing: 3, 60 % of all: orphans are',
    '  kept',
    '',
    '1 policy, 1 node',
    'pods: 12 due, 1204 deleted',
    'nodes: 1.5 GiB can be freed, 512.0 MiB were freed',
    '',
    'POLICY    MODE     DUE  DELETED  NODES  CAN FREE      FREED  CHANGED',
    'default   Enforce   12     1204    1/1   1.5 GiB  512.0 MiB       1m',
    '',
    'NODE      POLICY   DISK  CAN FREE      FREED  PASS  REPORT',
    'node-1    default  81 %   1.5 GiB  512.0 MiB    4m      1m',
  ]);
});

describe('the width', () => {
  const long = (text: string): string => `${text}-${'x'.repeat(60)}.eu-west-1.compute.internal`;
  const big = 123_456;
  const policies = ['a', 'b'].map((name) =>
    policy(long(name), {
      pods: { due: big, deletedTotal: big * 10 },
      nodes: {
        desired: 5000,
        upToDate: 4999,
        imageBytesReclaimable: 1023.9 * mib,
        imageBytesReclaimed: big ** 3,
      },
      conditions: [
        condition('Degraded', 'True', {
          reason: 'DeletesFailed',
          message: `${'word '.repeat(50)} ${'/path'.repeat(50)}`,
        }),
      ],
    }),
  );
  const reports = ['c', 'd'].map((name) =>
    report(long(name), {
      policy: { name: long('policy'), observedGeneration: 1, mode: 'Enforce' },
      imageFileSystem: { usedPercent: 100 },
      images: { removable: { bytes: 1023.9 * mib } },
      units: [
        {
          name: 'imagegc',
          lastPassTime: minutesAgo(60 * 24 * 365),
          result: 'Idle',
          freedBytesTotal: 1023.9 * mib,
        },
      ],
      reportTime: minutesAgo(60 * 24 * 100),
    }),
  );
  const text = (width: number): readonly string[] =>
    statusTable(statusView(policies, reports, now), { ...options, width });

  test('no line is wider than 80, whatever the names and figures', () => {
    const lines = text(80);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.some((line) => /^a-x.*…/.test(line))).toBe(true);
  });

  test('a wider terminal shows more of a name', () => {
    expect(text(160).some((line) => line.includes(long('d')))).toBe(true);
  });
});

test('what would move the cursor does not reach the terminal', () => {
  const evil = condition('Degraded', 'True', { reason: 'X', message: 'a\u001b[2Jb\nc' });
  const lines = statusTable(statusView([policy('p', { conditions: [evil] })], [], now), options);
  expect(lines.join('')).not.toMatch(/\p{Cc}/u);
});

test.each([
  { name: 'no policy', view: statusView([], [], now), line: 'There is no GCPolicy: nothing is removed.' },
  { name: 'no reports', view: statusView([somePolicy], [], now), line: 'No agent has reported.' },
  {
    name: 'unknown reports',
    view: statusView([somePolicy], undefined, now),
    line: 'The reports of nodes are not known.',
  },
])('$name is said', ({ view, line }) => {
  expect(statusTable(view, options)).toContain(line);
});

test.each([
  { name: 'by Enforce is just due', modes: ['Enforce', 'Enforce'], says: 'pods: 6 due, 2 deleted' },
  {
    name: 'by DryRun is not touched',
    modes: ['DryRun', 'DryRun'],
    says: 'pods: 6 due, none to be touched (DryRun); 2 deleted',
  },
  {
    name: 'by both is told apart',
    modes: ['Enforce', 'DryRun'],
    says: 'pods: 6 due, 3 of them not to be touched (DryRun); 2 deleted',
  },
])('what is due $name', ({ modes, says }) => {
  const policies = modes.map((mode, i) =>
    policy(`p-${i}`, { spec: { mode }, pods: { due: 3, deletedTotal: 1 } }),
  );
  expect(statusTable(statusView(policies, [report('n')], now), options)).toContain(says);
});

test('where no node reports nothing is said of bytes', () => {
  const lines = statusTable(statusView([somePolicy], [], now), options);
  expect(lines).toContain('1 policy, no node reports');
  expect(lines.filter((line) => line.startsWith('nodes:'))).toEqual([]);
});

test('of very many nodes those in trouble and those with most to free are listed', () => {
  const reports = Array.from({ length: 1000 }, (_, i) => report(`node-${i}`));
  const lines = statusTable(
    statusView([], [...reports, report('old', { reportTime: minutesAgo(60) })], now),
    options,
  );
  expect(lines.at(-1)).toBe('… and 951 more: dustpan status -o json has them all.');
  expect(lines.find((line) => line.startsWith('! old'))).toBeDefined();
});

test('trouble is red where there are colours', () => {
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
])('%s is %s ago', (time, text) => {
  expect(ageText(time, now)).toBe(text);
});
