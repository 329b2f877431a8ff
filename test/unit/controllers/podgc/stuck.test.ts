import { expect, test } from 'vitest';
import { stuckPods } from '../../../../src/controllers/podgc/stuck.ts';
import type { PodFacts, PodWait } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, now, pod } from '../../../builders.ts';

/** What holds a pod, and the command that helps: test/unit/commands/why/stuck.test.ts. */
const ready = new Map([['node-1', node('node-1')]]);

const pending = (over: Partial<PodWait> = {}): PodFacts =>
  pod('web/api', {
    phase: 'Pending',
    wait: { sinceMs: minutesAgo(60), reason: '', message: '', image: '', ...over },
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

test('the longest stuck are first', () => {
  const names = stuckPods([ending(), pending(), pod('fine')], ready, now).map(({ sinceMs }) => sinceMs);
  expect(names).toEqual([minutesAgo(60), minutesAgo(10)]);
});
