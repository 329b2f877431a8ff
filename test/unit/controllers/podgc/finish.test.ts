import { expect, test } from 'vitest';
import { noneSeen, observeFinished } from '../../../../src/controllers/podgc/finish.ts';
import { minutesAgo, node, now, owner, pod } from '../../../builders.ts';
import { FakeCluster } from '../../../fakes/cluster.ts';
import { checkRow, terminated, type Row } from './rows.ts';
import { bed } from './environment.ts';

const minute = 60_000;
const right = pod('right', { finishedAtMs: minutesAgo(5) });
const behind = pod('behind', { finishedAtMs: minutesAgo(61) });
const ahead = pod('ahead', { finishedAtMs: minutesAgo(-60) });
/** So many minutes after `now`, by both clocks. */
const after = (minutes: number) => ({
  monotonicMs: minutes * minute,
  now: new Date(now.getTime() + minutes * minute),
});

test('only a finished pod whose finish time cannot be true is remembered, since it was first seen', () => {
  const running = pod('running', { phase: 'Running', createdAtMs: minutesAgo(-9) });
  const first = observeFinished(noneSeen, [right, behind, ahead, running], after(0));
  expect(first).toEqual(
    new Map([
      ['uid-behind', 0],
      ['uid-ahead', 0],
    ]),
  );
  expect(observeFinished(first, [right, behind, ahead], after(3))).toEqual(first);
});

test('a pod that is gone is forgotten', () => {
  expect(observeFinished(new Map([['uid-gone', 0]]), [behind], after(1))).toEqual(
    new Map([['uid-behind', minute]]),
  );
});

test('a finish in the future is not believed once that time has come', () => {
  const first = observeFinished(noneSeen, [ahead], after(0));
  expect(observeFinished(first, [ahead], after(120))).toEqual(first);
});

test('pods that a set-back clock of ours put into the future are believed again when it is right', () => {
  const setBack = { monotonicMs: 0, now: new Date(minutesAgo(60)) };
  const seen = observeFinished(noneSeen, [right, ahead], setBack);
  expect([...seen.keys()]).toEqual(['uid-right', 'uid-ahead']);
  expect([...observeFinished(seen, [right, ahead], after(1)).keys()]).toEqual(['uid-ahead']);
});

