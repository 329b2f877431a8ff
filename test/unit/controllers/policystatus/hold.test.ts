import { expect, test } from 'vitest';
import { rollUpNodes } from '../../../../src/controllers/policystatus/nodes.ts';
import { planStatus, readStatus } from '../../../../src/controllers/policystatus/plan.ts';
import { now, policy } from '../../../builders.ts';
import { broken, conditions, nodesPolicy, passReport as report } from './builders.ts';

const inForce = (generation: number, held?: { due: number }) => ({
  ...{ generation, since: now },
  held: held && { ...held, until: new Date(now.getTime() + 300_000) },
});

const dryRun = policy({ mode: 'DryRun' });
const ofNodes = nodesPolicy('default');

test.each([
  { name: 'a deletion that waits', hold: inForce(1, { due: 9 }), expected: 'True Holding' },
  { name: 'none that waits', hold: inForce(1), expected: 'False NothingHeld' },
  { name: 'a pass under another generation', hold: inForce(7, { due: 9 }), expected: 'Unknown NoPassYet' },
  { name: 'no pass yet', hold: undefined, expected: 'Unknown NoPassYet' },
  { name: 'mode DryRun', policy: dryRun, hold: inForce(1, { due: 9 }), expected: 'False ModeDryRun' },
  { name: 'an invalid policy', policy: broken, hold: undefined, expected: 'False InvalidPolicy' },
  { name: 'nodes that hold', nodes: 2, policy: ofNodes, hold: undefined, expected: 'True NodesHolding' },
  { name: 'nodes that do not', nodes: 0, policy: ofNodes, hold: undefined, expected: 'False NothingHeld' },
  { name: 'nodes that are not known', policy: ofNodes, hold: undefined, expected: 'False NothingHeld' },
])('the condition Holding: $name', ({ policy: governing = policy(), hold, nodes, expected }) => {
  const rollup = rollUpNodes([nodesPolicy('default')], { nodes: [], reports: [] }, now).get('uid-default');
  const status = planStatus(
    {
      ...{ policy: governing, stored: undefined, deletedSince: 0 },
      report: hold && report({ hold }),
      nodes:
        nodes === undefined || rollup === undefined ? undefined : { ...rollup, desired: 3, holding: nodes },
    },
    now,
  );
  expect(conditions(status)).toContain(`Holding=${expected}`);
});

test('a deletion that waits has its numbers, its end and both commands; they remain after a restart', () => {
  const facts = { policy: policy(), report: report({ hold: inForce(1, { due: 9 }) }), deletedSince: 0 };
  const first = planStatus({ ...facts, stored: undefined }, now);
  expect(first.hold).toEqual({
    ...{ generation: 1, since: '2026-01-15T12:00:00Z' },
    ...{ due: 9, until: '2026-01-15T12:05:00Z' },
  });
  expect(first.conditions.find(({ type }) => type === 'Holding')?.message).toBe(
    'Generation 1 would delete 9 of the 10 pods that it governs; dustpan waits until 2026-01-15T12:05:00Z. ' +
      'To go on now: kubectl annotate gcpolicy default --overwrite gc.dustpan.dev/skip-hold=1. ' +
      `To take it back: kubectl patch gcpolicy default --type=merge -p '{"spec":{"mode":"DryRun"}}'`,
  );
  const restarted = planStatus({ ...facts, stored: readStatus(first), report: undefined }, now);
  expect(restarted.hold).toEqual(first.hold);
  expect(restarted.conditions.find(({ type }) => type === 'Holding')).toEqual(
    first.conditions.find(({ type }) => type === 'Holding'),
  );
});

test('without its counts, the stored status still shows a deletion that waits', () => {
  const facts = { policy: policy(), deletedSince: 0 };
  const report1 = report({ hold: inForce(1, { due: 9 }) });
  const {
    observedGeneration,
    conditions: before,
    hold,
  } = planStatus({ ...facts, stored: undefined, report: report1 }, now);
  const stored = { observedGeneration, conditions: before, hold };
  expect(conditions(planStatus({ ...facts, stored, report: undefined }, now))).toContain(
    'Holding=True Holding',
  );
});

test('the end of a hold, and mode DryRun, delete the stored values', () => {
  const facts = { policy: policy(), deletedSince: 0 };
  const stored = planStatus(
    { ...facts, stored: undefined, report: report({ hold: inForce(1, { due: 9 }) }) },
    now,
  );
  const over = planStatus({ ...facts, stored, report: report({ hold: inForce(1) }) }, now);
  expect(over.hold).toMatchObject({ generation: 1, due: null, until: null });
  const dry = { ...facts, policy: policy({ mode: 'DryRun' }), report: report() };
  expect(planStatus({ ...dry, stored }, now).hold).toBeNull();
  expect(planStatus({ ...dry, stored: undefined }, now)).not.toHaveProperty('hold');
});
