import { expect, test } from 'vitest';
import { stuckPods } from '../../../../src/controllers/podgc/stuck.ts';
import type { PodFacts, PodWait } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, now, pod, podWait } from '../../../builders.ts';

/** What holds a pod, and the command that helps: test/unit/commands/why/stuck.test.ts. */
const ready = new Map([['node-1', node('node-1')]]);

const pending = (over: Partial<PodWait> = {}): PodFacts =>
  pod('web/api', {
    phase: 'Pending',
    wait: podWait(over),
  });
const unbound = (over: Partial<PodWait> = {}): PodFacts => ({ ...pending(over), nodeName: undefined });
const ending = (deletionAtMs = minutesAgo(10)): PodFacts =>
  pod('web/api', { phase: 'Running', deletionAtMs, deletionGracePeriodSeconds: 30 });

const second = 1000;
test.each<readonly [string, PodFacts, sinceMs: number | undefined]>([
  ['ten minutes after its grace period', ending(), minutesAgo(10)],
  ['a second less', ending(minutesAgo(10) + second), undefined],
  ['its grace period has not ended', ending(minutesAgo(-1)), undefined],
  ['Pending for an hour', pending(), minutesAgo(60)],
  ['Unknown for an hour', { ...pending(), phase: 'Unknown' }, minutesAgo(60)],
  ['a second less', pending({ sinceMs: minutesAgo(60) + second }), undefined],
  ['Pending since a time in the future', pending({ sinceMs: minutesAgo(-90) }), undefined],
  ['Pending since an unknown time', { ...pending(), wait: undefined }, undefined],
  [
    'Pending for hours, terminating for a minute',
    { ...pending({ sinceMs: minutesAgo(300) }), deletionAtMs: minutesAgo(1) },
    undefined,
  ],
  ['a scheduling gate', unbound({ reason: 'SchedulingGated' }), undefined],
  [
    'a scheduling gate, and it is terminating',
    { ...unbound({ reason: 'SchedulingGated' }), deletionAtMs: minutesAgo(10) },
    minutesAgo(10),
  ],
  ['running', pod('web/api', { phase: 'Running' }), undefined],
])('since: %s', (_, one, sinceMs) => {
  expect(stuckPods([one], ready, now)[0]?.sinceMs).toBe(sinceMs);
});

const lost = (lostMinutesAgo?: number) =>
  new Map([
    [
      'node-1',
      node('node-1', {
        ready: false,
        readyChangedAtMs: lostMinutesAgo === undefined ? undefined : minutesAgo(lostMinutesAgo),
      }),
    ],
  ]);
/** Eight hours of grace, of which the first has passed. */
const long = { ...ending(minutesAgo(-420)), deletionGracePeriodSeconds: 8 * 3600 };
const working = pending({ isWorking: true, sinceMs: minutesAgo(180) });

test.each<readonly [string, PodFacts, Parameters<typeof stuckPods>[1], sinceMs: number | undefined]>([
  ['a long grace period, from the loss of the node', long, lost(20), minutesAgo(20)],
  ['a long grace period, the node was lost before', long, lost(90), minutesAgo(60)],
  ['a long grace period, the node is lost for nine minutes', long, lost(9), undefined],
  ['a long grace period, the node is ready', long, ready, undefined],
  ['a long grace period, the loss has no time', long, lost(), undefined],
  ['a long grace period, nodes are not known', long, undefined, undefined],
  ['a node that was lost after the grace period', ending(minutesAgo(30)), lost(11), minutesAgo(30)],
  [
    'no grace period is known',
    { ...ending(), deletionGracePeriodSeconds: undefined },
    lost(30),
    minutesAgo(10),
  ],
  ['an init container works', working, ready, undefined],
  ['an init container works, nodes are not known', working, undefined, undefined],
  ['an init container worked when its node was lost', working, lost(70), minutesAgo(70)],
  ['an init container worked when its node was lost, an hour ago almost', working, lost(59), undefined],
  ['an init container worked on a node that does not exist', working, new Map(), minutesAgo(180)],
  ['an init container ended', pending({ initEnd: { reason: '', exitCode: 0 } }), ready, minutesAgo(60)],
])('since, by the node: %s', (_, one, nodes, sinceMs) => {
  expect(stuckPods([one], nodes, now)[0]?.sinceMs).toBe(sinceMs);
});

test('the longest stuck are first', () => {
  const names = stuckPods([ending(), pending(), pod('fine')], ready, now).map(({ sinceMs }) => sinceMs);
  expect(names).toEqual([minutesAgo(60), minutesAgo(10)]);
});
