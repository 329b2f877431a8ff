import { expect, test } from 'vitest';
import { planStatus, readStatus } from '../../../../src/controllers/policystatus/plan.ts';
import { type PolicyStatus } from '../../../../src/controllers/policystatus/status.ts';
import { rollUpNodes } from '../../../../src/controllers/policystatus/nodes.ts';
import { now, policy } from '../../../builders.ts';
import { nodesPolicy } from './builders.ts';

const condition = {
  ...{ type: 'Ready', status: 'True', reason: 'AsPlanned', message: 'The agent applies the policy' },
  ...{ lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 },
};
const pods = {
  ...{ governed: 3, terminated: 2, due: 1, waiting: 0, held: 0, missingNodes: 0 },
  ...{ errorsLastPass: 0, deletedTotal: 7 },
};
const nodes = rollUpNodes([nodesPolicy('default')], { nodes: [], reports: [] }, now).get('uid-default');
const stored = {
  observedGeneration: 1,
  conditions: [condition],
  lastPassTime: '2026-01-01T00:00:00Z',
  pods,
  nodes,
};
const bare = { observedGeneration: 1, lastPassTime: stored.lastPassTime, pods, nodes };

test.each<{ readonly name: string; readonly given: unknown; readonly read: unknown }>([
  { name: 'a status that we wrote', given: stored, read: stored },
  ...[undefined, null, 'x', {}, { observedGeneration: 'one' }].map((given) => ({
    ...{ name: `nothing from ${JSON.stringify(given)}`, given, read: undefined },
  })),
  { name: 'a status without conditions', given: bare, read: { ...bare, conditions: [] } },
  {
    name: 'only valid conditions',
    given: { ...stored, conditions: [condition, 'Ready', null, { ...condition, status: true }] },
    read: stored,
  },
  {
    name: 'only valid counts',
    given: { ...stored, lastPassTime: 7, pods: { deletedTotal: '7' }, nodes: { desired: null } },
    read: { observedGeneration: 1, conditions: [condition] },
  },
  {
    name: 'only counts that are objects',
    given: { ...stored, lastPassTime: null, pods: 7, nodes: null },
    read: { observedGeneration: 1, conditions: [condition] },
  },
])('reads $name', ({ given, read }) => {
  expect(readStatus(given)).toEqual(read);
});

test('the stored values of the last pass remain until the first pass after a restart', () => {
  const facts = { policy: policy({ mode: 'DryRun' }), report: undefined, deletedSince: 0 };
  const planned = (before: PolicyStatus | undefined): PolicyStatus =>
    planStatus({ ...facts, stored: before }, now);
  expect(planned(readStatus(stored))).toMatchObject({ lastPassTime: '2026-01-01T00:00:00Z', pods });
  expect(planned(undefined)).not.toHaveProperty('lastPassTime');
  expect(planned(undefined)).not.toHaveProperty('pods');
  expect(planned(undefined).conditions.find(({ type }) => type === 'Enforcing')?.message).toBe(
    'Mode DryRun: dustpan removes nothing',
  );
});
