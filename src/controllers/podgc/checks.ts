import { hasKeepLabel } from '../../api/policy/matching.ts';
import type { RankedPolicies } from '../../api/policy/policy-set.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import { clocksAgree, fewWarnings, namespaceUnchanged, stopIf } from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { LiveQuery } from '../../gc/live.ts';
import type { LiveReads } from '../../kube/actions/live-reads.ts';
import type { NamespaceFacts, NodeFacts } from '../../kube/cache/objects.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import { hasJumped, type Moment } from '../../runtime/scheduling/jump.ts';
import { confirmedPolicies, type RemoverContext } from '../context.ts';
import type { PodDeletion } from './facts.ts';
import { isOutOfService } from './nodes.ts';

export interface PodCheckContext extends RemoverContext {
  readonly live: Pick<LiveReads, 'policies' | 'node' | 'namespace'>;
}

/** What a plan was made of. */
export interface Planned {
  readonly ranked: RankedPolicies;
  /** When the facts of the plan were read, by both clocks. */
  readonly observedAt: Moment;
}

interface PodChecks {
  readonly leaseHeld: Check<PodDeletion>;
  /** After `leaseHeld`, in this order. */
  readonly checks: readonly Check<PodDeletion>[];
  /** Whether the plan is out of date. */
  readonly isStale: () => boolean;
  /** How far our clock was ahead of the API server's when the policies were read. */
  readonly clockSkewMs: (deletion: PodDeletion) => number;
}

/** A plan that is older is not carried out further: labels, thresholds and nodes change meanwhile. */
export const maxPlanAgeMs = 60_000;

/**
 * The conditions that must hold right before a pod is marked or deleted. planCurrent: the caches of policies and namespaces are current, the policies unchanged, the plan younger than a minute, and the clock by which it has judged ages has not jumped.
 * nodeStillGone, confirmed and namespaceUnchanged: read live. notKept: no keep label in the caches. clocksAgree: only for `Expired`.
 */
export function podChecks(context: PodCheckContext, { ranked, observedAt }: Planned): PodChecks {
  const { policies, policySet, namespaces, live, holdsLease, clock, log } = context;
  const planned = new Map([...namespaces.items.values()].map((one) => [one.name, one]));
  const staleBecause = (): string | undefined => {
    if (hasJumped(observedAt, clock)) return 'the clock has jumped';
    const isCurrent =
      policySet.ranked === ranked &&
      policies.synced &&
      namespaces.synced &&
      clock.monotonicMs() - observedAt.monotonicMs < maxPlanAgeMs;
    return isCurrent ? undefined : 'the plan is out of date';
  };
  const confirmed = confirmedPolicies<PodDeletion>(context, live, ranked);
  const isOptedOut = keepLabels(context);
  const leaseHeld = stopIf<PodDeletion>(() => (holdsLease() ? undefined : 'the lease is lost'));
  const planCurrent = stopIf<PodDeletion>(staleBecause);
  const notKept: Check<PodDeletion> = {
    objection: (deletion) => (isOptedOut(deletion) ? { kind: 'keep', reason: 'KeepMarked' } : undefined),
  };
  const checks: readonly Check<PodDeletion>[] = [
    planCurrent,
    // Before the policies: a slow read of a node keeps the pods of that node, and does not make the policies stale for all others.
    nodeStillGone(context),
    confirmed.check,
    namespaceUnchanged({
      clock,
      log,
      read: (name, signal) => live.namespace(name, signal),
      known: (name) => planned.get(name),
    }),
    notKept,
    clocksAgree(confirmed, ({ reason }) => reason === 'Expired'),
  ];
  return {
    leaseHeld,
    checks,
    isStale: () => staleBecause() !== undefined,
    clockSkewMs: (deletion) => confirmed.clockSkewMs(deletion),
  };
}

/** Re-checks the node of an orphan, or of a pod on a node out of service: one GET for all its pods. */
function nodeStillGone({ live: reads, clock, log }: PodCheckContext): Check<PodDeletion> {
  const warn = fewWarnings(log);
  const live = new LiveQuery<PodDeletion, LiveNode>({
    clock,
    key: ({ reason, target }) => (dependsOnNode(reason) ? target.node : undefined),
    query: async ({ target: { node = '' } }, signal) => {
      try {
        return { node: await reads.node(node, signal) };
      } catch (err) {
        warn({ node, err }, 'reading node failed');
        return 'unreadable';
      }
    },
  });
  return {
    live,
    objection: (deletion) => {
      const node = live.response(deletion);
      const reason = node && recheckNode(deletion.reason, node);
      return reason && { kind: 'keep', reason };
    },
    whenSlow: { kind: 'keep', reason: 'NodeUnknown' },
  };
}

/** The result of a live read: the node, its absence, or an error. */
type LiveNode = { readonly node: NodeFacts | undefined } | 'unreadable';

/** Whether a deletion depends on a node, which is then read live right before. */
const dependsOnNode = (reason: PodDeleteReason): boolean =>
  reason === 'Orphaned' || reason === 'OutOfService';

/** Why the live node forbids the deletion; undefined = it does not. */
function recheckNode(reason: PodDeleteReason, live: LiveNode): PodKeepReason | undefined {
  if (!dependsOnNode(reason)) return undefined;
  if (live === 'unreadable') return 'NodeUnknown';
  if (reason === 'Orphaned') return live.node === undefined ? undefined : 'NodeExists';
  if (live.node === undefined) return 'NodeUnknown';
  if (hasKeepLabel(live.node)) return 'KeepMarked';
  return isOutOfService(live.node) ? undefined : 'NodeRecovered';
}

/** Whether the namespace or the node of a pod has the keep label now, by the caches. */
function keepLabels({ namespaces, nodes }: PodCheckContext): (deletion: PodDeletion) => boolean {
  const namespaceUids = uidsByName(namespaces);
  const nodeUids = uidsByName(nodes);
  return ({ target: { namespace, node = '' } }) =>
    hasKeepLabel(namespaces.items.get(namespaceUids.get(namespace) ?? '')) ||
    hasKeepLabel(nodes.items.get(nodeUids.get(node) ?? ''));
}

const uidsByName = ({ items }: Store<NamespaceFacts | NodeFacts>): ReadonlyMap<string, string> =>
  new Map([...items.values()].map(({ name, uid }) => [name, uid]));
