import { isFinished } from '../../api/pod-phase.ts';
import {
  exceeds,
  fullness,
  isLimitRequest,
  isPressureRequest,
  type EvictionRequest,
  type LimitRequest,
  type PressureRequest,
} from '../../api/local-storage.ts';
import { hasKeepLabel } from '../../api/policy/matching.ts';
import { nodeGovernance, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { NodesPolicy, Policy } from '../../api/policy/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { EvictionCause, EvictionPace, RequestEvidence } from '../../gc/reasons/evictions.ts';
import { limitOfBytes } from '../../gc/reasons/eviction-words.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  EvictionManner,
  Given,
  KnownPod,
  Labelled,
  RequestedPod,
  RequestingNode,
} from './facts.ts';
import { ownerOf, paceOf } from './pace.ts';
import { waitingEvictions } from './pacing.ts';

/** Reasons to keep a pod that is not due. */
type Refusal = Exclude<EvictionKeepReason, 'PacingLimit'>;

/** An agent reports every minute while it requests evictions; the kubelet's measurements are up to two minutes old. */
const staleAfterMs = 6 * 60_000;
/** More than synchronised clocks differ by. */
const futureMs = 60_000;

/**
 * Decides about each pod whose eviction agents request: pods over a limit first, the most excessive of them first; then those of nodes under
 * pressure, in the order of the report, of which one on each node is evicted at a time. A pod is judged once for each node that requests it; of
 * equal measurements the freshest counts.
 */
export function planEvictions(facts: EvictionFacts, given: Given): readonly EvictionDecision[] {
  const limits = requestedBy(facts.reports, isLimitRequest).toSorted(byExcess);
  const pressures = requestedBy(facts.reports.toSorted(byName), isPressureRequest);
  const governanceOf = nodeGovernance(given.policies);
  const known = { ...facts, ...given };
  const decisions = onePerPod([...limits, ...pressures]).map(({ report, target }) => {
    const governance = governanceOf(facts.nodes.get(report.name));
    return decide(target, governorOf(report, governance), known);
  });
  const waiting = waitingEvictions(decisions, facts, given);
  return decisions.map((one) => {
    if (one.verdict === 'Keep') return one;
    const reason = waiting.get(one);
    if (reason === undefined) return one;
    return reason === 'PacingLimit' ? paced(one.target, 'node') : keep(one.target, reason, facts);
  });
}

const byName = (a: RequestingNode, b: RequestingNode): number => (a.name < b.name ? -1 : 1);

const requestedBy = (
  reports: readonly RequestingNode[],
  isWanted: (request: EvictionRequest) => request is LimitRequest | PressureRequest,
): readonly Requested[] =>
  reports.flatMap((report) =>
    report.requests.filter(isWanted).map((request) => ({
      report,
      target: { kind: 'Pod', ...request.pod, node: report.name, request },
    })),
  );

interface Requested {
  readonly report: RequestingNode;
  readonly target: RequestedPod;
}

/** One request per node and pod. If two nodes request the same pod, both are judged: only one of the nodes runs it. */
function onePerPod(requested: readonly Requested[]): readonly Requested[] {
  const byPod = new Map<string, Requested>();
  for (const one of requested) {
    const key = `${one.target.node} ${one.target.uid}`;
    if (!byPod.has(key)) byPod.set(key, one);
  }
  return [...byPod.values()];
}

function byExcess({ target: a }: Requested, { target: b }: Requested): number {
  const [left, right] = [fullnessOf(a), fullnessOf(b)];
  if (left !== right) return left > right ? -1 : 1;
  if (a.uid !== b.uid) return a.uid < b.uid ? -1 : 1;
  return b.request.observedAtMs - a.request.observedAtMs;
}

const fullnessOf = ({ request }: RequestedPod): number => fullness(request.observedBytes, request.limitBytes);

