import { neededOwners } from '../../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import type {
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  OwnerRef,
  PodFacts,
  ReplicaSetFacts,
} from '../../kube/cache/objects.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import { inForceAt, type InForce, type InForceByName } from '../../gc/hold.ts';
import type { OpenBreakers } from '../../gc/open-breaker.ts';
import { isOf, type PodGcFacts } from './facts.ts';
import { observeFinished, type SeenFinished } from './finish.ts';
import { noneMissing, observeMissing, type PassTime, type MissingNodes } from './nodes.ts';

/** The caches a pass reads, all at one moment. */
export interface Caches {
  readonly pods: Store<PodFacts>;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  /** Watched from the first call on: only some policies need them, and not every installation may read them. */
  readonly jobs: () => Store<JobFacts>;
  readonly replicaSets: () => Store<ReplicaSetFacts>;
}

/** What later passes need of the earlier ones. */
export interface PodGcMemory {
  readonly missing: MissingNodes;
  readonly seenFinished: SeenFinished;
  readonly inForce: InForceByPolicy;
}

export const noPassBefore: PodGcMemory = {
  missing: noneMissing,
  seenFinished: new Map(),
  inForce: new Map(),
};

/** By UID of the policy: its rules, with the time since which they are in force on the monotonic clock, too. */
export type InForceByPolicy = ReadonlyMap<string, InForce & { readonly sinceMs: number }>;

interface Pass extends PassTime, Pick<PodGcFacts, 'failedBefore'> {
  /** By the statuses of the policies; read in the first pass. */
  readonly openBreakers: OpenBreakers;
  /** For policies that no earlier pass of this process has seen. */
  readonly storedInForce: InForceByName;
  readonly now: Date;
}

interface Observed {
  readonly facts: PodGcFacts;
  readonly memory: PodGcMemory;
}

/** Reads the caches into the facts of one pass, and updates what is remembered between passes. */
export function observe(
  caches: Caches,
  policies: readonly (Policy | InvalidPolicy)[],
  before: PodGcMemory,
  pass: Pass,
): Observed {
  const pods = [...caches.pods.items.values()];
  const nodes = new Map([...caches.nodes.items.values()].map((node) => [node.name, node]));
  const missing = observeMissing(before.missing, { pods, nodes, openBreakers: pass.openBreakers }, pass);
  const seenFinished = observeFinished(before.seenFinished, pods, pass);
  const inForce = observeInForce(before.inForce, policies, pass);
  const needed = neededOwners(policies);
  const inForceSince = policies.flatMap(({ name, uid }) => {
    const { sinceMs } = inForce.get(uid) ?? {};
    return sinceMs === undefined ? [] : [[name, sinceMs] as const];
  });
  const facts: PodGcFacts = {
    pods,
    nodes,
    namespaces: new Map([...caches.namespaces.items.values()].map(({ name, labels }) => [name, labels])),
    jobsFinished: needed.jobs ? jobsFinished(caches.jobs()) : undefined,
    owners: needed.replicaSets ? ownersIn(caches) : new Map(),
    seenNodes: missing.seen,
    lostNodes: new Set(missing.lost.keys()),
    missingForMs: forMs(missing.since, pass),
    closedForMs: forMs(missing.closedSince, pass),
    leftOpenForMs: forMs(missing.leftOpenSince, pass),
    finishedForMs: forMs(seenFinished, pass),
    failedBefore: pass.failedBefore,
    inForceForMs: forMs(new Map(inForceSince), pass),
  };
  return { facts, memory: { missing, seenFinished, inForce } };
}

/** Adds the rules of a pass to those of earlier passes, and of an earlier controller: a restart neither ends nor begins a hold. */
function observeInForce(
  before: InForceByPolicy,
  policies: readonly (Policy | InvalidPolicy)[],
  { storedInForce, monotonicMs, now }: Pass,
): InForceByPolicy {
  return new Map(
    policies.flatMap((policy) => {
      if (isInvalid(policy) || policy.mode === 'DryRun' || policy.pods === undefined) return [];
      const known = before.get(policy.uid);
      if (known?.rulesId === policy.rulesId) return [[policy.uid, known]];
      const found = inForceAt(policy, storedInForce.get(policy.name), now);
      const sinceMs = monotonicMs - (now.getTime() - found.since.getTime());
      return [[policy.uid, { ...found, sinceMs }]];
    }),
  );
}

/** Without a list in between: there may be an entry for every pod. */
function forMs(since: ReadonlyMap<string, number>, { monotonicMs }: PassTime): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const [key, sinceMs] of since) times.set(key, monotonicMs - sinceMs);
  return times;
}

function jobsFinished(jobs: Store<JobFacts>): PodGcFacts['jobsFinished'] {
  return jobs.synced
    ? new Map([...jobs.items.values()].map(({ uid, finished }) => [uid, finished]))
    : undefined;
}

/** Unknown unless both lists are current: pods whose owners are missing would count for other owners, and other pods would be deleted for them. */
function ownersIn(caches: Caches): PodGcFacts['owners'] {
  // Both are requested: the first request starts the watch.
  const [replicaSets, jobs] = [caches.replicaSets(), caches.jobs()];
  if (!replicaSets.synced || !jobs.synced) return undefined;
  const owners = new Map<string, OwnerRef>();
  for (const { uid, controller } of replicaSets.items.values())
    if (controller !== undefined) owners.set(uid, controller);
  for (const { uid, controller } of jobs.items.values())
    if (isOf(controller, 'batch', 'CronJob')) owners.set(uid, controller);
  return owners;
}
