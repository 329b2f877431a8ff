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
import { hasKeepLabel, isNamed } from '../../api/policy/matching.ts';
import { nodeGovernance, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { NodesPolicy } from '../../api/policy/policy.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  KeptBecause,
  EvictionManner,
  Given,
  KeptPod,
  Labelled,
  RequestedPod,
  RequestingNode,
} from './facts.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { paceOf, replicaOf } from './pace.ts';
import { waitingEvictions } from './node-pace.ts';

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
    const kept = waiting.get(one);
    return kept === undefined ? one : keep(one.target, kept);
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
  governed: Governed | KeptBecause,
  facts: EvictionFacts & Given,
): EvictionDecision {
  if ('reason' in governed) return keep(target, governed);
  const { policy, nodes } = governed;
  const ruled = ruledBy(target.request, nodes);
  if (ruled === undefined) return keep(target, { reason: 'PolicyChanged' });
  const pod = facts.pods.get(target.uid);
  if (pod === undefined) return keep(target, { reason: 'PodGone' });
  const because = judgePod(pod, target, facts) ?? judgeRequest(target, nodes, ruled, facts);
  if (because !== undefined) return keep(target, because);
  const replica = replicaOf(pod, facts.replicas);
  const pace = paceOf(replica, policy, facts);
  if (pace !== undefined) return keep(target, { reason: 'PacingLimit', pace });
  return {
    unit: unitOf(target),
    verdict: 'Evict',
    reason: target.request.signal,
    policy,
    target: { ...target, ...replica, rule: ruled.manner, createdAtMs: pod.createdAtMs },
    eligibleAt: undefined,
    bytes: undefined,
  };
}

const unitOf = ({ request }: RequestedPod): 'localstorage' | 'nodepressure' =>
  isPressureRequest(request) ? 'nodepressure' : 'localstorage';

/** Decision of a node's policy about one request. */
interface Ruled {
  readonly manner: EvictionManner;
  /** The request is still one that the policy makes. */
  readonly isMet: boolean;
}

/** undefined = the policy has no rule that makes such requests. */
function ruledBy(request: RequestedPod['request'], nodes: NodesPolicy): Ruled | undefined {
  if (isPressureRequest(request)) return ruledByPressure(request, nodes);
  const { localStorageEviction: rule } = nodes;
  if (rule === undefined) return undefined;
  return { manner: rule, isMet: exceeds(request.observedBytes, request.limitBytes, rule.evictAtPercent) };
}

/** The kubelet evicts with a second of grace, whatever the budgets; dustpan acts before it, so that the pod can end in order. */
const gentle: EvictionManner = { respectPodDisruptionBudgets: true, gracePeriodSeconds: undefined };

function ruledByPressure(
  { signal, shortage: { available, threshold }, observedBytes }: PressureRequest,
  { nodePressure }: NodesPolicy,
): Ruled | undefined {
  if (nodePressure?.evictPods !== true || !nodePressure.thresholds.has(signal)) return undefined;
  // A pod that uses nothing frees nothing.
  return { manner: gentle, isMet: available < threshold && observedBytes > 0 };
}

const keep = (target: RequestedPod, kept: KeptBecause): KeptPod => ({
  unit: unitOf(target),
  verdict: 'Keep',
  policy: undefined,
  target,
  eligibleAt: undefined,
  bytes: undefined,
  ...kept,
});

type Governed = Extract<NodeGovernance, { kind: 'governed' }>;

/** The policy that governs the node, by its cached labels. If the report names another policy or generation, the pod is kept. */
function governorOf(report: RequestingNode, governance: NodeGovernance): Governed | KeptBecause {
  if (governance.kind === 'keep') {
    const { reason } = governance;
    if (reason === 'KeepMarked') return { reason, on: `node ${report.name}` };
    return { reason: reason === 'NodeUnknown' ? reason : 'PolicyChanged' };
  }
  const { mode, uid, generation } = governance.policy;
  // The limit may come from an older version of the policy.
  const isSame = report.policyUid === uid && report.policyGeneration === generation;
  return mode === 'Enforce' && isSame ? governance : { reason: 'PolicyChanged' };
}

/** A report may request only pods of its own node, by UID: a stolen token reaches no others. */
function judgePod(
  pod: PodFacts,
  { namespace, name, node }: RequestedPod,
  { namespaces, memory }: EvictionFacts,
): KeptBecause | undefined {
  if (pod.namespace !== namespace || pod.name !== name || pod.nodeName !== node)
    return { reason: 'PodMoved' };
  const because = judgeNamespace(namespace, namespaces);
  if (because !== undefined) return because;
  if (hasKeepLabel(pod)) return { reason: 'KeepMarked', on: 'the pod' };
  if (memory.critical.has(pod.uid)) return { reason: 'CriticalPod' };
  if (pod.deletionAtMs !== undefined || memory.evicted.has(pod.uid)) return { reason: 'Terminating' };
  return isFinished(pod) ? { reason: 'Finished' } : undefined;
}

/** Why the namespace forbids every eviction; undefined = it does not. Agents cannot read namespaces. */
export function judgeNamespace(
  name: string,
  namespaces: ReadonlyMap<string, Labelled> | undefined,
): KeptBecause | undefined {
  const namespace = namespaces?.get(name);
  if (namespace === undefined) return { reason: 'NamespaceUnknown' };
  return hasKeepLabel(namespace) ? { reason: 'KeepMarked', on: `namespace ${name}` } : undefined;
}

function judgeRequest(
  { uid, namespace, request }: RequestedPod,
  { excludeNamespaces }: NodesPolicy,
  { isMet }: Ruled,
  { memory, now, monotonicMs }: EvictionFacts & Given,
): KeptBecause | undefined {
  if (isNamed(excludeNamespaces, namespace)) return { reason: 'NamespaceExcluded' };
  if (!isFresh(request.observedAtMs, now)) return { reason: 'RequestStale' };
  if (!isMet) return { reason: 'PolicyChanged' };
  const deferral = memory.deferred.get(uid);
  return deferral !== undefined && monotonicMs < deferral.untilMs ? { reason: deferral.reason } : undefined;
}

/** Whether a measurement of that time, Unix milliseconds, is still current. */
export function isFresh(observedAtMs: number, now: Date): boolean {
  const ageMs = now.getTime() - observedAtMs;
  return ageMs <= staleAfterMs && ageMs >= -futureMs;
}
