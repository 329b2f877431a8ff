import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { PolicyStatusController } from '../../../../src/controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../../../src/controllers/policystatus/metrics.ts';
import { rollUpNodes } from '../../../../src/controllers/policystatus/nodes.ts';
import { planStatus, readStatus } from '../../../../src/controllers/policystatus/plan.ts';
import { type PolicyStatus } from '../../../../src/controllers/policystatus/status.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import type { NodeFacts } from '../../../../src/kube/cache/objects.ts';
import { openBreakersIn } from '../../../../src/gc/open-breaker.ts';
import { node, now, policy } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { broken, conditions, nodesPolicy, passReport as report, report as nodeReport } from './builders.ts';

const never = new AbortController().signal;

/** The conditions but Holding. */
const allOf = (ready: string, accepted: string, enforcing: string, degraded: string): string[] => [
  ...[`Ready=${ready}`, `Accepted=${accepted}`, `Enforcing=${enforcing}`, `Degraded=${degraded}`],
];
const degraded = (name: string, reason: string, over: Partial<PolicyPassReport>) => ({
  ...{ name, policy: policy(), report: report(over) },
  expected: allOf(`False ${reason}`, 'True Valid', 'True ModeEnforce', `True ${reason}`),
});

test.each([
  {
    name: 'enforcing, as planned',
    policy: policy(),
    report: report(),
    expected: allOf('True AsPlanned', 'True Valid', 'True ModeEnforce', 'False AsPlanned'),
  },
  {
    name: 'DryRun',
    policy: policy({ mode: 'DryRun' }),
    report: report({ deleted: 0 }),
    expected: allOf('True AsPlanned', 'True Valid', 'False ModeDryRun', 'False AsPlanned'),
  },
  degraded('circuit breaker open', 'Tripped', { missingNodes: 4, trippedPercent: 40 }),
  degraded('failed deletions', 'DeletesFailed', { failed: 2 }),
  degraded('deletions prevented because namespaces cannot be read', 'NotVerified', {
    deleted: 0,
    unverified: 2,
  }),
  degraded('deletions prevented because clocks differ', 'ClockUnsure', { deleted: 0, clockUnsure: 2 }),
  {
    name: 'before the first pass',
    policy: policy(),
    report: undefined,
    expected: allOf('True AsPlanned', 'True Valid', 'True ModeEnforce', 'Unknown NoPassYet'),
  },
  {
    name: 'invalid',
    policy: broken,
    report: undefined,
    expected: allOf('False InvalidPolicy', 'False InvalidPolicy', 'False InvalidPolicy', 'Unknown NoPassYet'),
  },
])('conditions: $name', ({ policy: governing, report: made, expected }) => {
  const status = planStatus({ policy: governing, stored: undefined, report: made, deletedSince: 0 }, now);
  expect(conditions(status).filter((one) => !one.startsWith('Holding='))).toEqual(expected);
  expect(status.observedGeneration).toBe(governing.generation);
});

describe('before the first pass of a controller that has just started', () => {
  const facts = { deletedSince: 0, report: undefined };
  const open = planStatus(
    {
      policy: policy(),
      stored: undefined,
      deletedSince: 0,
      report: report({ missingNodes: 5, trippedPercent: 50 }),
    },
    now,
  );
  const nodes = rollUpNodes(
    [nodesPolicy('default')],
    { nodes: [node('node-1')], reports: [nodeReport('node-1', { degraded: true })] },
    now,
  ).get('uid-default');

  test('an open circuit breaker remains in the status, with its message', () => {
    const later = planStatus({ ...facts, policy: policy({ generation: 9 }), stored: open, nodes }, now);
    expect(conditions(later)).toEqual(conditions(open));
    expect(later.conditions.find(({ type }) => type === 'Degraded')?.message).toContain('Nodes missing: 5');
    expect([...openBreakersIn([{ name: 'default', status: later }])]).toEqual([['default', 5]]);
  });

  test.each([
    { name: 'of a policy without rules for pods', of: nodesPolicy('default') },
    { name: 'of an invalid policy', of: broken },
  ])('one $name does not', ({ of }) => {
    const later = planStatus({ ...facts, policy: of, stored: open }, now);
    expect(later.conditions.find(({ type }) => type === 'Degraded')?.reason).not.toBe('Tripped');
  });

  test('no other trouble does', () => {
    const failed = planStatus(
      { ...facts, policy: policy(), stored: undefined, report: report({ failed: 1 }) },
      now,
    );
    const later = planStatus({ ...facts, policy: policy(), stored: failed }, now);
    expect(conditions(later).at(-1)).toContain('Unknown NoPassYet');
  });
});

