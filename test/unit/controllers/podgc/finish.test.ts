import { expect, test } from 'vitest';
import { noneSeen, observeFinished } from '../../../../src/controllers/podgc/finish.ts';
import { minutesAgo, now, owner, pod } from '../../../builders.ts';
import { checkRow, terminated, type Row } from './rows.ts';
import { environmentOf } from './environment.ts';

const minute = 60_000;
const right = pod('right', { finishedAtMs: minutesAgo(5) });
const ahead = pod('ahead', { finishedAtMs: minutesAgo(-60) });
const unknown = pod('unknown');
const phaseless = pod('phaseless', { phase: '' });
/** A pod of a node whose clock is two hours behind. */
const longBehind = pod('behind', { finishedAtMs: minutesAgo(120) });
const halfAnHour = terminated({ ttlAfterFinishedMs: 30 * minute });
/** The time after `now`, by both clocks. */
const after = (minutes: number) => ({
  monotonicMs: minutes * minute,
  now: new Date(now.getTime() + minutes * minute),
});

test('accepts finish times that were in the future only because our clock was set back', () => {
  const setBack = { monotonicMs: 0, now: new Date(minutesAgo(60)) };
  const seen = observeFinished(noneSeen, [right, ahead], setBack);
  expect([...seen.keys()]).toEqual(['uid-right', 'uid-ahead']);
  expect([...observeFinished(seen, [right, ahead], after(1)).keys()]).toEqual(['uid-ahead']);
});

test.each([
  { name: 'of a node whose clock is behind', one: longBehind, stepMs: 0 },
  { name: 'of a node whose clock is behind', one: longBehind, stepMs: 60 * minute },
  { name: 'of a node whose clock is behind', one: longBehind, stepMs: -60 * minute },
  { name: 'of a node whose clock is an hour ahead', one: ahead, stepMs: 0 },
  { name: 'without a finish time', one: unknown, stepMs: 0 },
  { name: 'with an empty phase', one: phaseless, stepMs: 0 },
])(
  'a pod $name is deleted a ttl after it was first seen finished; wall clock set by $stepMs ms',
  async ({ one, stepMs }) => {
    const { cluster, pass, clock } = environmentOf([one], halfAnHour);
    await pass();
    clock.advance(15 * minute);
    clock.stepWall(stepMs);
    await pass();
    clock.advance(15 * minute - 1);
    await pass();
    expect(cluster.podNames).toEqual([one.name]);
    clock.advance(1);
    await pass();
    expect(cluster.podNames).toEqual([]);
  },
);

test('a restarted controller counts the ttl from its own first pass: later, never earlier', async () => {
  const first = environmentOf([longBehind], halfAnHour);
  const { cluster } = first;
  await first.pass();
  first.clock.advance(29 * minute);
  const next = environmentOf(cluster, halfAnHour, { clock: first.clock });
  await next.pass();
  first.clock.advance(29 * minute);
  await next.pass();
  expect(cluster.podNames).toEqual(['behind']);
  first.clock.advance(minute);
  await next.pass();
  expect(cluster.podNames).toEqual([]);
});

const job = owner('Job', 'j');

const rows: readonly Row[] = [
  ...[
    { clock: 'a second before its creation', finishedAtMs: minutesAgo(60) - 1_000 },
    { clock: 'in 1970', finishedAtMs: 123_000 },
    { clock: 'in the future', finishedAtMs: minutesAgo(-60) },
    { clock: 'in the year 9999', finishedAtMs: 253_402_300_799_000 },
    { clock: 'at an invalid time', finishedAtMs: NaN },
    { clock: 'at an unknown time', finishedAtMs: undefined },
  ].map(({ clock, finishedAtMs }) => ({
    name: `counts the ttl of a pod that finished ${clock} from when it was first seen finished`,
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
    name: 'accepts a finish in the second of the creation, and one that is ahead by a tolerable skew',
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
    name: 'rejects a finish that was in the future when the pod was first seen finished',
    pods: [pod('ahead', { finishedAtMs: minutesAgo(5) })],
    finishedForMs: new Map([['uid-ahead', 30 * 60_000]]),
    policies: [terminated({ ttlAfterFinishedMs: 30 * 60_000 })],
    deleted: ['ahead Expired'],
  },
  {
    name: 'keepPerOwner: a pod of a node whose clock is ahead displaces no pod that finished later',
    pods: [
      pod('ahead', { finishedAtMs: minutesAgo(-60), controller: job }),
      pod('later', { finishedAtMs: minutesAgo(5), controller: job }),
    ],
    finishedForMs: new Map([['uid-ahead', 600_000]]),
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['ahead Expired'],
    kept: ['later KeptForOwner'],
  },
  {
    name: 'keepPerOwner: after a restart an old pod with a false finish time displaces no sibling',
    pods: [
      pod('old', {
        ...{ createdAtMs: minutesAgo(900), finishedAtMs: minutesAgo(999), controller: job },
      }),
      pod('newest', { finishedAtMs: minutesAgo(5), controller: job }),
      pod('before', { finishedAtMs: minutesAgo(6), controller: job }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['before Expired'],
    kept: ['old KeptForOwner', 'newest KeptForOwner'],
  },
  {
    name: 'keepPerOwner: among pods first seen finished together, the last created is the newest',
    pods: [
      pod('b', { createdAtMs: minutesAgo(9), finishedAtMs: minutesAgo(99), controller: job }),
      pod('c', { createdAtMs: minutesAgo(7), finishedAtMs: minutesAgo(99), controller: job }),
      pod('a', { createdAtMs: minutesAgo(8), finishedAtMs: minutesAgo(98), controller: job }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['b Expired', 'a Expired'],
    kept: ['c KeptForOwner'],
  },
];

test.each(rows)('$name', checkRow);
