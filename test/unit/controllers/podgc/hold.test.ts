import { expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { now, pod, policy, terminatedRule } from '../../../builders.ts';
import { environmentOf, many } from './environment.ts';
import { aged, checkRow, type Row } from './rows.ts';

const hold = { above: 2, forMs: 300_000 };
const expireHeld = (over: Partial<Policy> = {}): Policy => ({
  ...policy({ pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }), hold } }),
  ...over,
});
const three = [aged('a', 30), aged('b', 20), aged('c', 10)];
const allHeld = ['a Holding 12:05:00', 'b Holding 12:05:00', 'c Holding 12:05:00'];
const isNew = new Map([['default', 0]]);

test.each<Row>([
  {
    name: 'a deletion in small passes is as large',
    policies: [
      policy({
        pods: { ...expireHeld().pods, safety: { maxDeletesPerPass: 1, maxOrphanedNodesPercent: 20 } },
      }),
    ],
    ...{ pods: three, inForceForMs: isNew, deleted: [], kept: allHeld },
  },
  {
    name: 'running pods count as governed: half of all may go at once',
    policies: [expireHeld()],
    pods: [...three, ...['x', 'y', 'z'].map((name) => pod(name, { phase: 'Running' }))],
    inForceForMs: isNew,
    deleted: ['a Expired', 'b Expired', 'c Expired'],
  },
])('$name', checkRow);

test('the first pass that would delete more than holdAbove waits holdFor, with one Event, and so does the next generation', async () => {
  const { cluster, recorder, clock, pass, policies, reports } = environmentOf(many(3), expireHeld());
  for (const ms of [0, 20_000, 279_999]) {
    clock.advance(ms);
    await pass();
  }
  expect(cluster.requests).toEqual([]);
  const held = { due: 3, until: new Date(now.getTime() + 300_000) };
  expect(reports[0]?.hold).toEqual({ generation: 1, since: now, held });
  expect(reports.at(-1)).toMatchObject({ due: 0, waiting: 3, deleted: 0 });
  expect(recorder.reasons).toEqual(['Holding GCPolicy/default']);
  const [event] = recorder.events;
  expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'GCPolicy', name: 'default' } });
  expect(event?.note).toMatch(/^Generation 1 would delete 3 of 3 pods; .* until 2026-01-15T12:05:00Z\. To /);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toEqual([]);
  expect(reports.at(-1)?.hold).toMatchObject({ generation: 1, since: now, held: undefined });

  for (const one of many(3)) cluster.pods.set(one.uid, one);
  policies.ranked = [expireHeld({ skipHoldOf: 1, generation: 2 })];
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  expect(recorder.reasons.filter((reason) => reason.startsWith('Holding'))).toHaveLength(2);
});

test.each([
  { name: 'continues a hold', stored: { generation: 1, agoMs: 299_000 }, leftMs: 1_000 },
  {
    name: 'begins one for a generation of the meantime',
    stored: { generation: 9, agoMs: 900_000 },
    leftMs: 300_000,
  },
  {
    name: 'holds no longer with a clock that was ahead',
    stored: { generation: 1, agoMs: -900_000 },
    leftMs: 300_000,
  },
])('a restarted controller $name', async ({ stored, leftMs }) => {
  const since = new Date(now.getTime() - stored.agoMs);
  const { cluster, clock, pass } = environmentOf(many(3), expireHeld(), {
    storedInForce: () => new Map([['default', { generation: stored.generation, since }]]),
  });
  await pass();
  clock.advance(leftMs - 1);
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test('a clock that is set neither ends nor prolongs a hold', async () => {
  const { cluster, clock, pass } = environmentOf(many(3), expireHeld());
  await pass();
  clock.stepWall(3_600_000);
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  clock.stepWall(-7_200_000);
  clock.advance(300_000);
  await pass();
  expect(cluster.podNames).toEqual([]);
});