test('a new generation in force is written at once', async () => {
  const { written, controller, server } = environment();
  for (const generation of [1, 2]) {
    server.ranked = [policy({ generation })];
    await controller.reconcile(never);
    controller.observe(passed({ hold: { generation, since: now, held: undefined } }));
    await controller.reconcile(never);
  }
  expect(written.map(({ hold }) => hold?.generation)).toEqual([undefined, 1, 1, 2]);
});

test('lastTransitionTime changes only with the status of a condition', () => {
  const facts = { policy: policy(), report: report(), deletedSince: 0 };
  const first = planStatus({ ...facts, stored: undefined }, now);
  const later = new Date(now.getTime() + 60_000);
  const second = planStatus({ ...facts, stored: first, report: report({ failed: 1 }) }, later);
  const moved = second.conditions.filter(
    ({ lastTransitionTime }) => lastTransitionTime === '2026-01-15T12:01:00Z',
  );
  expect(moved.map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
});

interface Environment {
  readonly written: PolicyStatus[];
  readonly clock: FakeClock;
  readonly recorder: FakeRecorder;
  readonly controller: PolicyStatusController;
  readonly registry: Registry;
  readonly server: {
    stored: PolicyStatus | undefined;
    fails: boolean;
    ranked: readonly (Policy | InvalidPolicy)[];
    nodes: Map<string, NodeFacts>;
    reports: Map<string, NodeReportFacts>;
    reportsSynced: boolean;
    nodesSynced: boolean;
    leads: boolean;
    /** Called while a status is written. */
    duringWrite: () => void;
  };
}

function environment(ranked: readonly (Policy | InvalidPolicy)[] = [policy()]): Environment {
  const written: PolicyStatus[] = [];
  const clock = new FakeClock();
  const recorder = new FakeRecorder();
  const registry = new Registry();
  const server: Environment['server'] = {
    ...{ stored: undefined, fails: false, ranked },
    ...{ nodes: new Map(), reports: new Map(), reportsSynced: true, nodesSynced: true },
    ...{ leads: true, duringWrite: () => undefined },
  };
  const controller = new PolicyStatusController({
    policies: {
      get ranked() {
        return server.ranked;
      },
      storedStatus: () => server.stored,
    },
    nodes: {
      get synced() {
        return server.nodesSynced;
      },
      items: server.nodes,
    },
    nodeReports: {
      get synced() {
        return server.reportsSynced;
      },
      items: server.reports,
    },
    writeStatus: (_name, status) => {
      server.duringWrite();
      if (server.fails) return Promise.reject(new Error('server down'));
      written.push(status);
      server.stored = status;
      return Promise.resolve();
    },
    holdsLease: () => server.leads,
    ...{ recorder, clock, log: silentLogger },
    metrics: policyStatusMetrics(registry),
  });
  return { written, clock, recorder, controller, registry, server };
}

const passed = (over: Partial<PolicyPassReport> = {}): ReadonlyMap<string, PolicyPassReport> =>
  new Map([['uid-default', report(over)]]);

test('a quiet cluster gets one write in many passes', async () => {
  const { written, clock, controller } = environment();
  for (let i = 0; i < 20; i++) {
    controller.observe(passed({ deleted: 0, due: 0, at: clock.now() }));
    await controller.reconcile(never);
    clock.advance(20_000);
  }
  expect(written).toHaveLength(1);
});

test('counts are written at most every 30 s, a condition that changes at once', async () => {
  const { written, clock, controller } = environment();
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
  const { written, clock, controller, server } = environment();
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
  const restarted = environment();
  restarted.server.stored = server.stored;
  restarted.controller.observe(passed({ deleted: 1 }));
  await restarted.controller.reconcile(never);
  expect(restarted.written.map(({ pods }) => pods?.deletedTotal)).toEqual([13]);
});

test('without the lease nothing is written', async () => {
  const { written, controller, server } = environment();
  server.leads = false;
  controller.observe(passed());
  await controller.reconcile(never);
  expect(written).toEqual([]);
});

test('a failed write is repeated although nothing changes', async () => {
  const { written, clock, controller, server } = environment();
  server.fails = true;
  controller.observe(passed());
  await controller.reconcile(never);
  server.fails = false;
  clock.advance(30_000);
  await controller.reconcile(never);
  expect(written).toHaveLength(1);
});

test('a write that fails after an abort is not logged as failed', async () => {
  const { controller, server } = environment();
  const stop = new AbortController();
  server.fails = true;
  server.duringWrite = () => {
    stop.abort(new Error('stopping'));
  };
  await expect(controller.reconcile(stop.signal)).rejects.toThrow('stopping');
});

/** Writes the status after each pass that deleted so many pods, 30 s apart. */
async function totals({ written, clock, controller }: Environment, ...deleted: readonly number[]) {
  for (const count of deleted) {
    controller.observe(passed({ deleted: count }));
    clock.advance(30_000);
    await controller.reconcile(never);
  }
  return written.map(({ pods }) => pods?.deletedTotal);
}

test('deletions of a pass during a write are in the next', async () => {
  const made = environment();
  made.server.duringWrite = () => {
    made.controller.observe(passed({ deleted: 5 }));
    made.server.duringWrite = () => undefined;
  };
  expect(await totals(made, 3, 0)).toEqual([3, 8]);
});

test('deletions add up over a cache that does not show the last write yet', async () => {
  const made = environment();
  await totals(made, 3);
  const before = made.server.stored;
  await totals(made, 4);
  made.server.stored = before;
  expect(await totals(made, 5)).toEqual([3, 7, 12]);
});

test('deletions add up to those that another leader has written', async () => {
  const made = environment();
  await totals(made, 3);
  const [written] = made.written;
  if (written?.pods === undefined) throw new Error('nothing was written');
  made.server.stored = { ...written, pods: { ...written.pods, deletedTotal: 10 } };
  expect(await totals(made, 1)).toEqual([3, 11]);
});

test.each([
  { name: 'once', passes: [[broken], [broken]], reported: 1 },
  { name: 'again under another generation', passes: [[broken], [{ ...broken, generation: 4 }]], reported: 2 },
  { name: 'again after it was deleted', passes: [[broken], [], [broken]], reported: 2 },
])('an invalid policy is reported $name', async ({ passes, reported }) => {
  const { recorder, controller, server } = environment();
  for (const ranked of passes) {
    server.ranked = ranked;
    await controller.reconcile(never);
  }
  expect(recorder.reasons).toEqual(Array(reported).fill('InvalidPolicy GCPolicy/broken'));
});

/** A policy for nodes alone, and the two nodes that it governs. */
function withNodes(): Environment {
  const made = environment([nodesPolicy('default')]);
  for (const name of ['a', 'b']) made.server.nodes.set(name, node(name));
  made.server.reports.set('a', nodeReport('a'));
  return made;
}

test('the reports of nodes decide about a policy for nodes alone', async () => {
  const { written, clock, controller, server } = withNodes();
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
    message: '1 of 2 nodes are degraded; see their NodeGCReports',
  });
});

