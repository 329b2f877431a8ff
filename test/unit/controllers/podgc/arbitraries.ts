import fc from 'fast-check';
import { test } from 'vitest';
import {
  isInvalid,
  type InvalidPolicy,
  type PodsPolicy,
  type Policy,
} from '../../../../src/api/policy/policy.ts';
import { rankPolicies } from '../../../../src/api/policy/matching.ts';
import type { PodDeletion, PodGcFacts, PodGcPlan } from '../../../../src/controllers/podgc/facts.ts';
import { planPodGc } from '../../../../src/controllers/podgc/plan.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import {
  everyPod,
  labelled,
  minutesAgo,
  node,
  noHold,
  now,
  owner,
  pod,
  policy,
  selectingAll,
  terminatedRule,
} from '../../../builders.ts';
import { worlds } from '../../../worlds.ts';

export const planned = (seen: PodGcFacts, { policies }: Given): PodGcPlan =>
  planPodGc(seen, { policies, now });
export const lineOf = ({ target: { uid, markFailed }, reason, policy: { name } }: PodDeletion): string =>
  `${uid} ${reason} ${name} ${markFailed}`;

const keep = { 'gc.dustpan.dev/keep': 'true' };
export const rarely = (n: number): fc.Arbitrary<boolean> =>
  fc.noBias(fc.integer({ min: 0, max: n })).map((one) => one === 0);
export const jobTracking = 'batch.kubernetes.io/job-tracking';

/** Pods share their labels objects, as in the cache. */
const sharedLabels = {
  a: { app: 'a' },
  b: { app: 'b' },
  aKept: { app: 'a', ...keep },
  bKept: { app: 'b', ...keep },
} as const;

/** A kind of the same name in another API group: not a Job. */
const otherJob = { ...owner('Job', 'j'), apiVersion: 'jobs.example.com/v1' };

const somePod = fc
  .record({
    namespace: fc.constantFrom('default', 'default', 'shop', 'shop', 'kept', 'unknown'),
    nodeName: fc.constantFrom('node-1', 'node-1', 'out', 'keep', 'gone', 'gone-2', undefined, undefined),
    nodeExisted: fc.boolean(),
    phase: fc.constantFrom('Succeeded', 'Succeeded', 'Failed', 'Running', 'Pending', 'Unknown', ''),
    app: fc.constantFrom('a' as const, 'b' as const),
    isKept: rarely(9),
    deletion: fc.constantFrom(undefined, undefined, 0, 30),
    finalizers: fc.constantFrom([], [], [], ['example.com/hold'], [jobTracking]),
    controller: fc.constantFrom(
      undefined,
      undefined,
      owner('Job', 'j'),
      owner('Job', 'k'),
      otherJob,
      owner('ReplicaSet', 'r'),
    ),
    reason: fc.constantFrom('', '', 'Evicted'),
    ttlAnnotation: fc.constantFrom(undefined, undefined, '0s', '2m', '5m', '48h', 'soon'),
    age: fc.integer({ min: 0, max: 6 }),
    clock: fc.constantFrom<Clock>('right', 'right', 'right', 'behind', 'ahead', 'unset', 'nonsense', 'none'),
    /** Minutes until the controller first saw it finished. */
    seenAfter: fc.integer({ min: 0, max: 6 }),
    /** A failed deletion: milliseconds until it is tried again. */
    retryInMs: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, undefined, 0, 1),
  })
  .map(({ app, isKept, deletion, age, clock, seenAfter, ...over }) => ({
    ...over,
    labels: sharedLabels[isKept ? (`${app}Kept` as const) : app],
    ...(deletion === undefined ? {} : { deletionAtMs: minutesAgo(1), deletionGracePeriodSeconds: deletion }),
    createdAtMs: minutesAgo(60 + age),
    finishedAtMs: over.phase === '' ? undefined : finishedBy[clock](age),
    trueFinishMs: minutesAgo(age),
    seenForMs: Math.max(0, age - seenAfter) * 60_000,
  }));

type Clock = keyof typeof finishedBy;
/** The reported finish of a pod that finished `age` minutes ago, by the clock of its node. */
const finishedBy = {
  right: minutesAgo,
  behind: (age: number) => minutesAgo(age + 90),
  ahead: (age: number) => minutesAgo(age - 90),
  unset: (age: number) => (7 - age) * 60_000,
  nonsense: () => 253_402_300_799_000,
  none: () => undefined,
};

