import { isKeepMarked } from '../../api/policy/matching.ts';
import type { PolicyView, RankedPolicies } from '../../api/policy/policy-view.ts';
import { clocksAgree, Confirmed, goOn } from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { Live } from '../../gc/live.ts';
import type { ClusterActions } from '../../kube/actions/cluster.ts';
import type { NamespaceFacts, NodeFacts } from '../../kube/cache/objects.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import type { Confirmation } from '../../api/policy/policy-view.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { PodDeletion } from './facts.ts';
import { dependsOnNode, recheckNode, type LiveNode } from './recheck.ts';

export interface PodCheckDeps {
  readonly policies: PolicyView;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  readonly cluster: Pick<ClusterActions, 'getNode'>;
  /** True while this process surely holds the lease. */
  readonly holdsLease: () => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Logger, 'warn'>;
}

interface PodChecks {
  readonly checks: readonly Check<PodDeletion>[];
  /** Whether the plan is out of date: the next pass should not wait. */
  readonly isStale: () => boolean;
  /** By how much our clock is ahead of the API server's, when the policies were read. */
  readonly clockSkewMs: (deletion: PodDeletion) => number;
}

/** A pass over a large backlog is cut into plans of this age at most: labels, thresholds and nodes change meanwhile. */
export const maxPlanAgeMs = 60_000;

/** What must be true right before a pod is marked or deleted. `ranked`: the policies that the plan was made from. */
export function podChecks(deps: PodCheckDeps, ranked: RankedPolicies): PodChecks {
  const { policies, namespaces, holdsLease, clock } = deps;
  const startedAtMs = clock.monotonicMs();
  const isStale = (): boolean =>
    policies.ranked !== ranked ||
    !policies.synced ||
    !namespaces.synced ||
    clock.monotonicMs() - startedAtMs >= maxPlanAgeMs;
  const confirmed = new Confirmed<PodDeletion, Confirmation>({
    clock,
    confirm: (signal) => policies.confirm(ranked, signal),
    isSame: ({ same }) => same,
    unreadable: (cause) => ({
      ...{ kind: 'stop', unknown: true, why: `policies cannot be read: ${errorLine(cause)}` },
      error: new Error('confirming policies', { cause }),
    }),
  });
  const isMarked = keepLabels(deps);
  const checks: readonly Check<PodDeletion>[] = [
    goOn('leaseHeld', () => (holdsLease() ? undefined : 'the lease is lost')),
    goOn('planCurrent', () => (isStale() ? 'the plan is out of date' : undefined)),
    // Before the policies: a node that takes long to read keeps its own pods, and does not make the policies too old for all others.
    nodeStillGone(deps),
    confirmed.check,
    {
      name: 'notKept',
      objection: (deletion) => (isMarked(deletion) ? { kind: 'keep', reason: 'KeepMarked' } : undefined),
    },
    clocksAgree(confirmed, ({ reason }) => reason === 'Expired'),
  ];
  return { checks, isStale, clockSkewMs: (deletion) => confirmed.clockSkewMs(deletion) };
}

/** The node of an orphan, or of a pod on a node out of service, read live: one GET for all its pods. */
function nodeStillGone({ cluster, clock, log }: PodCheckDeps): Check<PodDeletion> {
  const live = new Live<PodDeletion, LiveNode>({
    clock,
    key: ({ reason, target }) => (dependsOnNode(reason) ? target.node : undefined),
    ask: async ({ target: { node = '' } }, signal) => {
      try {
        return { node: await cluster.getNode(node, signal) };
      } catch (err) {
        log.warn({ node, err }, 'reading node failed');
        return 'unreadable';
      }
    },
  });
  return {
    name: 'nodeStillGone',
    live,
    objection: (deletion) => {
      const node = live.answer(deletion);
      const reason = node && recheckNode(deletion.reason, node);
      return reason && { kind: 'keep', reason };
    },
    whenSlow: { kind: 'keep', reason: 'NodeUnknown' },
  };
}

/** Whether the keep label is on the namespace or the node of a pod by now, as the caches know them. */
function keepLabels({ namespaces, nodes }: PodCheckDeps): (deletion: PodDeletion) => boolean {
  const namespaceUids = uidsByName(namespaces);
  const nodeUids = uidsByName(nodes);
  return ({ target: { namespace, node = '' } }) =>
    isKeepMarked(namespaces.items.get(namespaceUids.get(namespace) ?? '')) ||
    isKeepMarked(nodes.items.get(nodeUids.get(node) ?? ''));
}

const uidsByName = ({ items }: Store<NamespaceFacts | NodeFacts>): ReadonlyMap<string, string> =>
  new Map([...items.values()].map(({ name, uid }) => [name, uid]));
