import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { PolicyStatusController } from '../../../../src/controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../../../src/controllers/policystatus/metrics.ts';
import { policy } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';

const never = new AbortController().signal;

const broken: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 3,
  priority: 0,
  problems: ['spec.mode: must be DryRun or Enforce, is "Delete"'],
};

/** A controller whose writes never arrive. */
function bed(ranked: readonly (Policy | InvalidPolicy)[]) {
  const registry = new Registry();
  const server = { ranked };
  const controller = new PolicyStatusController({
    policies: {
      get ranked() {
        return server.ranked;
      },
      storedStatus: () => undefined,
    },
    nodes: { synced: false, items: new Map() },
    nodeReports: { synced: false, items: new Map() },
    writeStatus: () => Promise.reject(new Error('server down')),
    holdsLease: () => true,
    ...{ recorder: new FakeRecorder(), clock: new FakeClock(), log: silentLogger },
    metrics: policyStatusMetrics(registry),
  });
  const shown = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('dustpan_policy_condition{'));
  return { controller, server, shown };
}

const series = (name: string, type: string, status: string): string =>
  `dustpan_policy_condition{policy="${name}",type="${type}",status="${status}"} 1`;

test('metrics tell each condition as it is now, written or not, of the policies there are', async () => {
  const { controller, server, shown } = bed([broken]);
  await controller.reconcile(never);
  expect(await shown()).toEqual([
    series('broken', 'Ready', 'False'),
    series('broken', 'Accepted', 'False'),
    series('broken', 'Enforcing', 'False'),
    series('broken', 'Degraded', 'Unknown'),
  ]);
  server.ranked = [policy()];
  await controller.reconcile(never);
  expect(await shown()).toContain(series('default', 'Accepted', 'True'));
  expect((await shown()).join()).not.toContain('broken');
});
