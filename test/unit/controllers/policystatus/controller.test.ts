import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { PolicyStatusController } from '../../../../src/controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../../../src/controllers/policystatus/metrics.ts';
import { planStatus, readStatus } from '../../../../src/controllers/policystatus/plan.ts';
import { type PolicyStatus } from '../../../../src/controllers/policystatus/claims.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import type { NodeFacts } from '../../../../src/kube/cache/objects.ts';
import { node, now, policy } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { nodesPolicy, report as nodeReport } from './builders.ts';

const never = new AbortController().signal;

const report = (over: Partial<PolicyPassReport> = {}): PolicyPassReport => ({
  at: now,
  governed: 10,
  terminated: 5,
  due: 2,
  waiting: 1,
  held: 0,
  deleted: 2,
  failed: 0,
  clockUnsure: 0,
  missingNodes: 0,
  trippedPercent: undefined,
  ...over,
});

const broken: InvalidPolicy = {
  name: 'broken',
  uid: 'uid-broken',
  generation: 3,
  priority: 0,
  problems: ['spec.mode: must be DryRun or Enforce, is "Delete"'],
};

const conditions = (status: PolicyStatus): string[] =>
  status.conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);

const degraded = (name: string, reason: string, over: Partial<PolicyPassReport>) => ({
  ...{ name, policy: policy(), report: report(over) },
  expected: [
    `Ready=False ${reason}`,
    'Accepted=True Valid',
    'Enforcing=True ModeEnforce',
    `Degraded=True ${reason}`,
  ],
});

test.each([
  {
    name: 'enforcing, all well',
    policy: policy(),
    report: report(),
    expected: [
      'Ready=True AsPlanned',
      'Accepted=True Valid',
      'Enforcing=True ModeEnforce',
      'Degraded=False AsPlanned',
    ],
  },
  {
    name: 'DryRun',
    policy: policy({ mode: 'DryRun' }),
    report: report({ deleted: 0 }),
    expected: [
      'Ready=True AsPlanned',
      'Accepted=True Valid',
      'Enforcing=False ModeDryRun',
      'Degraded=False AsPlanned',
    ],
  },
  degraded('tripped', 'Tripped', { missingNodes: 4, trippedPercent: 40 }),
  degraded('deletions failed', 'DeletesFailed', { failed: 2 }),
  degraded('deletions called off, as clocks differ', 'ClockUnsure', { deleted: 0, clockUnsure: 2 }),
  {
    name: 'before the first pass',
    policy: policy(),
    report: undefined,
    expected: [
      'Ready=True AsPlanned',
      'Accepted=True Valid',
      'Enforcing=True ModeEnforce',
      'Degraded=Unknown NoPassYet',
    ],
  },
  {
    name: 'invalid',
    policy: broken,
    report: undefined,
    expected: [
      'Ready=False InvalidPolicy',
      'Accepted=False InvalidPolicy',
      'Enforcing=False InvalidPolicy',
      'Degraded=Unknown NoPassYet',
    ],
  },
])('conditions: $name', ({ policy: governing, report: made, expected }) => {
  const status = planStatus({ policy: governing, stored: undefined, report: made, deletedSince: 0 }, now);
  expect(conditions(status)).toEqual(expected);
  expect(status.observedGeneration).toBe(governing.generation);
});

