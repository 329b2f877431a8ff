import type { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { rankPolicies } from '../../../src/api/policy/matching.ts';
import type { InvalidPolicy, Policy } from '../../../src/api/policy/policy.ts';
import { planUnits } from '../../../src/evaluation/plan/units.ts';
import type { NodeFacts } from '../../../src/kube/cache/objects.ts';
import type { Waiting } from '../../../src/runtime/scheduling/loop.ts';
import { labelled, minutesAgo, node, nodesRules, now, pod, policy, terminatedRule } from '../../builders.ts';
import type { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/cluster.ts';
import { livePod, livePolicies } from '../../fakes/evictions.ts';
import { broken, factsOf, keepMark, type Facts } from '../commands/facts.ts';
import { evictionRequest, evictPolicy, namespace } from './eviction/builders.ts';
import { EvictionEnvironment } from './eviction/environment.ts';
import { environmentOf } from './podgc/environment.ts';

// The contract of the units of the controller: what `plan --kept` lists of the same objects is what the metrics count; what they remove is reported, and counted once.

interface World {
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly node?: NodeFacts;
  readonly isNamespaceKept?: boolean;
}

/** Deletes pods that finished half an hour ago, and evicts pods over a limit. */
const governing = (over: Partial<Policy> = {}): Policy => ({
  ...policy({
    pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 30 * 60_000 }) },
    nodes: nodesRules({ ...evictPolicy().nodes }),
  }),
  ...over,
});
const enforced: World = { policies: [governing()] };

const worlds: Readonly<Record<string, World>> = {
  'without a policy': { policies: [] },
  'with a policy for other objects': {
    policies: [
      policy({
        pods: { podSelector: labelled('app', 'other') },
        nodes: nodesRules({ nodeSelector: labelled('pool', 'other') }),
      }),
    ],
  },
  'with a policy without rules': { policies: [policy({ nodes: nodesRules() })] },
  'in mode DryRun': { policies: [governing({ mode: 'DryRun' })] },
  'in mode Enforce': enforced,
  'with an invalid policy': { policies: [broken, governing()] },
  'with the keep label on the node': { ...enforced, node: node('node-1', { labels: keepMark }) },
  'with the keep label on the namespace': { ...enforced, isNamespaceKept: true },
};

/** One unit in a world, with one pod that it removes in mode Enforce. */
interface Subject {
  readonly registry: Registry;
  readonly clock: FakeClock;
  /** What a plan of the cluster sees. */
  readonly facts: () => Facts;
  readonly pass: () => Promise<Waiting>;
  readonly stop: () => unknown;
  /** The caches are not current any more. */
  readonly blind: () => unknown;
  /** The API server's time differs from the wall clock by so much. */
  readonly skew: (clockSkewMs: number) => unknown;
  /** Calls `change` at each request that removes a pod. */
  readonly atRemoval: (change: () => unknown) => unknown;
  /** The requests that remove a pod. */
  readonly requests: () => readonly string[];
  /** How many removals reports or Events have. */
  readonly reported: () => number;
}

const units = {
  podgc: ({ policies, node: listed = node('node-1'), isNamespaceKept = false }: World): Subject => {
    const pods = [
      pod('done', { finishedAtMs: minutesAgo(60) }),
      pod('young', { finishedAtMs: minutesAgo(5) }),
      pod('runs', { phase: 'Running' }),
    ];
    const cluster = new FakeCluster(pods, [listed]);
    const stop = new AbortController();
    const made = environmentOf(cluster, governing());
    made.policies.ranked = rankPolicies(policies);
    if (isNamespaceKept) made.labelNamespace();
    return {
      registry: made.registry,
      clock: made.clock,
      facts: () => ({ policies, pods: [...cluster.pods.values()], nodes: [listed] }),
      pass: () => made.pass(stop.signal),
      stop: () => stop.abort(),
      blind: () => (made.policies.synced = false),
      skew: (clockSkewMs) => (cluster.policies = () => Promise.resolve(livePolicies({ clockSkewMs }))),
      atRemoval: (change) => {
        cluster.fault(() => {
          change();
          return undefined;
        });
      },
      requests: () => cluster.requests,
      reported: () => made.reports.reduce((sum, { deleted }) => sum + deleted, 0),
    };
  },
  eviction: ({ policies, node: listed = node('node-1'), isNamespaceKept = false }: World): Subject => {
    const env = new EvictionEnvironment(livePod('a'), livePod('b'));
    env.request(evictionRequest('a'), evictionRequest('b', { observedAtMs: minutesAgo(30) }));
    env.nodes.items = new Map([[listed.uid, listed]]);
    env.policies.ranked = rankPolicies(policies);
    if (isNamespaceKept) env.namespaces.items.set('uid-default', namespace('default', keepMark));
    return {
      registry: env.registry,
      clock: env.clock,
      facts: () => ({
        policies,
        pods: [...env.pods.items.values()],
        nodes: [listed],
        reports: [...env.nodeReports.items.values()],
      }),
      pass: () => env.pass(),
      stop: () => env.stop(),
      blind: () => (env.policies.synced = false),
      skew: (clockSkewMs) => env.confirm({ clockSkewMs }),
      atRemoval: (change) => {
        env.evictions.onRequest = (request) => {
          if (request.startsWith('evict')) change();
        };
      },
      requests: () => env.evictions.acts,
      reported: () => env.recorder.reasons.filter((reason) => reason.startsWith('Evicted Pod/')).length,
    };
  },
};

