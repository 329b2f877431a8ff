import fc from 'fast-check';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { isInvalid } from '../../../../src/api/policy/policy.ts';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import { isTerminated } from '../../../../src/controllers/podgc/facts.ts';
import { PolicyStatusController } from '../../../../src/controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../../../src/controllers/policystatus/metrics.ts';
import type { PolicyStatus } from '../../../../src/controllers/policystatus/status.ts';
import type {
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  PodFacts,
  ReplicaSetFacts,
} from '../../../../src/kube/cache/objects.ts';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { Store } from '../../../../src/kube/cache/reflector.ts';
import { reportableStale, staleAfterMs } from '../../../../src/kube/cache/staleness.ts';
import { owner, terminatedRule } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeCluster, FakeRecorder, storeOf } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { policy as storedPolicy, statusView } from '../../commands/status/fixtures.ts';
import { facts, given, rarely, unlimited, withRules, type Given, type Seen } from './arbitraries.ts';
import { worlds } from '../../../worlds.ts';
import { environmentOf } from './environment.ts';

const resources = ['pods', 'nodes', 'namespaces', 'jobs', 'replicaSets'] as const;
type Resource = (typeof resources)[number];
const alwaysNeeded: ReadonlySet<Resource> = new Set(['pods', 'nodes', 'namespaces']);

/** One pass of one of two releases, with caches that are complete or have only a part of the objects. */
interface Step {
  readonly by: 'blue' | 'green';
  readonly isLeader: boolean;
  readonly partial: readonly Resource[];
  /** Of a partial list, the objects whose place in it has this remainder are there. */
  readonly remainder: 0 | 1;
  readonly afterMs: number;
}

const idle: Step = { by: 'blue', isLeader: false, partial: [], remainder: 0, afterMs: 0 };

const release = fc.constantFrom('blue' as const, 'green' as const);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    by: release,
    isLeader: rarely(4).map((one) => !one),
    partial: fc.oneof(
      fc.constant([]),
      fc.subarray<Resource>(['jobs', 'replicaSets'], { minLength: 1 }),
      fc.subarray([...resources]),
    ),
    remainder: fc.constantFrom(0 as const, 1 as const),
    afterMs: fc.constantFrom(0, 20_000, 40_000),
  }),
  { minLength: 1, maxLength: 6 },
);

/** The objects of a random cluster as a list returns them; the finish of each pod is in its status: `plan` does not know since when a controller has seen it. */
class World {
  readonly cluster: FakeCluster;
  readonly clock = new FakeClock();
  /** Of the last pass that has ended. */
  reports: ReadonlyMap<string, PolicyPassReport> = new Map();
  readonly #others: {
    readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
    readonly jobs: ReadonlyMap<string, JobFacts>;
    readonly replicaSets: ReadonlyMap<string, ReplicaSetFacts>;
  };

  constructor({ pods, trueFinishMs, nodes, namespaces, jobsFinished }: Seen) {
    this.cluster = new FakeCluster(
      pods.map((one) => ({
        ...one,
        finishedAtMs: isTerminated(one) ? trueFinishMs.get(one.uid) : undefined,
      })),
      [...(nodes?.values() ?? [])],
    );
    const common = { namespace: 'default', resourceVersion: '1' };
    const job = (name: string, over: Pick<JobFacts, 'controller' | 'finished'>): JobFacts => ({
      ...common,
      ...over,
      uid: `uid-Job-${name}`,
      name,
    });
    this.#others = {
      namespaces: new Map(
        [...namespaces].map(([name, labels]) => [
          name,
          { uid: `uid-${name}`, name, resourceVersion: '1', labels },
        ]),
      ),
      jobs: byUid([
        job('j', { controller: owner('CronJob', 'c'), finished: jobsFinished?.get('uid-Job-j') === true }),
        job('k', { controller: owner('CronJob', 'c'), finished: false }),
      ]),
      replicaSets: byUid([
        { ...common, uid: 'uid-ReplicaSet-r', name: 'r', controller: owner('Deployment', 'd') },
      ]),
    };
  }

  /** What `dustpan plan` would remove now, by UID. */
  planned({ policies }: Given): ReadonlySet<string> {
    const now = this.clock.now();
    const { pods, nodes } = this.cluster;
    const { decisions } = planUnits(
      { policies, pods, nodes, ...this.#others, parts: [], reports: [], notes: [] },
      { now, kept: false, assumeElapsed: true },
    );
    return new Set(
      decisions.flatMap(({ verdict, object }) =>
        verdict === 'Delete' && object.kind === 'Pod' ? [object.uid] : [],
      ),
    );
  }

  /** The caches of a release, whose lists are partial during a step. */
  caches(step: () => Step): {
    readonly pods: Store<PodFacts> & { covers(): boolean };
    readonly nodes: Store<NodeFacts>;
    readonly namespaces: Store<NamespaceFacts>;
    readonly jobs: () => Store<JobFacts>;
    readonly replicaSets: () => Store<ReplicaSetFacts>;
  } {
    const { cluster } = this;
    const { namespaces, jobs, replicaSets } = this.#others;
    const store = <T>(of: Resource, items: ReadonlyMap<string, T>): Store<T> => ({
      get synced() {
        return !step().partial.includes(of);
      },
      get items() {
        const { partial, remainder } = step();
        return partial.includes(of) ? new Map([...items].filter((_, i) => i % 2 === remainder)) : items;
      },
    });
    const pods = store('pods', cluster.pods);
    return {
      pods: Object.assign(Object.create(pods) as Store<PodFacts>, { covers: () => true }),
      nodes: store('nodes', cluster.nodes),
      namespaces: store('namespaces', namespaces),
      jobs: () => store('jobs', jobs),
      replicaSets: () => store('replicaSets', replicaSets),
    };
  }
}