test('lastTransitionTime moves only with the status of a condition', () => {
  const facts = { policy: policy(), report: report(), deletedSince: 0 };
  const first = planStatus({ ...facts, stored: undefined }, now);
  const later = new Date(now.getTime() + 60_000);
  const second = planStatus({ ...facts, stored: first, report: report({ failed: 1 }) }, later);
  const moved = second.conditions.filter(
    ({ lastTransitionTime }) => lastTransitionTime === '2026-01-15T12:01:00Z',
  );
  expect(moved.map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
});

test.each([undefined, null, 'x', {}, { observedGeneration: 'x' }])(
  'a stored status %j cannot be used',
  (stored) => {
    expect(readStatus(stored)).toBeUndefined();
  },
);

interface Bed {
  readonly written: PolicyStatus[];
  readonly clock: FakeClock;
  readonly recorder: FakeRecorder;
  readonly controller: PolicyStatusController;
  readonly server: {
    stored: PolicyStatus | undefined;
    fails: boolean;
    ranked: readonly (Policy | InvalidPolicy)[];
    nodes: Map<string, NodeFacts>;
    reports: Map<string, NodeReportFacts>;
    reportsSynced: boolean;
  };
}

function bed(ranked: readonly (Policy | InvalidPolicy)[] = [policy()]): Bed {
  const written: PolicyStatus[] = [];
  const clock = new FakeClock();
  const recorder = new FakeRecorder();
  const server: Bed['server'] = {
    ...{ stored: undefined, fails: false, ranked },
    ...{ nodes: new Map(), reports: new Map(), reportsSynced: true },
  };
  const controller = new PolicyStatusController({
    policies: {
      get ranked() {
        return server.ranked;
      },
      storedStatus: () => server.stored,
    },
    nodes: { synced: true, items: server.nodes },
    nodeReports: {
      get synced() {
        return server.reportsSynced;
      },
      items: server.reports,
    },
    writeStatus: (_name, status) => {
      if (server.fails) return Promise.reject(new Error('server down'));
      written.push(status);
      server.stored = status;
      return Promise.resolve();
    },
    holdsLease: () => true,
    ...{ recorder, clock, log: silentLogger },
    metrics: policyStatusMetrics(new Registry()),
  });
  return { written, clock, recorder, controller, server };
}

const passed = (over: Partial<PolicyPassReport> = {}): ReadonlyMap<string, PolicyPassReport> =>
  new Map([['uid-default', report(over)]]);

test('a quiet cluster gets one write, however many passes', async () => {
  const { written, clock, controller } = bed();
  for (let i = 0; i < 20; i++) {
    controller.observe(passed({ deleted: 0, due: 0, at: clock.now() }));
    await controller.reconcile(never);
    clock.advance(20_000);
  }
  expect(written).toHaveLength(1);
});

test('figures are written every 30 s at most, a condition that turns at once', async () => {
  const { written, clock, controller } = bed();
  for (const governed of [10, 11, 12]) {
    controller.observe(passed({ deleted: 0, governed }));
    await controller.reconcile(never);
    clock.advance(10_000);
  }
  expect(written).toHaveLength(1);
  controller.observe(passed({ deleted: 0, failed: 1 }));
  await controller.reconcile(never);
  expect(written).toHaveLength(2);
});

test('deletions add up over passes, a failed write and a restart', async () => {
  const { written, clock, controller, server } = bed();
  controller.observe(passed({ deleted: 3 }));
  await controller.reconcile(never);
  server.fails = true;
  controller.observe(passed({ deleted: 4 }));
  clock.advance(30_000);
  await controller.reconcile(never);
  server.fails = false;
  controller.observe(passed({ deleted: 5 }));
  clock.advance(30_000);
  await controller.reconcile(never);
  expect(written.map(({ pods }) => pods?.deletedTotal)).toEqual([3, 12]);
  const restarted = bed();
  restarted.server.stored = server.stored;
  restarted.controller.observe(passed({ deleted: 1 }));
  await restarted.controller.reconcile(never);
  expect(restarted.written.map(({ pods }) => pods?.deletedTotal)).toEqual([13]);
});

test('an invalid policy is told once a generation', async () => {
  const { recorder, controller, server } = bed([broken]);
  await controller.reconcile(never);
  await controller.reconcile(never);
  expect(recorder.reasons).toEqual(['InvalidPolicy GCPolicy/broken']);
  server.ranked = [{ ...broken, generation: 4 }];
  await controller.reconcile(never);
  expect(recorder.reasons).toHaveLength(2);
});

/** A policy for nodes alone, and the two nodes it governs. */
function nodesBed(): Bed {
  const made = bed([nodesPolicy('default')]);
  for (const name of ['a', 'b']) made.server.nodes.set(name, node(name));
  made.server.reports.set('a', nodeReport('a'));
  return made;
}

test('a policy for nodes alone is judged by what the nodes report', async () => {
  const { written, clock, controller, server } = nodesBed();
  server.reports.clear();
  await controller.reconcile(never);
  expect(written.flatMap(conditions)).toContain('Degraded=Unknown NoReportYet');
  server.reports.set('a', nodeReport('a'));
  await controller.reconcile(never);
  expect(written.flatMap(conditions)).toContain('Degraded=False AsPlanned');
  server.reports.set('a', nodeReport('a', { degraded: true }));
  clock.advance(1_000);
  await controller.reconcile(never);
  expect(written.at(-1)?.conditions.find(({ type }) => type === 'Degraded')).toMatchObject({
    ...{ status: 'True', reason: 'NodesDegraded' },
    message: '1 of 2 nodes are degraded, see their NodeGCReports',
  });
});

test('figures of nodes that only drift are written every 5 min, counts of nodes every 30 s', async () => {
  const { written, clock, controller, server } = nodesBed();
  for (let i = 0; i < 10; i++) {
    server.reports.set('a', nodeReport('a', { imagesRemovable: i }));
    await controller.reconcile(never);
    clock.advance(30_000);
  }
  expect(written.map(({ nodes }) => nodes?.imagesRemovable)).toEqual([0]);
  await controller.reconcile(never);
  expect(written.map(({ nodes }) => nodes?.imagesRemovable)).toEqual([0, 9]);
  server.reports.set('b', nodeReport('b', { reportedAtMs: clock.now().getTime() }));
  await controller.reconcile(never);
  expect(written).toHaveLength(2);
  clock.advance(30_000);
  await controller.reconcile(never);
  expect(written.at(-1)?.nodes).toMatchObject({ desired: 2, upToDate: 2 });
});

test('while the reports are not known the stored figures stay; they go when the policy speaks of nodes no more', async () => {
  const { written, clock, controller, server } = nodesBed();
  await controller.reconcile(never);
  expect(written[0]?.nodes).toMatchObject({ desired: 2, upToDate: 1 });
  server.reportsSynced = false;
  server.reports.clear();
  clock.advance(600_000);
  await controller.reconcile(never);
  expect(server.stored?.nodes).toMatchObject({ desired: 2, upToDate: 1 });
  server.ranked = [policy({ generation: 2 })];
  await controller.reconcile(never);
  expect(server.stored?.nodes).toBeNull();
  const writes = written.length;
  server.stored = readStatus(server.stored);
  clock.advance(600_000);
  await controller.reconcile(never);
  expect(written).toHaveLength(writes);
});
