import { expect, test } from 'vitest';
import { rankPolicies } from '../../../../src/api/policy/matching.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { now, pod, policy, terminatedRule } from '../../../builders.ts';
import { environmentOf, many } from './environment.ts';
import { aged, checkRow, type Row } from './rows.ts';

const hold = { above: 2, forMs: 300_000 };
const expireHeld = (over: Partial<Policy> = {}): Policy => ({
  ...policy({ pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }), hold } }),
  ...over,
});
const expireByDefault = (): Policy =>
  policy({
    pods: {
      terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
      hold: { above: undefined, forMs: 300_000 },
    },
  });
const running = (count: number) =>
  Array.from({ length: count }, (_, at) => pod(`run-${at}`, { phase: 'Running' }));
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
  {
    name: 'without holdAbove, 11 of 11 wait, although a small cluster runs more pods',
    policies: [expireByDefault()],
    pods: [...many(11), ...running(20)],
    inForceForMs: isNew,
    deleted: [],
    kept: [
      ...many(11).map(({ name }) => `${name} Holding 12:05:00`),
      ...running(20).map(({ name }) => `${name} NotTerminated`),
    ],
  },
  {
    name: 'without holdAbove, 10 may go at once',
    policies: [expireByDefault()],
    pods: many(10),
    inForceForMs: isNew,
    deleted: many(10).map(({ name }) => `${name} Expired`),
  },
])('$name', checkRow);

test('the first pass that would delete more than holdAbove waits holdFor, with one Event, and so do the next rules', async () => {
  const { cluster, recorder, clock, pass, policies, reports } = environmentOf(many(3), expireHeld());
  for (const ms of [0, 20_000, 279_999]) {
    clock.advance(ms);
    await pass();
  }
  expect(cluster.requests).toEqual([]);
  const held = { due: 3, until: new Date(now.getTime() + 300_000) };
  expect(reports[0]?.hold).toEqual({ rulesId: 'rules-default', since: now, held });
  expect(reports.at(-1)).toMatchObject({ due: 0, waiting: 3, deleted: 0 });
  expect(recorder.reasons).toEqual(['Holding GCPolicy/default']);
  const [event] = recorder.events;
  expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'GCPolicy', name: 'default' } });
  expect(event?.note).toMatch(
    /^The rules of the policy are new and would delete 3 of 3 pods; .* until 2026-01-15T12:05:00Z\. To /,
  );
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toEqual([]);
  expect(reports.at(-1)?.hold).toMatchObject({ rulesId: 'rules-default', since: now, held: undefined });

  for (const one of many(3)) cluster.pods.set(one.uid, one);
  policies.ranked = [expireHeld({ skipHoldOf: 'rules-default', rulesId: 'rules-next' })];
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  const events = recorder.events.filter(({ reason }) => reason === 'Holding');
  expect(events.map(({ occasion }) => occasion)).toEqual(['rules-default', 'rules-next']);
});

test.each([
  { name: 'continues a hold', stored: { rulesId: 'rules-default', agoMs: 299_000 }, leftMs: 1_000 },
  {
    name: 'begins one for rules of the meantime',
    stored: { rulesId: 'rules-between', agoMs: 900_000 },
    leftMs: 300_000,
  },
  {
    name: 'holds no longer with a clock that was ahead',
    stored: { rulesId: 'rules-default', agoMs: -900_000 },
    leftMs: 300_000,
  },
])('a restarted controller $name', async ({ stored, leftMs }) => {
  const since = new Date(now.getTime() - stored.agoMs);
  const { cluster, clock, pass } = environmentOf(many(3), expireHeld(), {
    storedInForce: () => new Map([['default', { rulesId: stored.rulesId, since }]]),
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

/** `general` expires every pod at once; `audit` above it protects them. */
const general = expireHeld({ name: 'general' });
const audit = policy({ name: 'audit', priority: 10, pods: {} });
const inStaging = { matchLabels: { stage: 'staging' }, matchExpressions: [] };

test.each([
  {
    name: 'a policy above is deleted',
    before: [audit, general],
    after: () => [general],
  },
  {
    name: 'the selector of a policy above is mistyped',
    before: [audit, general],
    after: () => [{ ...audit, pods: { ...policy().pods, namespaceSelector: inStaging } }, general],
  },
  {
    name: 'the spec changes under the same generation',
    before: [{ ...general, pods: { ...policy().pods, terminated: terminatedRule() } }],
    after: () => [general],
  },
  {
    name: 'the policy is created again, with the skip-hold of the one before',
    before: [{ ...general, mode: 'DryRun' as const, uid: 'uid-before' }],
    after: (id: string) => [{ ...general, skipHoldOf: id }],
  },
])('what a pass would delete is held: $name', async ({ before, after }) => {
  const { cluster, clock, policies, pass } = environmentOf(many(3), general);
  const ranked = rankPolicies(before as readonly Policy[]);
  policies.ranked = [...ranked];
  await pass();
  clock.advance(3_600_000);
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  const [last] = ranked.slice(-1);
  const idBefore = last !== undefined && 'rulesId' in last ? last.rulesId : '';
  policies.ranked = [...rankPolicies(after(idBefore) as readonly Policy[])];
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  clock.advance(300_000);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test('a stream of finished pods under unchanged rules is never held', async () => {
  const { cluster, clock, policies, pass, recorder } = environmentOf([], general);
  policies.ranked = [...rankPolicies([audit, general].slice(1))];
  await pass();
  for (let hour = 1; hour <= 24; hour++) {
    clock.advance(3_600_000);
    for (const one of many(40)) cluster.pods.set(one.uid, one);
    policies.ranked = [...rankPolicies([general])];
    await pass();
    expect(cluster.podNames).toEqual([]);
  }
  expect(recorder.reasons.filter((reason) => reason.startsWith('Holding'))).toEqual([]);
});
