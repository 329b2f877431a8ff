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
import type { Moment } from '../../runtime/scheduling/jump.ts';
import { isOf, isTerminated, type PodGcFacts, type PolicyVerdicts } from './facts.ts';
import { isFinishUnsure } from './finish.ts';
import { isOnMissing, nodeOf } from './nodes.ts';

/** The caches a pass reads, all at one moment. */
export interface Caches {
  readonly pods: Store<PodFacts>;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  /** Watched from the first call on: only some policies need them, and not every installation may read them. */
  readonly jobs: () => Store<JobFacts>;
  readonly replicaSets: () => Store<ReplicaSetFacts>;
}

/** By UID of the policy: its rules, with the time since which they are in force on the monotonic clock, too. */
export type InForceByPolicy = ReadonlyMap<string, InForce & { readonly sinceMs: number }>;

interface Pass extends Moment, Pick<PodGcFacts, 'failedBefore'> {
  /** By the statuses of the policies; read in the first pass. */
  readonly openBreakers: OpenBreakers;
  /** For policies that no earlier pass of this process has seen. */
  readonly storedInForce: InForceByName;
  /** After a longer gap between two passes the time between them does not count. */
  readonly maxGapMs: number;
}

/** Since when each key was found in every pass, monotonic milliseconds. */
class Since extends Map<string, number> {
  /** A pass has found these keys, and no others. */
  found(keys: Iterable<string>, atMs: number): void {
    const found = new Set(keys);
    for (const key of this.keys()) if (!found.has(key)) this.delete(key);
    for (const key of found) if (!this.has(key)) this.set(key, atMs);
  }

  /** Without a list in between: there may be an entry for every pod. */
  forMs(nowMs: number): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    for (const [key, sinceMs] of this) times.set(key, nowMs - sinceMs);
    return times;
  }
}

/** For so long a lost node counts for the circuit breaker, after its pods have been deleted too. */
const lostForMs = 60 * 60_000;

/** What later passes need of the earlier ones. */
export class PodGcMemory {
  /** Names of nodes that pods refer to and that do not exist. One that is back loses its entry, so that its quarantine restarts. */
  readonly #missing = new Since();
  /** UIDs of finished pods whose finish time is unsure. They remain finished, so a gap between two passes changes nothing. */
  readonly #finished = new Since();
  /** Names of policies whose circuit breaker is closed. */
  readonly #closed = new Since();
  /** Names of policies whose circuit breaker an earlier controller left open. */
  readonly #leftOpen = new Since();
  /** Times at which nodes went missing while pods ran there (`isLoss`), also of nodes to which no pod refers any more; by name. */
  readonly #lost = new Map<string, number>();
  /** Names of the nodes that exist, and of missing ones that existed in an earlier pass. */
  #seen: ReadonlySet<string> = new Set();
  #inForce: InForceByPolicy = new Map();
  /** Time of the last pass. */
  #observedAtMs = -Infinity;

  /** Whether no pass was made yet. */
  get isNew(): boolean {
    return this.#observedAtMs === -Infinity;
  }

  get inForce(): InForceByPolicy {
    return this.#inForce;
  }

