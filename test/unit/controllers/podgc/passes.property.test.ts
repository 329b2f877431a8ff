import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInvalid } from '../../../../src/api/policy/policy.ts';
import { isFinished } from '../../../../src/api/pod-phase.ts';
import { planUnits } from '../../../../src/commands/plan/units.ts';
import type {
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  PodFacts,
  ReplicaSetFacts,
} from '../../../../src/kube/cache/objects.ts';
import type { Store } from '../../../../src/kube/cache/reflector.ts';
import { owner, terminatedRule } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeCluster } from '../../../fakes/cluster.ts';
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

/** The objects of a random cluster as a list returns them; the finish of each pod is in its status. */
class World {
  readonly cluster: FakeCluster;
  readonly clock = new FakeClock();
  readonly #others: {
    readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
    readonly jobs: ReadonlyMap<string, JobFacts>;
    readonly replicaSets: ReadonlyMap<string, ReplicaSetFacts>;
  };

  constructor({ pods, trueFinishMs, nodes, namespaces, jobsFinished }: Seen) {
    this.cluster = new FakeCluster(
      pods.map((one) => ({ ...one, finishedAtMs: isFinished(one) ? trueFinishMs.get(one.uid) : undefined })),
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

test('whatever part of the caches is complete, and whoever leads, a pass deletes only what `plan` lists', async () => {
  let deleted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.noBias(fc.oneof(fc.tuple(facts, given), ownedPods)),
      fc.noBias(steps),
      async ([seen, limited], passes) => {
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
      },
    ),
    worlds,
  );
  expect(deleted).toBeGreaterThan(100);
});