const pods = fc.noBias(fc.array(somePod, { maxLength: 30, size: 'medium' })).map((list) =>
  list.map(({ namespace, trueFinishMs, seenForMs, retryInMs, ...over }, i) => ({
    facts: pod(`${namespace}/p${i}`, over),
    trueFinishMs,
    seenForMs,
    retryInMs,
  })),
);

export interface Seen extends PodGcFacts {
  readonly pods: readonly PodFacts[];
  /** By UID, by a correct clock. */
  readonly trueFinishMs: ReadonlyMap<string, number>;
}

/** Random pods on nodes that exist, have the keep label, are out of service or missing, with right and wrong clocks, in namespaces that are known, have the keep label or are unknown. */
export const facts: fc.Arbitrary<Seen> = fc
  .record({
    pods,
    jobFinished: fc.boolean(),
    spareNodes: fc.integer({ min: 0, max: 8 }),
    missingForMs: fc.constantFrom(0, 40_000),
    closedForMs: fc.constantFrom(39_999, 40_000, 40_000),
    /** Since the first pass under the generation of each policy. */
    inForceForMs: fc.constantFrom(undefined, 0, 0, 299_999, 300_000),
    wasSeen: fc.boolean(),
    leftOpenForMs: fc.constantFrom(undefined, undefined, 39_999, 40_000),
  })
  .map(({ pods: listed, jobFinished, spareNodes, ...times }) => {
    const { missingForMs, closedForMs, inForceForMs, wasSeen, leftOpenForMs } = times;
    return {
      pods: listed.map(({ facts: one }) => one),
      trueFinishMs: new Map(listed.map(({ facts: { uid }, trueFinishMs }) => [uid, trueFinishMs])),
      finishedForMs: new Map(listed.map(({ facts: { uid }, seenForMs }) => [uid, seenForMs])),
      failedBefore: new Map(
        listed.flatMap(({ facts: { uid }, retryInMs }) =>
          retryInMs === undefined ? [] : [[uid, { times: 1, retryInMs }]],
        ),
      ),
      nodes: new Map(
        [
          node('node-1'),
          node('out', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] }),
          node('keep', { labels: keep }),
          ...Array.from({ length: spareNodes }, (_, i) => node(`spare-${i}`)),
        ].map((one) => [one.name, one]),
      ),
      namespaces: new Map<string, Record<string, string>>([
        ['default', {}],
        ['shop', { team: 'shop' }],
        ['kept', keep],
      ]),
      jobsFinished: new Map([['uid-Job-j', jobFinished]]),
      owners: new Map([
        ['uid-ReplicaSet-r', owner('Deployment', 'd')],
        ['uid-Job-k', owner('CronJob', 'c')],
      ]),
      seenNodes: new Set(['node-1', ...(wasSeen ? ['gone'] : [])]),
      lostNodes: new Set(),
      missingForMs: new Map([
        ['gone', missingForMs],
        ['gone-2', 40_000],
      ]),
      inForceForMs: new Map(
        inForceForMs === undefined ? [] : ['all', 'app', 'shop'].map((name) => [name, inForceForMs]),
      ),
      closedForMs: new Map([
        ['all', closedForMs],
        ['app', 40_000],
      ]),
      leftOpenForMs: new Map(leftOpenForMs === undefined ? [] : [['all', leftOpenForMs]]),
    };
  });

/** Pods bound to nodes that never existed: no kubelet has started them. */
export const invented: fc.Arbitrary<readonly PodFacts[]> = fc
  .array(
    fc.record({ namespace: fc.constantFrom('default', 'shop'), phase: fc.constantFrom('Pending', 'Failed') }),
    { minLength: 1, maxLength: 30, size: 'medium' },
  )
  .map((list) =>
    list.map(({ namespace, phase }, i) =>
      pod(`${namespace}/invented-${i}`, {
        phase,
        nodeName: `invented-${i}`,
        nodeExisted: false,
        labels: sharedLabels.a,
      }),
    ),
  );