  /** Reads the caches into the facts of one pass. */
  observe(caches: Caches, policies: readonly (Policy | InvalidPolicy)[], pass: Pass): PodGcFacts {
    const { monotonicMs, wallMs, failedBefore } = pass;
    const pods = [...caches.pods.items.values()];
    const nodes = new Map([...caches.nodes.items.values()].map((node) => [node.name, node]));
    this.#observeNodes(pods, nodes, pass);
    const seenAtMs = ({ uid }: PodFacts): number =>
      wallMs - (monotonicMs - (this.#finished.get(uid) ?? monotonicMs));
    const unsure = pods.filter((pod) => isTerminated(pod) && isFinishUnsure(pod, seenAtMs(pod)));
    this.#finished.found(
      unsure.map(({ uid }) => uid),
      monotonicMs,
    );
    this.#inForce = observeInForce(this.#inForce, policies, pass);
    this.#observedAtMs = monotonicMs;
    const needed = neededOwners(policies);
    const inForceForMs = policies.flatMap(({ name, uid }) => {
      const { sinceMs } = this.#inForce.get(uid) ?? {};
      return sinceMs === undefined ? [] : [[name, monotonicMs - sinceMs] as const];
    });
    return {
      pods,
      nodes,
      namespaces: new Map([...caches.namespaces.items.values()].map(({ name, labels }) => [name, labels])),
      jobsFinished: needed.jobs ? jobsFinished(caches.jobs()) : undefined,
      owners: needed.replicaSets ? ownersIn(caches) : new Map(),
      seenNodes: this.#seen,
      lostNodes: new Set(this.#lost.keys()),
      missingForMs: this.#missing.forMs(monotonicMs),
      closedForMs: this.#closed.forMs(monotonicMs),
      leftOpenForMs: this.#leftOpen.forMs(monotonicMs),
      finishedForMs: this.#finished.forMs(monotonicMs),
      failedBefore,
      inForceForMs: new Map(inForceForMs),
    };
  }

  /** Adds which circuit breakers the plan of the last observed pass found closed. */
  addClosed(policies: readonly PolicyVerdicts[]): void {
    const closed = policies.filter(
      ({ policy, trippedPercent }) => policy.pods?.orphaned !== undefined && trippedPercent === undefined,
    );
    this.#closed.found(
      closed.map(({ policy }) => policy.name),
      this.#observedAtMs,
    );
  }

  /** The node exists although the cache does not have it: its quarantine restarts. */
  forgetMissing(node: string): void {
    this.#missing.delete(node);
  }

  #observeNodes(pods: readonly PodFacts[], nodes: Nodes, pass: Pass): void {
    const { openBreakers, monotonicMs, maxGapMs } = pass;
    if (monotonicMs - this.#observedAtMs > maxGapMs) this.#missing.clear();
    this.#missing.found(pods.filter((pod) => isOnMissing(pod, nodes)).map(nodeOf), monotonicMs);
    if (this.isNew) {
      this.#seen = formerNodes(openBreakers, pods, this.#missing);
      this.#leftOpen.found(openBreakers.keys(), monotonicMs);
    }
    this.#observeLost(pods, nodes, monotonicMs);
    // Bounded: a deleted node is forgotten when no pod refers to it any more.
    const former = [...this.#missing.keys()].filter((name) => this.#seen.has(name));
    this.#seen = new Set([...nodes.keys(), ...former]);
  }

  /** Adds the nodes that this pass finds lost, and forgets those that are back, and those of more than an hour ago. */
  #observeLost(pods: readonly PodFacts[], nodes: Nodes, monotonicMs: number): void {
    const isRecent = (atMs: number | undefined): atMs is number =>
      atMs !== undefined && monotonicMs - atMs < lostForMs;
    for (const [name, atMs] of this.#lost) if (nodes.has(name) || !isRecent(atMs)) this.#lost.delete(name);
    for (const pod of this.#missing.size === 0 ? [] : pods) {
      const name = nodeOf(pod);
      const atMs = this.#missing.get(name);
      if (!isRecent(atMs) || this.#lost.has(name) || !isLoss(pod)) continue;
      if (pod.nodeExisted || this.#seen.has(name)) this.#lost.set(name, atMs);
    }
  }
}

type Nodes = ReadonlyMap<string, NodeFacts>;

/**
 * The missing nodes that an earlier controller has seen. If it counted more than the pods prove, each name may be one of them, an invented one too:
 * in doubt the circuit breaker remains open.
 */
function formerNodes(
  openBreakers: OpenBreakers,
  pods: readonly PodFacts[],
  missing: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const proven = new Set(pods.filter((pod) => pod.nodeExisted && missing.has(nodeOf(pod))).map(nodeOf));
  const isMoreCounted = [...openBreakers.values()].some((count) => count > proven.size);
  return new Set(isMoreCounted ? missing.keys() : []);
}

/**
 * Whether the pod on a missing node shows that the node was lost, not removed: a scale-down evicts its pods before, except those of DaemonSets and
 * static ones.
 */
const isLoss = ({ phase, deletionAtMs, controller }: PodFacts): boolean =>
  phase === 'Running' &&
  deletionAtMs === undefined &&
  controller?.kind !== 'Node' &&
  !isOf(controller, 'apps', 'DaemonSet');

/** Adds the rules of a pass to those of earlier passes, and of an earlier controller: a restart neither ends nor begins a hold. */
function observeInForce(
  before: InForceByPolicy,
  policies: readonly (Policy | InvalidPolicy)[],
  { storedInForce, monotonicMs, wallMs }: Pass,
): InForceByPolicy {
  return new Map(
    policies.flatMap((policy) => {
      if (isInvalid(policy) || policy.mode === 'DryRun' || policy.pods === undefined) return [];
      const known = before.get(policy.uid);
      if (known?.rulesId === policy.rulesId) return [[policy.uid, known]];
      const found = inForceAt(policy, storedInForce.get(policy.name), new Date(wallMs));
      const sinceMs = monotonicMs - (wallMs - found.since.getTime());
      return [[policy.uid, { ...found, sinceMs }]];
    }),
  );
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