type Unit = keyof typeof units;
type Counts = Readonly<Record<string, number>>;

/** The decisions in a plan of the same objects, kept ones by reason, due ones by reason and mode: eviction counts none that are due. */
function planned(unit: Unit, { facts }: Subject, { isNamespaceKept = false }: World): Counts {
  const known = { ...facts(), ...(isNamespaceKept && { keptNamespaces: ['default'], namespaces: [] }) };
  const plan = planUnits(factsOf(known), { now, kept: true, assumeElapsed: false });
  const modes = new Map(known.policies?.map((one) => [one.name, 'mode' in one ? one.mode : '']));
  const ofUnit = plan.decisions.filter((one) => (one.unit === 'podgc') === (unit === 'podgc'));
  const names = ofUnit.flatMap(({ verdict, reason, policy: by }) => {
    if (verdict === 'Keep') return [reason];
    return unit === 'podgc' ? [`${reason} ${modes.get(by ?? '') ?? ''}`] : [];
  });
  return Object.fromEntries(
    [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => [name, length]),
  );
}

/** The series of metrics of the unit that are not 0, by reason and mode. */
async function series(unit: Unit, registry: Registry, ...metrics: readonly string[]): Promise<Counts> {
  const found = await registry.getMetricsAsJSON();
  return Object.fromEntries(
    found
      .flatMap(({ name, values }) => (metrics.includes(name) ? values : []))
      .filter(({ labels, value }) => [unit, undefined].includes(labels['unit'] as Unit) && value > 0)
      .map(({ labels, value }) => [[labels['reason'] ?? [], labels['mode'] ?? []].flat().join(' '), value]),
  );
}

const shown = (unit: Unit, { registry }: Subject): Promise<Counts> =>
  series(unit, registry, 'dustpan_kept_objects', 'dustpan_due_objects');

const sum = (counts: Counts): number => Object.values(counts).reduce((total, one) => total + one, 0);

describe.each(Object.keys(units) as Unit[])('%s', (unit) => {
  const removed = async ({ registry }: Subject): Promise<number> =>
    sum(
      await series(
        unit,
        registry,
        unit === 'podgc' ? 'dustpan_removed_objects_total' : 'dustpan_evictions_total',
      ),
    );

  test.each(Object.entries(worlds))('%s shows its plan, and reports what it removed', async (_, world) => {
    const subject = units[unit](world);
    const plan = planned(unit, subject, world);
    await subject.pass();
    expect(await shown(unit, subject)).toEqual(plan);
    const count = world === enforced ? 1 : 0;
    expect([await removed(subject), subject.reported(), subject.requests().length]).toEqual([
      ...[count, count, count],
    ]);
  });

  test('shows the last plan, and removes nothing, while the caches are not current', async () => {
    const subject = units[unit](worlds['in mode DryRun'] ?? enforced);
    await subject.pass();
    const last = await shown(unit, subject);
    subject.blind();
    expect(await subject.pass()).toBe('waiting');
    expect(await shown(unit, subject)).toEqual(last);
    expect(subject.requests()).toEqual([]);
  });

  test('shows every object after a jump of the clock, and removes none by its age', async () => {
    const subject = units[unit](enforced);
    await subject.pass();
    subject.clock.stepWall(3_600_000);
    subject.skew(3_600_000);
    await subject.pass();
    const { pods = [] } = subject.facts();
    expect(sum(await shown(unit, subject))).toBe(pods.length);
    expect([await removed(subject), subject.reported()]).toEqual([1, 1]);
  });

  test('counts and reports at a shutdown what it has removed by then, and shows its plan', async () => {
    const subject = units[unit](enforced);
    const plan = planned(unit, subject, enforced);
    subject.atRemoval(subject.stop);
    await subject.pass();
    expect([await removed(subject), subject.reported(), subject.requests().length]).toEqual([1, 1, 1]);
    expect(await shown(unit, subject)).toEqual(plan);
  });
});
