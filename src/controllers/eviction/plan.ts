import { isFinished } from '../../api/pod-phase.ts';
import { exceeds, fullness, type EvictionRequest } from '../../api/local-storage.ts';
import { hasKeepLabel } from '../../api/policy/matching.ts';
import { nodeGovernance, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { LocalStoragePolicy, Policy } from '../../api/policy/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { RequestEvidence } from '../../gc/reasons/evictions.ts';
import { limitOfBytes } from '../../gc/reasons/storage-words.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  Given,
  KnownPod,
  Labelled,
  RequestedPod,
  RequestingNode,
} from './facts.ts';

/** An agent reports every minute while it requests evictions; the kubelet's measurements are up to two minutes old. */
const staleAfterMs = 6 * 60_000;
/** More than synchronised clocks differ by. */
const futureMs = 60_000;

/**
 * Decides about each pod whose eviction agents request, the most excessive first. A pod is judged once for each node that requests it;
 * of equal measurements the freshest counts.
 */
export function planEvictions(facts: EvictionFacts, given: Given): readonly EvictionDecision[] {
  const requested = facts.reports.flatMap((report) =>
    report.requests.map((request) => ({ report, target: targetOf(request, report.name) })),
  );
  const governanceOf = nodeGovernance(given.policies);
  const known = { ...facts, ...given };
  return onePerPod(requested.toSorted(byExcess)).map((one) => {
    const governor = governorOf(one.report, governanceOf(facts.nodes.get(one.report.name)));
    return decide(one.target, governor, known);
  });
}

const targetOf = (request: EvictionRequest, node: string): RequestedPod => ({
  ...{ kind: 'Pod', ...request.pod, node, request },
});

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
  governor: Governor | EvictionKeepReason,
  facts: EvictionFacts & Given,
): EvictionDecision {
  if (typeof governor === 'string') return keep(target, governor, facts);
  const { policy, rule } = governor;
  const reason =
    judgePod(target, facts) ??
    judgeRequest(target.request, rule, facts) ??
    judgeMemory(target.uid, facts, facts);
  if (reason !== undefined) return keep(target, reason, facts);
  const { evictAtPercent, respectPodDisruptionBudgets: respectsBudgets } = rule;
  return {
    ...{ unit: 'localstorage', verdict: 'Evict', reason: target.request.signal, policy },
    ...{ target: { ...target, rule }, eligibleAt: undefined, bytes: undefined },
    evidence: { ...evidenceOf(target), evictAtPercent, respectsBudgets },
  };
}

function keep(target: RequestedPod, reason: EvictionKeepReason, facts: EvictionFacts): EvictionDecision {
  const evidence = evidenceOf(target);
  return {
    ...{ unit: 'localstorage', verdict: 'Keep', reason, policy: undefined, target },
    ...{ eligibleAt: undefined, bytes: undefined },
    evidence: reason === 'KeepMarked' ? { ...evidence, on: labelledBy(target, facts) } : evidence,
  };
}

const evidenceOf = ({ namespace, request }: RequestedPod): RequestEvidence => ({
  namespace,
  excess: {
    ...{ signal: request.signal, subject: request.subject, usedBytes: request.observedBytes },
    limit: limitOfBytes(request.limitBytes),
  },
  measuredAtMs: request.observedAtMs,
});

/** The first object with the keep label: the node, the namespace or the pod. */
function labelledBy({ node, namespace }: RequestedPod, { nodes, namespaces }: EvictionFacts): string {
  const has = (one: Labelled | undefined): boolean => one !== undefined && hasKeepLabel(one);
  if (has(nodes.get(node))) return `node ${node}`;
  return has(namespaces.get(namespace)) ? `namespace ${namespace}` : 'the pod';
}

interface Governor {
  readonly policy: Policy;
  readonly rule: LocalStoragePolicy;
}

/** The policy that governs the node, by its cached labels. If the report names another policy or generation, the pod is kept. */
function governorOf(report: RequestingNode, governance: NodeGovernance): Governor | EvictionKeepReason {
  if (governance.kind === 'keep') {
    const { reason } = governance;
    return reason === 'NodeUnknown' || reason === 'KeepMarked' ? reason : 'PolicyChanged';
  }
  const { policy, nodes: spec } = governance;
  if (policy.mode !== 'Enforce' || spec.localStorageEviction === undefined) return 'PolicyChanged';
  // The limit may come from an older version of the policy.
  if (report.policyUid !== policy.uid || report.policyGeneration !== policy.generation)
    return 'PolicyChanged';
  return { policy, rule: spec.localStorageEviction };
}

/** A report may request only pods of its own node, by UID: a stolen token reaches no others. */
function judgePod(target: RequestedPod, facts: EvictionFacts): EvictionKeepReason | undefined {
  const pod = facts.pods.get(target.uid);
  if (pod === undefined) return 'PodGone';
  if (!isRequested(pod, target) || pod.nodeName !== target.node) return 'PodMoved';
  return judgeLabels(pod, facts) ?? judgeLife(pod, facts);
}

function judgeLabels(pod: KnownPod, { namespaces, memory }: EvictionFacts): EvictionKeepReason | undefined {
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

function judgeLife(pod: KnownPod, { memory }: EvictionFacts): EvictionKeepReason | undefined {
  if (pod.deletionAtMs !== undefined || memory.evicted.has(pod.uid)) return 'Terminating';
  return isFinished(pod) ? 'Finished' : undefined;
}

const isRequested = (pod: KnownPod, { namespace, name }: RequestedPod): boolean =>
  pod.namespace === namespace && pod.name === name;

function judgeRequest(
  { observedAtMs, observedBytes, limitBytes }: EvictionRequest,
  { evictAtPercent }: LocalStoragePolicy,
  { now }: Given,
): EvictionKeepReason | undefined {
  if (!isFresh(observedAtMs, now)) return 'RequestStale';
  return exceeds(observedBytes, limitBytes, evictAtPercent) ? undefined : 'PolicyChanged';
}

/** Whether a measurement of that time, Unix milliseconds, is still current. */
export function isFresh(observedAtMs: number, now: Date): boolean {
  const ageMs = now.getTime() - observedAtMs;
  return ageMs <= staleAfterMs && ageMs >= -futureMs;
}

function judgeMemory(
  uid: string,
  { memory }: EvictionFacts,
  { monotonicMs }: Given,
): EvictionKeepReason | undefined {
  const deferral = memory.deferred.get(uid);
  return deferral !== undefined && monotonicMs < deferral.untilMs ? deferral.reason : undefined;
}
