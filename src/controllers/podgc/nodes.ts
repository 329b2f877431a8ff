import type { PodsPolicy } from '../../api/policy/policy.ts';
import type { OpenBreakers } from '../../gc/open-breaker.ts';
import type { NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import {
  isAlreadyDeleted,
  isOf,
  toDelete,
  type Given,
  type Group,
  type KeptBecause,
  type PodDeletion,
  type PodGcFacts,
  type PodGcPlan,
  type PolicyVerdicts,
} from './facts.ts';

export const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** Terminating pods on a node that is not ready and marked out of service, as upstream (pkg/controller/podgc/gc_controller.go, gcTerminating). */
export function outOfService(
  { policy, rules, terminating }: Group,
  nodes: ReadonlyMap<string, NodeFacts> = new Map<string, NodeFacts>(),
): readonly PodDeletion[] {
  const isOn = (pod: PodFacts): boolean => {
    const node = nodes.get(nodeOf(pod));
    return node !== undefined && isOutOfService(node);
  };
  const pods = rules.outOfService ? terminating.filter(isOn) : [];
  return pods.map((pod) => toDelete(pod, { reason: 'OutOfService' }, policy));
}

/** What shows whether a kubelet ends the pods of a node. */
export type NodeState = Pick<NodeFacts, 'ready' | 'readyChangedAtMs' | 'taintKeys'>;

export const isOutOfService = (node: NodeState): boolean =>
  !node.ready && node.taintKeys.includes(outOfServiceTaint);

/** Whether the taint that makes a node out of service is left on a node that is ready again. */
export const hasTaintLeft = (node: NodeState): boolean =>
  node.ready && node.taintKeys.includes(outOfServiceTaint);

/** What such a taint does. */
export const taintLeftText = (node: string): string =>
  `Node ${node} has the out-of-service taint, which has no effect while the node is ready. Remove it: each time the node is not ready for a moment, the pods that are terminating on it are deleted by force.`;

export const removeTaint = (node: string): string => `kubectl taint nodes ${node} ${outOfServiceTaint}-`;

/** Terminating pods that were never bound to a node, as upstream (gcUnscheduledTerminating). */
export function unscheduled({ policy, rules, terminating }: Group): readonly PodDeletion[] {
  const pods = rules.unscheduledTerminating ? terminating.filter((pod) => pod.nodeName === undefined) : [];
  return pods.map((pod) => toDelete(pod, { reason: 'Unscheduled' }, policy));
}

export interface OrphanVerdicts extends Pick<
  PolicyVerdicts,
  'missingNodes' | 'trippedPercent' | 'isLeftOpen'
> {
  /** None while the circuit breaker is open. */
  readonly due: readonly PodDeletion[];
  /** Why an orphan that is not due is kept; undefined = the pod is no orphan. */
  keptBecause(pod: PodFacts): KeptBecause | undefined;
}

const noOrphans: OrphanVerdicts = {
  due: [],
  missingNodes: 0,
  trippedPercent: undefined,
  isLeftOpen: false,
  keptBecause: () => undefined,
};

/**
 * Pods on nodes that do not exist, past the quarantine, as upstream (gcOrphaned); the circuit breaker, opened by `missing` nodes, is ours. When it
 * closes, the quarantine restarts: the last nodes of a wrong list may be about to return.
 */
export function judgeOrphans(
  group: Group,
  facts: PodGcFacts & { readonly missing: number },
  { now }: Pick<Given, 'now'>,
): OrphanVerdicts {
  const { orphaned, safety } = group.rules;
  const { nodes, missing } = facts;
  if (orphaned === undefined || nodes === undefined || isNoneMissing(facts)) return noOrphans;

  const { quarantineMs } = orphaned;
  const missingPercent = percentMissing(missing, nodes.size);
  const isOpened = opens(missing, nodes.size, safety);
  const isLeftOpen = !isOpened && wasLeftOpen(group, facts, quarantineMs);
  const trippedPercent = isOpened || isLeftOpen ? missingPercent : undefined;
  const closedForMs = facts.closedForMs.get(group.policy.name) ?? 0;
  const missingForMs = (pod: PodFacts): number =>
    Math.min(facts.missingForMs.get(nodeOf(pod)) ?? 0, closedForMs);
  const isDue = (pod: PodFacts): boolean => isOnMissing(pod, nodes) && missingForMs(pod) >= quarantineMs;
  const due = trippedPercent === undefined ? group.pods.filter(isDue) : [];
  return {
    due: due.map((pod) =>
      toDelete(pod, { reason: 'Orphaned', isAssumed: missingForMs(pod) === Infinity }, group.policy),
    ),
    missingNodes: missing,
    trippedPercent,
    isLeftOpen,
    keptBecause: (pod) => {
      if (!isOnMissing(pod, nodes)) return undefined;
      if (trippedPercent !== undefined) return { reason: 'Tripped' };
      const eligibleAt = new Date(now.getTime() + quarantineMs - missingForMs(pod));
      return { reason: 'Quarantined', eligibleAt };
    },
  };
}

/** Whether an earlier controller left the circuit breaker open, and this one has not run for a quarantine yet; 100 percent switches it off. */
const wasLeftOpen = (
  { policy, rules }: Group,
  { leftOpenForMs }: PodGcFacts,
  quarantineMs: number,
): boolean =>
  rules.safety.maxOrphanedNodesPercent < 100 && (leftOpenForMs.get(policy.name) ?? Infinity) < quarantineMs;

/** '' = the pod is not bound; no node has this name. */
const nodeOf = ({ nodeName = '' }: PodFacts): string => nodeName;

const isOnMissing = ({ nodeName }: PodFacts, nodes: ReadonlyMap<string, NodeFacts>): boolean =>
  nodeName !== undefined && !nodes.has(nodeName);

/** Mostly no node is missing, and then no rule reads all pods again. */
const isNoneMissing = ({ missingForMs }: Pick<PodGcFacts, 'missingForMs'>): boolean =>
  missingForMs.size === 0;

/**
 * Counts the missing nodes that pods of any policy with the orphan rule refer to, and those that were lost within an hour: many small policies share
 * one cluster, and nodes may vanish one by one. Only names of former Nodes count: every user who may create pods can invent names, and invented names
 * must not open the circuit breaker.
 */
export function missingNodes(
  groups: readonly Group[],
  facts: Pick<PodGcFacts, 'nodes' | 'seenNodes' | 'missingForMs' | 'lostNodes'>,
): number {
  const { nodes, seenNodes, lostNodes } = facts;
  if (isNoneMissing(facts) || nodes === undefined) return 0;
  const missing = new Set<string>(lostNodes);
  const count = (pod: PodFacts): void => {
    if (!isOnMissing(pod, nodes) || isAlreadyDeleted(pod)) return;
    if (pod.nodeExisted || seenNodes.has(nodeOf(pod))) missing.add(nodeOf(pod));
  };
  for (const { rules, pods } of groups) if (rules.orphaned !== undefined) pods.forEach(count);
  return missing.size;
}

/**
 * Whether so many missing nodes open the circuit breaker: a list that lost half its nodes is more likely wrong than true. One missing
 * node is not enough, or it would block a small cluster for ever; unless the policy accepts none (0 percent), or no Node exists at all.
 */
function opens(
  missing: number,
  existing: number,
  { maxOrphanedNodesPercent: max }: PodsPolicy['safety'],
): boolean {
  const isTolerable = existing > 0 && missing <= 1 && max > 0;
  return percentMissing(missing, existing) > max && !isTolerable;
}

/** Without any Node all of them are missing, whatever pods refer to. */
const percentMissing = (missing: number, existing: number): number =>
  existing === 0 ? 100 : (100 * missing) / (missing + existing);

/** Times since which node names that pods refer to have been missing, and the time of the last pass; monotonic. */
export interface MissingNodes {
  readonly since: ReadonlyMap<string, number>;
  readonly observedAtMs: number;
  /** Names of the nodes that exist, and of missing ones that existed in an earlier pass. */
  readonly seen: ReadonlySet<string>;
  /** Times at which nodes went missing while pods ran there (`isLoss`), also of nodes to which no pod refers any more; by name. */
  readonly lost: ReadonlyMap<string, number>;
  /** The first of the latest passes that found the circuit breaker of a policy closed, by the policy's name. */
  readonly closedSince: ReadonlyMap<string, number>;
  /** Policies whose circuit breaker an earlier controller left open, by name, and the first pass of this one. */
  readonly leftOpenSince: ReadonlyMap<string, number>;
}

export interface PassTime {
  readonly monotonicMs: number;
  /** After a longer gap between two passes the time between them does not count. */
  readonly maxGapMs: number;
}

export const noneMissing: MissingNodes = {
  since: new Map(),
  observedAtMs: -Infinity,
  seen: new Set(),
  lost: new Map(),
  closedSince: new Map(),
  leftOpenSince: new Map(),
};

/** The nodes and pods of a pass, and the circuit breakers that the status of the policies reports as open. */
interface ObservedNodes extends Pick<PodGcFacts, 'pods'> {
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly openBreakers: OpenBreakers;
}

/**
 * Adds this pass to what earlier passes observed. A node that is back loses its entry, so that its quarantine restarts; after a gap
 * every quarantine restarts. The first pass takes over the circuit breakers that an earlier controller left open.
 */
export function observeMissing(
  before: MissingNodes,
  { pods, nodes, openBreakers }: ObservedNodes,
  { monotonicMs, maxGapMs }: PassTime,
): MissingNodes {
  const missing = pods.flatMap(({ nodeName }) =>
    nodeName === undefined || nodes.has(nodeName) ? [] : nodeName,
  );
  const isGap = monotonicMs - before.observedAtMs > maxGapMs;
  const since = sinceWhen(missing, isGap ? new Map<string, number>() : before.since, monotonicMs);
  const isFirst = before === noneMissing;
  const seen = isFirst ? formerNodes(openBreakers, pods, since) : before.seen;
  const leftOpenSince = isFirst
    ? sinceWhen(openBreakers.keys(), before.leftOpenSince, monotonicMs)
    : before.leftOpenSince;
  const lost = lostNodes({ ...before, seen, since }, { pods, nodes }, monotonicMs);
  const known = { seen: seenNodes(seen, since, nodes), lost };
  return { ...before, ...known, since, observedAtMs: monotonicMs, leftOpenSince };
}

/** Since when each of these keys was in every pass. */
const sinceWhen = (
  keys: Iterable<string>,
  before: ReadonlyMap<string, number>,
  nowMs: number,
): ReadonlyMap<string, number> => new Map([...new Set(keys)].map((key) => [key, before.get(key) ?? nowMs]));

/** For so long a lost node counts for the circuit breaker, after its pods have been deleted too. */
const lostForMs = 60 * 60_000;

/** Adds the nodes that this pass finds lost, and forgets those that are back, and those of more than an hour ago. */
function lostNodes(
  { lost, seen, since }: Pick<MissingNodes, 'lost' | 'seen' | 'since'>,
  { pods, nodes }: Pick<ObservedNodes, 'pods' | 'nodes'>,
  monotonicMs: number,
): ReadonlyMap<string, number> {
  const isRecent = (atMs: number | undefined): atMs is number =>
    atMs !== undefined && monotonicMs - atMs < lostForMs;
  const recent = new Map([...lost].filter(([name, atMs]) => !nodes.has(name) && isRecent(atMs)));
  if (since.size === 0) return recent;
  for (const pod of pods) {
    const name = nodeOf(pod);
    const atMs = since.get(name);
    if (!isRecent(atMs) || recent.has(name) || !isLoss(pod)) continue;
    if (pod.nodeExisted || seen.has(name)) recent.set(name, atMs);
  }
  return recent;
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

/** Adds which circuit breakers the plan of the last observed pass found closed. */
export function rememberClosed(missing: MissingNodes, policies: PodGcPlan['policies']): MissingNodes {
  const closed = policies.flatMap(({ policy, trippedPercent }) =>
    policy.pods?.orphaned === undefined || trippedPercent !== undefined ? [] : policy.name,
  );
  return { ...missing, closedSince: sinceWhen(closed, missing.closedSince, missing.observedAtMs) };
}

/** Bounded: a deleted node is forgotten when no pod refers to it any more. */
function seenNodes(
  before: ReadonlySet<string>,
  missing: ReadonlyMap<string, number>,
  nodes: ReadonlyMap<string, NodeFacts>,
): ReadonlySet<string> {
  const seen = new Set(nodes.keys());
  for (const name of missing.keys()) if (before.has(name)) seen.add(name);
  return seen;
}