const byUid = <T extends { readonly uid: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map((one) => [one.uid, one]));

/** Every pod has finished and has an owner, of which a policy spares pods: a pass that does not know the owners would delete other pods. */
const ownedPods: fc.Arbitrary<readonly [Seen, Given]> = fc.tuple(facts, given).map(([seen, how]) => [
  {
    ...seen,
    pods: seen.pods.map((one) => ({
      ...one,
      phase: 'Succeeded',
      namespace: 'default',
      controller: one.controller ?? owner('Job', 'k'),
    })),
  },
  withRules(how, () => ({
    terminated: terminatedRule({ threshold: 0, perNamespaceThreshold: 2, keepPerOwner: 1 }),
  })),
]);

interface Unknown {
  readonly release: ReturnType<typeof environmentOf>;
  readonly partial: readonly Resource[];
  /** Requests that the API server refuses. */
  readonly lostVerb: 'get' | 'delete' | undefined;
}

/** The condition of each policy that is Degraded after a pass of the leader. The metric has these, and `dustpan status` lists them. */
async function degradedIn(
  { cluster, clock, reports }: World,
  { policies }: Given,
  { partial, lostVerb, sinceMs }: Unknown & { readonly sinceMs: number },
): Promise<ReadonlyMap<string, PolicyStatus['conditions'][number]>> {
  const registry = new Registry();
  const stored: (readonly [string, PolicyStatus])[] = [];
  const caches = partial.map((of) => {
    const resource = of.toLowerCase();
    return { resource, stale: { resource, sinceMs, error: undefined } };
  });
  const controller = new PolicyStatusController({
    policySet: { ranked: policies, storedStatus: () => undefined },
    nodes: storeOf(cluster.nodes, !partial.includes('nodes')),
    namespaces: storeOf(new Map<string, never>(), false),
    nodeReports: storeOf(new Map<string, never>(), false),
    writeStatus: ({ name }, status) => {
      stored.push([name, status]);
      return Promise.resolve();
    },
    staleCaches: () => reportableStale(caches, clock.monotonicMs()),
    rights: {
      missing: lostVerb === 'delete' ? [{ verb: 'delete', group: '', resource: 'pods' }] : [],
      isKnown: () => true,
    },
    holdsLease: () => true,
    recorder: new FakeRecorder(),
    clock,
    metrics: policyStatusMetrics(registry),
    log: silentLogger,
  });
  controller.observe(reports);
  await controller.reconcile(new AbortController().signal);
  const degraded = new Map(
    stored.flatMap(([name, { conditions }]) =>
      conditions
        .filter(({ type, status }) => type === 'Degraded' && status === 'True')
        .map((one) => [name, one]),
    ),
  );
  const metric = await registry.getSingleMetric('dustpan_policy_condition')?.get();
  const shown = metric?.values.filter(
    ({ labels: { type, status } }) => type === 'Degraded' && status === 'True',
  );
  expect(shown?.map(({ labels: { policy } }) => policy).toSorted()).toEqual([...degraded.keys()].sort());
  const asStored = stored.map(([name, status]) =>
    storedPolicy(name, { ...status, conditions: [...status.conditions] }),
  );
  const { trouble } = statusView(asStored, [], clock.now());
  for (const [name, { reason }] of degraded)
    expect(trouble.filter(({ names }) => names.includes(name)).map((one) => one.reason)).toContain(reason);
  return degraded;
}