test('a pod of a node that is behind is collected a ttl after the controller first saw it finished', async () => {
  const cluster = new FakeCluster([pod('behind', { finishedAtMs: minutesAgo(120) })], [node('node-1')]);
  const { pass, clock } = bed(cluster, terminated({ ttlAfterFinishedMs: 30 * minute }));
  await pass();
  clock.advance(30 * minute - 1);
  await pass();
  expect(cluster.podNames).toEqual(['behind']);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test.each([
  { name: 'a wall clock that is set forward', stepMs: 60 * minute },
  { name: 'a wall clock that is set back', stepMs: -60 * minute },
])('$name neither hurries nor delays that', async ({ stepMs }) => {
  const cluster = new FakeCluster([pod('behind', { finishedAtMs: minutesAgo(120) })], [node('node-1')]);
  const { pass, clock } = bed(cluster, terminated({ ttlAfterFinishedMs: 30 * minute }));
  await pass();
  clock.advance(15 * minute);
  clock.stepWall(stepMs);
  await pass();
  clock.advance(15 * minute - 1);
  await pass();
  expect(cluster.podNames).toEqual(['behind']);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test('a controller that starts anew counts anew: later, never earlier', async () => {
  const cluster = new FakeCluster([pod('behind', { finishedAtMs: minutesAgo(120) })], [node('node-1')]);
  const first = bed(cluster, terminated({ ttlAfterFinishedMs: 30 * minute }));
  await first.pass();
  first.clock.advance(29 * minute);
  const next = bed(cluster, terminated({ ttlAfterFinishedMs: 30 * minute }), { clock: first.clock });
  await next.pass();
  first.clock.advance(29 * minute);
  await next.pass();
  expect(cluster.podNames).toEqual(['behind']);
  first.clock.advance(minute);
  await next.pass();
  expect(cluster.podNames).toEqual([]);
});

const rows: readonly Row[] = [
  ...[
    { clock: 'a second before its creation', finishedAtMs: minutesAgo(60) - 1_000 },
    { clock: 'in 1970', finishedAtMs: 123_000 },
    { clock: 'in the future', finishedAtMs: minutesAgo(-60) },
    { clock: 'in the year 9999', finishedAtMs: 253_402_300_799_000 },
    { clock: 'at a time that is none', finishedAtMs: NaN },
  ].map(({ clock, finishedAtMs }) => ({
    name: `a pod that says it finished ${clock}: the ttl counts from when it was first seen finished`,
    pods: ['due', 'soon', 'fresh'].map((name) => pod(name, { finishedAtMs })),
    finishedForMs: new Map([
      ['uid-due', 600_000],
      ['uid-soon', 599_999],
    ]),
    policies: [terminated({ ttlAfterFinishedMs: 600_000 })],
    deleted: ['due Expired'],
    kept: ['soon TooYoung 12:00:00', 'fresh TooYoung 12:10:00'],
  })),
  {
    name: 'a finish in the second of the creation, and one that a synchronised clock may be ahead, are believed',
    pods: [
      pod('at-once', { createdAtMs: minutesAgo(5), finishedAtMs: minutesAgo(5) }),
      pod('ahead', { createdAtMs: minutesAgo(5), finishedAtMs: now.getTime() + 60_000 }),
      pod('too-far', { createdAtMs: minutesAgo(5), finishedAtMs: now.getTime() + 60_001 }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 600_000 })],
    deleted: [],
    kept: ['at-once TooYoung 12:05:00', 'ahead TooYoung 12:11:00', 'too-far TooYoung 12:10:00'],
  },
  {
    name: 'a finish that has ceased to be in the future is after the pod was first seen finished, and is not believed either',
    pods: [pod('ahead', { finishedAtMs: minutesAgo(5) })],
    finishedForMs: new Map([['uid-ahead', 30 * 60_000]]),
    policies: [terminated({ ttlAfterFinishedMs: 30 * 60_000 })],
    deleted: ['ahead Expired'],
  },
  {
    name: 'keepPerOwner: a pod of a node that is ahead pushes out none that finished later',
    pods: [
      pod('ahead', { finishedAtMs: minutesAgo(-60), controller: owner('Job', 'j') }),
      pod('later', { finishedAtMs: minutesAgo(5), controller: owner('Job', 'j') }),
    ],
    finishedForMs: new Map([['uid-ahead', 600_000]]),
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['ahead Expired'],
    kept: ['later KeptForOwner'],
  },
  {
    name: 'keepPerOwner: after a restart an old pod of a broken clock pushes out no sibling',
    pods: [
      pod('old', {
        ...{ createdAtMs: minutesAgo(900), finishedAtMs: minutesAgo(999), controller: owner('Job', 'j') },
      }),
      pod('newest', { finishedAtMs: minutesAgo(5), controller: owner('Job', 'j') }),
      pod('before', { finishedAtMs: minutesAgo(6), controller: owner('Job', 'j') }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['before Expired'],
    kept: ['old KeptForOwner', 'newest KeptForOwner'],
  },
  {
    name: 'keepPerOwner: of pods first seen finished at once, the newest created is the newest',
    pods: [
      pod('b', { createdAtMs: minutesAgo(9), finishedAtMs: minutesAgo(99), controller: owner('Job', 'j') }),
      pod('c', { createdAtMs: minutesAgo(7), finishedAtMs: minutesAgo(99), controller: owner('Job', 'j') }),
      pod('a', { createdAtMs: minutesAgo(8), finishedAtMs: minutesAgo(98), controller: owner('Job', 'j') }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['b Expired', 'a Expired'],
    kept: ['c KeptForOwner'],
  },
];

test.each(rows)('$name', checkRow);
