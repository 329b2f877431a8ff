import { isFinished } from '../../api/pod-phase.ts';
import { isCritical } from '../../api/critical-pod.ts';
import { isVoluntary, refusedBecause } from '../../api/do-not-disrupt.ts';
import { isPressureRequest } from '../../api/local-storage.ts';
import { hasKeepLabel } from '../../api/policy/matching.ts';
import type { RankedPolicies } from '../../api/policy/policy-set.ts';
import type { NodesPolicy } from '../../api/policy/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import { namespaceUnchanged, stopIf } from '../../gc/checks.ts';
import type { Check, Objection } from '../../gc/execute.ts';
import { LiveQuery } from '../../gc/live.ts';
import type { LivePod, LiveReads } from '../../kube/actions/live-reads.ts';
import { confirmedPolicies, type RemoverContext } from '../context.ts';
import type { EvictionDecision, PodEviction, RequestedPod } from './facts.ts';
import { isFresh } from './plan.ts';

export interface EvictionCheckDeps extends RemoverContext {
  readonly live: Pick<LiveReads, 'policies' | 'namespace' | 'pod' | 'mayEvict'>;
  /** Why the pass must end, by the state of this process: its lease, the policies, the caches. */
  readonly stopReason: () => string | undefined;
  /** The policies of the plan. */
  readonly ranked: RankedPolicies;
  /** The decision by the caches now; undefined = the node does not request the eviction any more. */
  readonly decideAgain: (eviction: PodEviction) => EvictionDecision | undefined;
}

/** The eviction that the checks allow. */
export interface Agreed {
  /** The request with the measurement that the node reports now. */
  readonly eviction: PodEviction;
  /** The last live read. */
  readonly pod: LivePod;
}

export interface EvictionChecks {
  readonly checks: readonly Check<PodEviction>[];
  readonly agreed: (eviction: PodEviction) => Agreed | undefined;
}

/** The conditions that must hold right before a pod is evicted. */
export function evictionChecks(deps: EvictionCheckDeps): EvictionChecks {
  const { clock, log, live, namespaces, ranked, stopReason, decideAgain } = deps;
  const confirmed = confirmedPolicies<PodEviction>(deps, live, ranked);
  const pods = livePods(deps);
  const podUnchanged: Check<PodEviction> = {
    live: pods,
    objection: (eviction) => {
      const pod = pods.response(eviction);
      return pod === undefined ? { kind: 'gone' } : keepFor(recheckPod(eviction, pod));
    },
  };
  const stillDecided: Check<PodEviction> = {
    objection: (eviction) => keepFor(withdrawn(eviction, decideAgain(eviction))),
  };
  // The plan has judged the measurement by our clock; either clock may be wrong.
  const freshByServerClock: Check<PodEviction> = {
    objection: (eviction) => {
      const { request } = (decideAgain(eviction) ?? eviction).target;
      const serverNow = new Date(clock.now().getTime() - confirmed.clockSkewMs(eviction));
      return keepFor(isFresh(request.observedAtMs, serverNow) ? undefined : 'RequestStale');
    },
  };
  const checks = [
    stopIf<PodEviction>(stopReason),
    confirmed.check,
    namespaceUnchanged<PodEviction>({
      clock,
      log,
      read: (name, signal) => live.namespace(name, signal),
      known: (name) => [...namespaces.items.values()].find((one) => one.name === name),
    }),
    podUnchanged,
    stillDecided,
    freshByServerClock,
    mayEvict(deps),
  ];
  return { checks, agreed };

  function agreed(planned: PodEviction): Agreed | undefined {
    const pod = pods.response(planned);
    const eviction = decideAgain(planned);
    return pod === undefined || eviction?.verdict !== 'Evict' ? undefined : { eviction, pod };
  }
}

const livePods = ({ clock, live }: EvictionCheckDeps): LiveQuery<PodEviction, LivePod | undefined> =>
  new LiveQuery({
    clock,
    key: ({ target }) => target.uid,
    query: ({ target }, signal) => live.pod(target, signal),
  });

/** A DELETE needs no right to evict, but it must not replace an eviction that is not allowed (ADR 0033). */
function mayEvict({ clock, live }: EvictionCheckDeps): Check<PodEviction> {
  const right = new LiveQuery<PodEviction, boolean>({
    clock,
    key: ({ target }) => (target.rule.respectPodDisruptionBudgets ? undefined : target.namespace),
    query: ({ target }, signal) => live.mayEvict(target.namespace, signal),
  });
  return {
    live: right,
    objection: (eviction) =>
      keepFor(
        eviction.target.rule.respectPodDisruptionBudgets || right.response(eviction) === true
          ? undefined
          : 'EvictionForbidden',
      ),
  };
}

const keepFor = (reason: EvictionKeepReason | undefined): Objection | undefined =>
  reason && { kind: 'keep', reason };

/** Why the live pod forbids the eviction; undefined = it does not. */
function recheckPod({ target, policy }: PodEviction, pod: LivePod): EvictionKeepReason | undefined {
  const { uid, node, request } = target;
  if (pod.uid !== uid || pod.nodeName !== node) return 'PodMoved';
  if (pod.isTerminating) return 'Terminating';
  if (isFinished(pod)) return 'Finished';
  if (isCritical(pod)) return 'CriticalPod';
  if (hasKeepLabel(pod)) return 'KeepMarked';
  const { nodes } = policy;
  const refuses = nodes !== undefined && refusedBecause(pod, nodes) !== undefined;
  return refuses && isOurChoice(request, nodes) ? 'DoNotDisrupt' : undefined;
}

/** Whether the kubelet would not evict the pod. The request does not show whether the limit is the policy's. */
function isOurChoice(
  request: RequestedPod['request'],
  { localStorageEviction: rule }: Pick<NodesPolicy, 'localStorageEviction'>,
): boolean {
  if (isPressureRequest(request) || rule === undefined) return true;
  const { signal, observedBytes: usedBytes, limitBytes } = request;
  return isVoluntary({ signal, usedBytes, limitBytes, isDefault: undefined }, rule);
}

/** Why the caches forbid the eviction now; undefined = they do not. */
function withdrawn(
  planned: PodEviction,
  again: EvictionDecision | undefined,
): EvictionKeepReason | undefined {
  if (again === undefined) return 'RequestStale';
  if (again.verdict === 'Keep') return again.reason;
  // The right to evict is checked by the rule of the plan.
  const [before, now] = [planned, again].map(({ target }) => target.rule.respectPodDisruptionBudgets);
  return before === now ? undefined : 'PolicyChanged';
}
