import type { NodeFacts, PodFacts } from '../../kube/objects.ts';
import { isFinalizerHeld, type Group, type PodGcFacts } from './facts.ts';
import { inTurn } from './order.ts';

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** Terminating pods on a node that is not ready and marked out of service; the node is read live again before the act (upstream.md 1.4). */
export function outOfService(group: Group, nodes: ReadonlyMap<string, NodeFacts> | undefined): PodFacts[] {
  if (group.policy.pods?.outOfService !== true || nodes === undefined) return [];
  return inTurn(
    group.terminating.filter((pod) => {
      if (pod.nodeName === undefined) return false;
      const node = nodes.get(pod.nodeName);
      return node !== undefined && isOutOfService(node);
    }),
  );
}

export const isOutOfService = (node: NodeFacts): boolean =>
  !node.ready && node.taintKeys.includes(outOfServiceTaint);

/** Terminating pods that no node was ever chosen for (upstream.md 1.6). */
export const unscheduled = (group: Group): PodFacts[] =>
  group.policy.pods?.unscheduledTerminating === true
    ? inTurn(group.terminating.filter((pod) => pod.nodeName === undefined))
    : [];

export interface OrphanVerdicts {
  readonly due: readonly PodFacts[];
  readonly missingNodes: number;
  /** Set when more of the nodes are missing than the policy allows: then nothing is due. */
  readonly trippedPercent: number | undefined;
  /** undefined: the pod is no orphan. */
  keepReason(
    pod: PodFacts,
  ): { readonly reason: 'Quarantined' | 'Tripped'; readonly waitMs: number | undefined } | undefined;
}

const noOrphans: OrphanVerdicts = {
  due: [],
  missingNodes: 0,
  trippedPercent: undefined,
  keepReason: () => undefined,
};

/** Pods on nodes that do not exist, past the quarantine (upstream.md 1.5); the circuit breaker, opened by `missing` nodes, is ours. */
export function judgeOrphans(group: Group, facts: PodGcFacts, missing: number): OrphanVerdicts {
  const quarantineMs = group.policy.pods?.orphaned?.quarantineMs;
  const { nodes } = facts;
  if (quarantineMs === undefined || nodes === undefined || isNoneMissing(facts)) return noOrphans;

  const isOrphan = (pod: PodFacts): boolean => isOnMissing(pod, nodes);
  const orphans = group.pods.filter(isOrphan);
  const trippedPercent = overPercent(missing, nodes.size, group);
  const waitMs = (pod: PodFacts): number => quarantineMs - (facts.missingForMs.get(nodeOf(pod)) ?? 0);
  return {
    due: trippedPercent === undefined ? inTurn(orphans.filter((pod) => waitMs(pod) <= 0)) : [],
    missingNodes: missing,
    trippedPercent,
    keepReason: (pod) => {
      if (!isOrphan(pod)) return undefined;
      if (trippedPercent !== undefined) return { reason: 'Tripped', waitMs: undefined };
      return { reason: 'Quarantined', waitMs: waitMs(pod) };
    },
  };
}

/** '' = none was chosen: no node is called so. */
const nodeOf = ({ nodeName = '' }: PodFacts): string => nodeName;

const isOnMissing = ({ nodeName }: PodFacts, nodes: ReadonlyMap<string, NodeFacts>): boolean =>
  nodeName !== undefined && !nodes.has(nodeName);

/** The observation has visited all pods: mostly no node is missing, and then nothing visits them again. */
const isNoneMissing = ({ missingForMs }: Pick<PodGcFacts, 'missingForMs'>): boolean =>
  missingForMs.size === 0;

/**
 * Counts the missing nodes that pods of any policy with the orphan rule refer to: many small policies are one cluster. A name counts only
 * when it was a Node's: anybody who may create pods can invent names, and invented names must not open the circuit breaker.
 */
export function missingNodes(
  groups: readonly Group[],
  facts: Pick<PodGcFacts, 'nodes' | 'seenNodes' | 'missingForMs'>,
): number {
  const { nodes, seenNodes } = facts;
  if (isNoneMissing(facts) || nodes === undefined) return 0;
  const missing = new Set<string>();
  const count = (pod: PodFacts): void => {
    if (!isOnMissing(pod, nodes) || isFinalizerHeld(pod)) return;
    if (pod.started || seenNodes.has(nodeOf(pod))) missing.add(nodeOf(pod));
  };
  for (const { policy, pods } of groups) if (policy.pods?.orphaned !== undefined) pods.forEach(count);
  return missing.size;
}

/** The share of nodes that are missing, when it is over the policy's limit. A list of nodes that lost half its entries is more likely wrong than true. */
function overPercent(missing: number, existing: number, { policy }: Group): number | undefined {
  // Without any Node all of them are missing, whatever pods refer to.
  const percent = existing === 0 ? 100 : (100 * missing) / (missing + existing);
  const limit = policy.pods?.safety.maxOrphanedNodesPercent;
  return limit === undefined || percent > limit ? percent : undefined;
}

/** Since when node names that pods refer to have been missing, and when that was last looked at; in a clock that only grows. */
export interface MissingNodes {
  readonly since: ReadonlyMap<string, number>;
  readonly lookedAtMs: number;
  /** Names of the nodes that exist, and of missing ones that existed when an earlier pass looked. */
  readonly seen: ReadonlySet<string>;
}

/** A look at the nodes: when, and how long ago the one before may be for the time between to count. */
export interface Look {
  readonly monotonicMs: number;
  readonly maxGapMs: number;
}

export const noneMissing: MissingNodes = { since: new Map(), lookedAtMs: -Infinity, seen: new Set() };

/**
 * Folds this pass's sight of missing nodes into the earlier ones. A node that is back loses its entry, so that its quarantine starts
 * anew; after a gap all of them do.
 */
export function observeMissing(
  before: MissingNodes,
  { pods, nodes }: Pick<PodGcFacts, 'pods' | 'nodes'>,
  { monotonicMs, maxGapMs }: Look,
): MissingNodes {
  const since = new Map<string, number>();
  const isGap = monotonicMs - before.lookedAtMs > maxGapMs;
  const see = ({ nodeName }: PodFacts): void => {
    if (nodeName === undefined || nodes?.has(nodeName) === true || since.has(nodeName)) return;
    since.set(nodeName, (isGap ? undefined : before.since.get(nodeName)) ?? monotonicMs);
  };
  if (nodes !== undefined) pods.forEach(see);
  return { since, lookedAtMs: monotonicMs, seen: seenNodes(before.seen, since, nodes) };
}

/** Bounded: a node that is gone is forgotten when no pod refers to it any more. */
function seenNodes(
  before: ReadonlySet<string>,
  missing: ReadonlyMap<string, number>,
  nodes: PodGcFacts['nodes'],
): ReadonlySet<string> {
  if (nodes === undefined) return before;
  const seen = new Set(nodes.keys());
  for (const name of missing.keys()) if (before.has(name)) seen.add(name);
  return seen;
}
