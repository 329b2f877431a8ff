import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { filling, mib, minutesAgo, missed, report, statusView, usageOf } from './fixtures.ts';

const within = (span: string): string =>
  `DiskFillsDespiteCollection: At its present growth, nodefs is full within ${span}, even if everything collectable is removed.`;
const almostFull = 'DiskAlmostFull: At least 95 % of nodefs are used.';

test.each<readonly [string, NodeGCReportStatus, readonly string[]]>([
  ['is full within an hour', usageOf(filling(59)), [within('an hour')]],
  ['was to be full by now', usageOf(filling(-1)), [within('an hour')]],
  ['is full in an hour', usageOf(filling(60)), [within('a day')]],
  ['is full within a day', usageOf(filling(1439)), [within('a day')]],
  ['is full later', usageOf(filling(1440)), []],
  ['is full within an hour of a clock that is ahead', usageOf(filling(69), -10), [within('an hour')]],
  ['collection keeps up with', usageOf({ ...filling(30), fullAfterCollectionTime: undefined }), []],
  [
    'fills, and what is collectable is unknown',
    usageOf({ fullTime: minutesAgo(-30) }),
    [
      'DiskFills: At its present growth, nodefs is full within an hour. It is not known how much is collectable.',
    ],
  ],
  ['is almost full, and does not grow', usageOf({ availableBytes: 5 * mib }), [almostFull]],
  ['has a little more available', usageOf({ availableBytes: 5 * mib + 1 }), []],
  ['is full, and has a forecast', usageOf({ ...filling(0), availableBytes: 0 }), [within('an hour')]],
  ['has no size', usageOf({ capacityBytes: 0, availableBytes: 0 }), []],
  ['was measured long ago', usageOf({ ...filling(30), availableBytes: 0 }, 15.1), []],
  [
    'was measured at an unknown time',
    { usage: { ...usageOf(filling(30)).usage, measuredTime: undefined } },
    [],
  ],
  ['is not measured', {}, []],
])('a disk that %s', (_, status, expected) => {
  const { trouble } = statusView([], [report('node-1', status)]);
  expect(trouble.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(expected);
  expect(trouble.every(({ command }) => command === 'dustpan top disk --node=node-1')).toBe(true);
});

test.each<readonly [mode: 'DryRun' | 'Enforce' | undefined, reason: string, isSaid: boolean]>([
  ['DryRun', 'TargetMissed', true],
  ['DryRun', 'PassFailed', false],
  ['Enforce', 'TargetMissed', false],
  [undefined, 'TargetMissed', false],
])('in mode %s a node with %s: that nothing is removed is said: %s', (mode, reason, isSaid) => {
  const conditions = [{ ...missed, reason }];
  const by = { name: 'default', observedGeneration: 2, mode };
  const [problem] = statusView([], [report('node-1', { conditions, policy: by })]).trouble;
  const said = ' GCPolicy default is in mode DryRun: the agent removes nothing.';
  expect(problem).toMatchObject({
    message: `${missed.message}${isSaid ? said : ''}`,
    command: isSaid ? 'dustpan plan --node=node-1' : 'kubectl describe nodegcreport node-1',
  });
});
