import { expect, test } from 'vitest';
import type { PolicyPassReport } from '../../../src/api/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../../src/api/policy.ts';
import { PolicyStatusController } from '../../../src/controllers/policystatus/controller.ts';
import { planStatus, readStatus, type PolicyStatus } from '../../../src/controllers/policystatus/plan.ts';
import { now, policy } from '../../builders.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeRecorder } from '../../fakes/cluster.ts';
import { silentLogger } from '../../fakes/logger.ts';

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
  {
    name: 'tripped',
    policy: policy(),
    report: report({ missingNodes: 4, trippedPercent: 40 }),
    expected: [
      'Ready=False Tripped',
      'Accepted=True Valid',
      'Enforcing=True ModeEnforce',
      'Degraded=True Tripped',
    ],
  },
  {
    name: 'deletions failed',
    policy: policy(),
    report: report({ failed: 2 }),
    expected: [
      'Ready=False DeletesFailed',
      'Accepted=True Valid',
      'Enforcing=True ModeEnforce',
      'Degraded=True DeletesFailed',
    ],
  },
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
  };
}

function bed(ranked: readonly (Policy | InvalidPolicy)[] = [policy()]): Bed {
  const written: PolicyStatus[] = [];
  const clock = new FakeClock();
  const recorder = new FakeRecorder();
  const server: Bed['server'] = { stored: undefined, fails: false, ranked };
  const controller = new PolicyStatusController({
    policies: {
      get ranked() {
        return server.ranked;
      },
      storedStatus: () => server.stored,
    },
    writeStatus: (_name, status) => {
      if (server.fails) return Promise.reject(new Error('server down'));
      written.push(status);
      server.stored = status;
      return Promise.resolve();
    },
    fenced: () => true,
    recorder,
    clock,
    log: silentLogger,
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