/** How many objects a release has not decided about: its checks right before deletions since it started, and its last plan without the owners of pods. */
async function undecidedBy({ metrics }: Unknown['release']) {
  const [skipped, kept] = [await metrics.skipped.get(), await metrics.kept.get()];
  const sumOf = ({ values }: typeof kept, isOne: (reason: string) => boolean): number =>
    values
      .filter(({ labels: { reason } }) => isOne(String(reason)))
      .reduce((sum, { value }) => sum + value, 0);
  return {
    unverified: sumOf(skipped, (reason) => reason.endsWith('Unknown')),
    withoutOwners: sumOf(kept, (reason) => reason === 'OwnersUnknown'),
  };
}

/** Expects that condition, metric and status show what has been unknown for two minutes, and nothing if all is known; returns the reasons. */
async function expectSaid(world: World, how: Given, unknown: Unknown): Promise<readonly string[]> {
  const { release, partial, lostVerb } = unknown;
  const sinceMs = world.clock.monotonicMs();
  const before = await undecidedBy(release);
  world.cluster.fault((verb) => (verb === lostVerb ? new Error('forbidden') : undefined));
  world.clock.advance(staleAfterMs);
  const result = await release.pass().catch(() => 'failed');
  const degraded = await degradedIn(world, how, { ...unknown, sinceMs });
  const text = [...degraded.values()].map(({ message }) => message).join();
  for (const { name } of how.policies.filter((one) => !isInvalid(one)))
    for (const resource of partial.filter((of) => alwaysNeeded.has(of)))
      expect(degraded.get(name)?.message).toContain(resource);
  const { unverified, withoutOwners } = await undecidedBy(release);
  if (result !== 'waiting' && withoutOwners > 0) expect(text).toMatch(/jobs|replicasets/);
  const isUndone = result === 'failed' || unverified > before.unverified;
  if (isUndone) expect(degraded.size).toBeGreaterThan(0);
  const reasons = [...degraded.values()].map(({ reason }) => reason);
  if (partial.length === 0 && !isUndone && lostVerb !== 'delete')
    expect(reasons.filter((reason) => reason !== 'Tripped')).toEqual([]);
  return reasons;
}

test('whatever part of the caches is complete, and whoever leads, a pass deletes only what `plan` lists, and what it has not known for two minutes is in condition, metric and status', async () => {
  let deleted = 0;
  const said = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.noBias(fc.oneof(fc.tuple(facts, given), ownedPods)),
      fc.noBias(steps),
      fc.constantFrom(undefined, undefined, 'get', 'delete'),
      async ([seen, limited], passes, lostVerb) => {
        const how = withRules(limited, unlimited);
        const world = new World(seen);
        const [first] = how.policies;
        if (first === undefined || isInvalid(first)) return;
        let step = idle;
        const made = (name: Step['by']): ReturnType<typeof environmentOf> => {
          const environment = environmentOf(world.cluster, first, {
            ...world.caches(() => step),
            clock: world.clock,
            holdsLease: () => step.isLeader && step.by === name,
            onPass: (reports) => (world.reports = reports),
          });
          environment.policies.ranked = how.policies;
          return environment;
        };
        const releases = { blue: made('blue'), green: made('green') };
        for (const one of passes) {
          step = one;
          world.clock.advance(step.afterMs);
          const listed = world.planned(how);
          const before = [...world.cluster.pods.keys()];
          // Only the live reads of a partial cluster fail.
          const result = await releases[step.by].pass().catch(() => undefined);
          const gone = before.filter((uid) => !world.cluster.pods.has(uid));
          deleted += gone.length;
          if (step.partial.some((of) => alwaysNeeded.has(of))) expect(result).toBe('waiting');
          expect(step.isLeader ? gone.filter((uid) => !listed.has(uid)) : gone).toEqual([]);
        }
        step = { ...step, isLeader: true };
        const release = releases[step.by];
        for (const reason of await expectSaid(world, how, { release, partial: step.partial, lostVerb }))
          said.add(reason);
      },
    ),
    worlds,
  );
  expect(deleted).toBeGreaterThan(100);
  expect([...said].sort()).toEqual(['CacheStale', 'MissingRights', 'NotVerified', 'Tripped']);
});