const orNone = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const rules = fc.record({
  terminated: orNone(
    fc
      .record({
        threshold: fc.integer({ min: 0, max: 8 }),
        perNamespaceThreshold: orNone(fc.integer({ min: 1, max: 4 })),
        ttlAfterFinishedMs: orNone(fc.constantFrom(0, 180_000)),
        honorTTLAnnotation: fc.boolean(),
        keepPerOwner: fc.integer({ min: 0, max: 2 }),
        keepPerOwnerByPhase: fc.record({
          succeeded: fc.constantFrom(0, 0, 1),
          failed: fc.constantFrom(0, 0, 1, 2),
        }),
        protectUnfinishedJobs: fc.boolean(),
      })
      .map((over) => terminatedRule(over)),
  ),
  orphaned: orNone(fc.constant({ quarantineMs: 40_000 })),
  unscheduledTerminating: fc.boolean(),
  outOfService: fc.boolean(),
});

const invalidSelections = {
  all: selectingAll,
  app: { pods: { ...everyPod, podSelector: labelled('app', 'a') }, nodes: undefined },
  nodes: { pods: undefined, nodes: selectingAll.nodes },
} as const;

export interface Given {
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly maxDeletesPerPass: number;
}

/** Up to three policies: for all pods, for one app, for one namespace; sometimes an invalid one, for all pods, one app or none, ranks above, between or below. */
export const given: fc.Arbitrary<Given> = fc
  .record({
    all: orNone(rules),
    app: orNone(rules),
    shop: orNone(rules),
    invalid: fc.constantFrom(undefined, undefined, undefined, -1, 1, 15, 30),
    invalidSelects: fc.constantFrom('all', 'app', 'nodes'),
    maxDeletesPerPass: fc.integer({ min: 0, max: 4 }),
    maxOrphanedNodesPercent: fc.constantFrom(0, 20, 50, 100),
    isDryRun: fc.boolean(),
    hold: fc.constantFrom(noHold, { above: 1, forMs: 300_000 }),
  })
  .map(({ all, app, shop, invalid, invalidSelects, isDryRun, hold, ...safety }) => {
    const made = (name: string, priority: number, over: NonNullable<Parameters<typeof policy>[0]>['pods']) =>
      policy({
        ...{ name, priority, mode: isDryRun ? 'DryRun' : 'Enforce' },
        pods: { ...over, safety, hold },
      });
    const broken = {
      ...{ name: `broken ${invalidSelects}`, uid: 'uid-broken', generation: 1, problems: ['nonsense'] },
      ...invalidSelections[invalidSelects],
    };
    return {
      maxDeletesPerPass: safety.maxDeletesPerPass,
      policies: rankPolicies([
        ...(all === undefined ? [] : [made('all', 0, all)]),
        ...(app === undefined ? [] : [made('app', 10, { ...app, podSelector: labelled('app', 'a') })]),
        ...(shop === undefined
          ? []
          : [made('shop', 20, { ...shop, namespaceSelector: labelled('team', 'shop') })]),
        ...(invalid === undefined ? [] : [{ ...broken, priority: invalid }]),
      ]),
    };
  });

/** Checks random clusters, each under random policies. */
export function inEachCluster(
  check: (seen: Seen, how: Given) => void,
  { clusters = facts, policies = given }: { clusters?: typeof facts; policies?: typeof given } = {},
): void {
  fc.assert(fc.property(clusters, policies, check), worlds);
}

/** A test that this holds in random clusters, each under random policies. */
export function testClusters(title: string, check: (seen: Seen, how: Given) => void): void {
  test(title, () => inEachCluster(check));
}

/** With other rules for pods in each policy. */
export const withRules = (how: Given, change: (rules: PodsPolicy) => Partial<PodsPolicy>): Given => ({
  ...how,
  policies: how.policies.map((one) =>
    isInvalid(one) || one.pods === undefined ? one : { ...one, pods: { ...one.pods, ...change(one.pods) } },
  ),
});

/** Without limits of a pass, of which each deletion takes a place from others. */
export const unlimited = ({ safety }: Pick<PodsPolicy, 'safety'>): Partial<PodsPolicy> => ({
  safety: { ...safety, maxDeletesPerPass: 0 },
  hold: noHold,
});

/** The first policy that selects the pod, found without the code under test. */
export function governorOf(one: PodFacts, { policies }: Given): string | undefined {
  const selects = (each: Policy | InvalidPolicy): boolean => {
    if (each.name === 'broken nodes') return false;
    if (each.name === 'app' || each.name === 'broken app') return one.labels['app'] === 'a';
    return each.name === 'all' || each.name === 'broken all' || one.namespace === 'shop';
  };
  return policies.find(selects)?.name;
}
