import { neededOwners } from '../../api/policy/matching.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type {
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  OwnerRef,
  PodFacts,
  ReplicaSetFacts,
} from '../../kube/cache/objects.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import type { InForceByName } from '../../gc/hold.ts';
import type { OpenBreakers } from '../../gc/open-breaker.ts';
import { isOf, type PodGcFacts } from './facts.ts';
import { observeFinished, type SeenFinished } from './finish.ts';
import { observeInForce, type InForceByPolicy } from './in-force.ts';
import { observeMissing, type PassTime, type MissingNodes } from './nodes.ts';

/** The caches a pass reads, all at one moment. */
export interface Caches {
  readonly pods: Store<PodFacts>;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  /** Watched from the first call on: only some policies need them, and not every installation may read them. */
  readonly jobs: () => Store<JobFacts>;
  readonly replicaSets: () => Store<ReplicaSetFacts>;
}

interface Observed {
  readonly facts: PodGcFacts;
  /** For the next pass. */
  readonly missing: MissingNodes;
  readonly seenFinished: SeenFinished;
  readonly inForce: InForceByPolicy;
}

interface Memory extends PassTime, Pick<PodGcFacts, 'failedBefore'> {
  readonly missing: MissingNodes;
  readonly seenFinished: SeenFinished;
  /** By the statuses of the policies; read in the first pass. */
  readonly openBreakers: OpenBreakers;
  readonly inForce: InForceByPolicy;
  /** For policies that no earlier pass of this process has seen. */
  readonly storedInForce: InForceByName;
  readonly now: Date;
}

/** Reads the caches into the facts of one pass, and updates what is remembered between passes. */
export function observe(
  caches: Caches,
  policies: readonly (Policy | InvalidPolicy)[],
  memory: Memory,
): Observed {
  const pods = [...caches.pods.items.values()];
  const nodes = new Map([...caches.nodes.items.values()].map((node) => [node.name, node]));
  const { openBreakers } = memory;
  const missing = observeMissing(memory.missing, { pods, nodes, openBreakers }, memory);
  const seenFinished = observeFinished(memory.seenFinished, pods, memory);
  const inForce = observeInForce(memory.inForce, policies, memory.storedInForce, memory);
  const needed = neededOwners(policies);
  const facts: PodGcFacts = {
    pods,
    nodes,
    namespaces: new Map([...caches.namespaces.items.values()].map(({ name, labels }) => [name, labels])),
    jobsFinished: needed.jobs ? jobsFinished(caches.jobs()) : undefined,
    owners: needed.replicaSets ? ownersIn(caches) : new Map(),
    seenNodes: missing.seen,
    lostNodes: new Set(missing.lost.keys()),
    missingForMs: forMs(missing.since, memory),
    closedForMs: forMs(missing.closedSince, memory),
    leftOpenForMs: forMs(missing.leftOpenSince, memory),
    finishedForMs: forMs(seenFinished, memory),
    failedBefore: memory.failedBefore,
    inForceForMs: new Map(
      policies.flatMap(({ name, uid }) => {
        const { sinceMs } = inForce.get(uid) ?? {};
        return sinceMs === undefined ? [] : [[name, memory.monotonicMs - sinceMs]];
      }),
    ),
  };
  return { facts, missing, seenFinished, inForce };
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