function decide(
  target: RequestedPod,
  governor: Governor | Refusal,
  facts: EvictionFacts & Given,
): EvictionDecision {
  if (typeof governor === 'string') return keep(target, governor, facts);
  const ruled = ruledBy(target.request, governor.nodes);
  if (ruled === undefined) return keep(target, 'PolicyChanged', facts);
  const pod = facts.pods.get(target.uid);
  if (pod === undefined) return keep(target, 'PodGone', facts);
  const reason =
    judgePod(pod, target, facts) ??
    judgeExclusion(target, governor.nodes) ??
    judgeRequest(target.request, ruled, facts) ??
    judgeMemory(target.uid, facts, facts);
  if (reason !== undefined) return keep(target, reason, facts);
  const owner = ownerOf(pod);
  const pace = paceOf(owner, governor.policy, facts);
  if (pace !== undefined) return paced(target, pace);
  const { manner, evictAtPercent, thresholdText } = ruled;
  const respectsBudgets = manner.respectPodDisruptionBudgets;
  return {
    ...{ unit: unitOf(target), verdict: 'Evict', reason: target.request.signal, policy: governor.policy },
    target: { ...target, rule: manner, owner, createdAtMs: pod.createdAtMs },
    ...{ eligibleAt: undefined, bytes: undefined },
    evidence: { ...evidenceOf(target, thresholdText), evictAtPercent, respectsBudgets },
  };
}

const unitOf = ({ request }: RequestedPod): 'localstorage' | 'nodepressure' =>
  isPressureRequest(request) ? 'nodepressure' : 'localstorage';

/** Decision of a node's policy about one request. */
interface Ruled {
  readonly manner: EvictionManner;
  /** The request is still one that the policy makes. */
  readonly isMet: boolean;
  /** undefined = the request is for node pressure. */
  readonly evictAtPercent: number | undefined;
  /** '' = the request is for a limit. */
  readonly thresholdText: string;
}

/** undefined = the policy has no rule that makes such requests. */
function ruledBy(request: RequestedPod['request'], nodes: NodesPolicy): Ruled | undefined {
  if (isPressureRequest(request)) return ruledByPressure(request, nodes);
  const { localStorageEviction: rule } = nodes;
  if (rule === undefined) return undefined;
  const { evictAtPercent } = rule;
  const isMet = exceeds(request.observedBytes, request.limitBytes, evictAtPercent);
  return { manner: rule, isMet, evictAtPercent, thresholdText: '' };
}

/** The kubelet evicts with a second of grace, whatever the budgets; dustpan acts before it, so that the pod can end in order. */
const gentle: EvictionManner = { respectPodDisruptionBudgets: true, gracePeriodSeconds: undefined };

function ruledByPressure(
  { signal, shortage: { available, threshold }, observedBytes }: PressureRequest,
  { nodePressure }: NodesPolicy,
): Ruled | undefined {
  const own = nodePressure?.thresholds.get(signal);
  if (nodePressure?.evictPods !== true || own === undefined) return undefined;
  // A pod that uses nothing frees nothing.
  const isMet = available < threshold && observedBytes > 0;
  return { manner: gentle, isMet, evictAtPercent: undefined, thresholdText: own.text };
}

const paced = (target: RequestedPod, pace: EvictionPace): EvictionDecision => ({
  ...{ unit: unitOf(target), verdict: 'Keep', reason: 'PacingLimit', policy: undefined, target },
  ...{ eligibleAt: undefined, bytes: undefined },
  evidence: { ...evidenceOf(target), pace },
});

function keep(target: RequestedPod, reason: Refusal, facts: EvictionFacts): EvictionDecision {
  const evidence = evidenceOf(target);
  return {
    ...{ unit: unitOf(target), verdict: 'Keep', reason, policy: undefined, target },
    ...{ eligibleAt: undefined, bytes: undefined },
    evidence: reason === 'KeepMarked' ? { ...evidence, on: labelledBy(target, facts) } : evidence,
  };
}

const evidenceOf = ({ namespace, request }: RequestedPod, thresholdText = ''): RequestEvidence => ({
  namespace,
  cause: causeOf(request, thresholdText),
  measuredAtMs: request.observedAtMs,
});

function causeOf(request: RequestedPod['request'], thresholdText: string): EvictionCause {
  const { observedBytes, limitBytes } = request;
  if (!isPressureRequest(request)) {
    const { signal, subject } = request;
    return { signal, subject, usedBytes: observedBytes, limit: limitOfBytes(limitBytes) };
  }
  const { signal, shortage } = request;
  const { available, threshold } = shortage;
  return {
    shortage: { signal, available, threshold: { value: threshold, text: thresholdText } },
    ...{ used: observedBytes, request: limitBytes, priority: undefined },
  };
}

