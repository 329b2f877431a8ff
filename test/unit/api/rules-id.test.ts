import { expect, test } from 'vitest';
import { rankPolicies } from '../../../src/api/policy/matching.ts';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';

interface Stored {
  readonly metadata: object;
  readonly spec: object;
}

const stored = (name: string, spec: object, metadata: object = {}): Stored => ({
  metadata: { name, uid: `uid-${name}`, generation: 1, ...metadata },
  spec: { mode: 'Enforce', ...spec },
});

const pods = { terminated: { ttlAfterFinished: '30d' } };
const nodes = { nodePressure: { thresholds: { 'nodefs.available': '10%' } }, excludeNamespaces: ['a'] };
const general = stored('general', { pods, nodes });
const audit = stored('audit', {
  priority: 10,
  pods: { namespaceSelector: { matchLabels: { audit: 'yes' } } },
});
const below = stored('below', { priority: -1, pods: {} });

/** The id of `general` among these policies. */
function idAmong(...policies: readonly Stored[]): string {
  const found = rankPolicies(policies.map(parsePolicy)).find(({ name }) => name === 'general');
  return found !== undefined && 'rulesId' in found ? found.rulesId : '';
}

test.each<{ readonly name: string; readonly next: readonly Stored[]; readonly same?: true }>([
  { name: 'nothing changes', next: [below, audit, general], same: true },
  { name: 'a policy below is deleted', next: [audit, general], same: true },
  {
    name: 'a policy above gets other rules for the same pods',
    next: [{ ...audit, metadata: { name: 'audit', generation: 7 } }, general, below],
    same: true,
  },
  {
    name: 'the hold of a policy is ended',
    next: [
      audit,
      stored('general', { pods, nodes }, { annotations: { 'gc.dustpan.dev/skip-hold': '0123456789ab' } }),
    ],
    same: true,
  },
  { name: 'a policy above is deleted', next: [general, below] },
  { name: 'a policy above selects other pods', next: [stored('audit', { priority: 10, pods: {} }), general] },
  {
    name: 'a policy above governs nodes too',
    next: [stored('audit', { ...audit.spec, nodes: {} }), general],
  },
  {
    name: 'a policy above becomes invalid',
    next: [stored('audit', { ...audit.spec, mode: 'Off' }), general],
  },
  { name: 'a policy above goes below', next: [stored('audit', { ...audit.spec, priority: -1 }), general] },
  { name: 'a new generation', next: [audit, stored('general', { pods, nodes }, { generation: 2 })] },
  { name: 'another ttl under the same generation', next: [audit, stored('general', { pods: {}, nodes })] },
  {
    name: 'another threshold under the same generation',
    next: [
      audit,
      stored('general', {
        pods,
        nodes: { ...nodes, nodePressure: { thresholds: { 'nodefs.available': '20%' } } },
      }),
    ],
  },
  {
    name: 'another list under the same generation',
    next: [audit, stored('general', { pods, nodes: { ...nodes, excludeNamespaces: ['b'] } })],
  },
  {
    name: 'the policy is created again',
    next: [audit, stored('general', { pods, nodes }, { uid: 'other' })],
  },
])('the id of the rules: $name', ({ next, same }) => {
  const before = idAmong(audit, general, below);
  expect(before).toMatch(/^[0-9a-f]{12}$/);
  expect(idAmong(...next) === before).toBe(same === true);
});

test('ranking again changes nothing, not even the objects', () => {
  const ranked = rankPolicies([audit, general, below].map(parsePolicy));
  expect(rankPolicies(ranked).map((one, at) => one === ranked[at])).toEqual([true, true, true]);
});
