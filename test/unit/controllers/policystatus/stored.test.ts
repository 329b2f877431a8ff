import { expect, test } from 'vitest';
import { planStatus, readStatus } from '../../../../src/controllers/policystatus/plan.ts';
import { type PolicyStatus } from '../../../../src/controllers/policystatus/claims.ts';
import { rollUpNodes } from '../../../../src/controllers/policystatus/nodes.ts';
import { now, policy } from '../../../builders.ts';
import { nodesPolicy } from './builders.ts';

const condition = {
  ...{ type: 'Ready', status: 'True', reason: 'AsPlanned', message: 'The policy is followed' },
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
  { name: 'all that we wrote', given: stored, read: stored },
  { name: 'nothing where there is nothing', given: undefined, read: undefined },
  { name: 'nothing of what is no status', given: { observedGeneration: 'one' }, read: undefined },
  { name: 'no conditions where there are none', given: bare, read: { ...bare, conditions: [] } },
  {
    name: 'no condition that is none',
    given: { ...stored, conditions: [condition, 'Ready', null, { ...condition, status: true }] },
    read: stored,
  },
  {
    name: 'no figures that are none',
    given: { ...stored, lastPassTime: 7, pods: { deletedTotal: '7' }, nodes: { desired: null } },
    read: { observedGeneration: 1, conditions: [condition] },
  },
  {
    name: 'no figures that are no objects',
    given: { ...stored, lastPassTime: null, pods: 7, nodes: null },
    read: { observedGeneration: 1, conditions: [condition] },
  },
])('reads $name', ({ given, read }) => {
  expect(readStatus(given)).toEqual(read);
});

test('before the first pass since a restart, what is stored of the last one stays', () => {
  const facts = { policy: policy({ mode: 'DryRun' }), report: undefined, deletedSince: 0 };
  const told = (before: PolicyStatus | undefined): PolicyStatus =>
    planStatus({ ...facts, stored: before }, now);
  expect(told(readStatus(stored))).toMatchObject({ lastPassTime: '2026-01-01T00:00:00Z', pods });
  expect(told(undefined)).not.toHaveProperty('lastPassTime');
  expect(told(undefined)).not.toHaveProperty('pods');
  expect(told(undefined).conditions.find(({ type }) => type === 'Enforcing')?.message).toBe(
    'Nothing is removed in mode DryRun',
  );
});