/** The first object with the keep label: the node, the namespace or the pod. */
function labelledBy({ node, namespace }: RequestedPod, { nodes, namespaces }: EvictionFacts): string {
  const has = (one: Labelled | undefined): boolean => one !== undefined && hasKeepLabel(one);
  if (has(nodes.get(node))) return `node ${node}`;
  return has(namespaces.get(namespace)) ? `namespace ${namespace}` : 'the pod';
}

interface Governor {
  readonly policy: Policy;
  readonly nodes: NodesPolicy;
}

/** The policy that governs the node, by its cached labels. If the report names another policy or generation, the pod is kept. */
function governorOf(report: RequestingNode, governance: NodeGovernance): Governor | Refusal {
  if (governance.kind === 'keep') {
    const { reason } = governance;
    return reason === 'NodeUnknown' || reason === 'KeepMarked' ? reason : 'PolicyChanged';
  }
  const { policy, nodes } = governance;
  if (policy.mode !== 'Enforce') return 'PolicyChanged';
  // The limit may come from an older version of the policy.
  if (report.policyUid !== policy.uid || report.policyGeneration !== policy.generation)
    return 'PolicyChanged';
  return { policy, nodes };
}

/** A report may request only pods of its own node, by UID: a stolen token reaches no others. */
function judgePod(pod: KnownPod, target: RequestedPod, facts: EvictionFacts): Refusal | undefined {
  if (!isRequested(pod, target) || pod.nodeName !== target.node) return 'PodMoved';
  return judgeLabels(pod, facts) ?? judgeLife(pod, facts);
}

function judgeLabels(pod: KnownPod, { namespaces, memory }: EvictionFacts): Refusal | undefined {
  const reason = judgeNamespace(namespaces.get(pod.namespace));
  if (reason !== undefined) return reason;
  if (hasKeepLabel(pod)) return 'KeepMarked';
  return memory.critical.has(pod.uid) ? 'CriticalPod' : undefined;
}

/** Why the namespace (undefined = not known) forbids every eviction; undefined = it does not. Agents cannot read namespaces. */
export function judgeNamespace(
  namespace: Parameters<typeof hasKeepLabel>[0] | undefined,
): 'NamespaceUnknown' | 'KeepMarked' | undefined {
  if (namespace === undefined) return 'NamespaceUnknown';
  return hasKeepLabel(namespace) ? 'KeepMarked' : undefined;
}

function judgeLife(pod: KnownPod, { memory }: EvictionFacts): Refusal | undefined {
  if (pod.deletionAtMs !== undefined || memory.evicted.has(pod.uid)) return 'Terminating';
  return isFinished(pod) ? 'Finished' : undefined;
}

const isRequested = (pod: KnownPod, { namespace, name }: RequestedPod): boolean =>
  pod.namespace === namespace && pod.name === name;

const judgeExclusion = (
  { namespace }: RequestedPod,
  { excludeNamespaces }: NodesPolicy,
): Refusal | undefined => (excludeNamespaces.includes(namespace) ? 'NamespaceExcluded' : undefined);

function judgeRequest(
  { observedAtMs }: EvictionRequest,
  { isMet }: Ruled,
  { now }: Given,
): Refusal | undefined {
  if (!isFresh(observedAtMs, now)) return 'RequestStale';
  return isMet ? undefined : 'PolicyChanged';
}

/** Whether a measurement of that time, Unix milliseconds, is still current. */
export function isFresh(observedAtMs: number, now: Date): boolean {
  const ageMs = now.getTime() - observedAtMs;
  return ageMs <= staleAfterMs && ageMs >= -futureMs;
}

function judgeMemory(uid: string, { memory }: EvictionFacts, { monotonicMs }: Given): Refusal | undefined {
  const deferral = memory.deferred.get(uid);
  return deferral !== undefined && monotonicMs < deferral.untilMs ? deferral.reason : undefined;
}
