import type { PodsPolicy } from '../../api/policy/policy.ts';
import type { NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import {
  isAlreadyDeleted,
  toDelete,
  type Given,
  type Group,
  type KeptBecause,
  type PodDeletion,
  type PodGcFacts,
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
export const nodeOf = ({ nodeName = '' }: PodFacts): string => nodeName;

export const isOnMissing = ({ nodeName }: PodFacts, nodes: ReadonlyMap<string, NodeFacts>): boolean =>
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