test('sums over nodes are written every 5 min, numbers of nodes every 30 s', async () => {
  const { written, clock, controller, server } = withNodes();
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

test.each(['nodes', 'reports'] as const)(
  'the stored sums remain while the %s are not known',
  async (missing) => {
    const { clock, controller, server } = withNodes();
    await controller.reconcile(never);
    server[`${missing}Synced`] = false;
    server[missing].clear();
    clock.advance(600_000);
    await controller.reconcile(never);
    expect(server.stored?.nodes).toMatchObject({ desired: 2, upToDate: 1 });
  },
);

test('the stored sums are deleted with the rules for nodes', async () => {
  const { written, clock, controller, server } = withNodes();
  await controller.reconcile(never);
  server.ranked = [policy({ generation: 2 })];
  clock.advance(600_000);
  await controller.reconcile(never);
  expect(server.stored?.nodes).toBeNull();
  server.stored = readStatus(server.stored);
  clock.advance(600_000);
  await controller.reconcile(never);
  expect(written).toHaveLength(2);
});

test('metrics have the conditions of the policies that exist now, whether the status was written or not', async () => {
  const { controller, server, registry } = environment([broken]);
  server.fails = true;
  const series = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('dustpan_policy_condition{'));
  await controller.reconcile(never);
  expect(await series()).toEqual([
    'dustpan_policy_condition{policy="broken",type="Ready",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Accepted",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Enforcing",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Holding",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Degraded",status="Unknown"} 1',
  ]);
  server.ranked = [policy()];
  await controller.reconcile(never);
  expect(await series()).toContain(
    'dustpan_policy_condition{policy="default",type="Accepted",status="True"} 1',
  );
  expect((await series()).join()).not.toContain('broken');
});
