import { exceeds, fullness, type EvictionRequest } from '../../api/local-storage.ts';
import { isKeepMarked } from '../../api/matching.ts';
import { nodeGovernance, type NodeGovernance } from '../../api/node-governance.ts';
import type { LocalStoragePolicy, Policy } from '../../api/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { AskedEviction, AskedPod, AskingNode, EvictionDecision, EvictionFacts, Given } from './facts.ts';

/** An agent reports each minute while it asks, and the kubelet's figures are up to two minutes old. */
const staleAfterMs = 6 * 60_000;
/** More than synchronised clocks differ by. */
const futureMs = 60_000;

/** Decides of each pod that the agents ask for whether it is evicted, the most excessive first; a pod is asked for once, by its freshest figures of those that are equal. */
export function planEvictions(facts: EvictionFacts, given: Given): readonly EvictionDecision[] {
  const asked = facts.reports.flatMap((report) => report.requests.map((request) => ({ report, request })));
  const governanceOf = nodeGovernance(given.policies);
  const known = { ...facts, ...given };
  return onePerPod(asked.toSorted(byExcess)).map((one) => {
    const governor = governorOf(one.report, governanceOf(facts.nodes.get(one.report.name)));
    return decide(one, governor, known);
  });
}

interface Asked {
  readonly report: AskingNode;
  readonly request: EvictionRequest;
}

/** Of two nodes that ask for one pod, both are judged: only one of them has it. */
function onePerPod(asked: readonly Asked[]): readonly Asked[] {
  const byPod = new Map<string, Asked>();
  for (const one of asked) {
    const key = `${one.report.name} ${one.request.pod.uid}`;
    if (!byPod.has(key)) byPod.set(key, one);
  }
  return [...byPod.values()];
}

function byExcess(a: Asked, b: Asked): number {
  const [left, right] = [fullnessOf(a), fullnessOf(b)];
  if (left !== right) return left > right ? -1 : 1;
  if (a.request.pod.uid !== b.request.pod.uid) return a.request.pod.uid < b.request.pod.uid ? -1 : 1;
  return b.request.observedAtMs - a.request.observedAtMs;
}

const fullnessOf = ({ request }: Asked): number => fullness(request.observedBytes, request.limitBytes);

function decide(
  { report, request }: Asked,
  governor: Governor | EvictionKeepReason,
  facts: EvictionFacts & Given,
): EvictionDecision {
  const asked: AskedEviction = { node: report.name, request };
  const keep = (reason: EvictionKeepReason): EvictionDecision => ({ verdict: 'Keep', ...asked, reason });
  if (typeof governor === 'string') return keep(governor);
  const reason =
    judgePod(asked, facts) ??
    judgeRequest(request, governor.rule, facts) ??
    judgeMemory(request.pod.uid, facts, facts);
  return reason === undefined ? { verdict: 'Evict', ...asked, ...governor } : keep(reason);
}

interface Governor {
  readonly policy: Policy;
  readonly rule: LocalStoragePolicy;
}

/** What governs the node that asks, by its labels as we know them. The policy that the report names may only speak against an eviction. */
function governorOf(report: AskingNode, governance: NodeGovernance): Governor | EvictionKeepReason {
  if (governance.kind === 'keep') {
    const { reason } = governance;
    return reason === 'NodeUnknown' || reason === 'KeepMarked' ? reason : 'PolicyChanged';
  }
  const { policy, nodes: spec } = governance;
  if (policy.mode !== 'Enforce' || spec.localStorageEviction === undefined) return 'PolicyChanged';
  // The limit may be one of the policy's own, as it was when the agent judged by it.
  if (report.policyUid !== policy.uid || report.policyGeneration !== policy.generation)
    return 'PolicyChanged';
  return { policy, rule: spec.localStorageEviction };
}

/** A report speaks for the pods of its own node alone, by their UID: a stolen token reaches no others. */
function judgePod({ node, request }: AskedEviction, facts: EvictionFacts): EvictionKeepReason | undefined {
  const pod = facts.pods.get(request.pod.uid);
  if (pod === undefined) return 'PodGone';
  if (!isAsked(pod, request) || pod.nodeName !== node) return 'PodMoved';
  return judgeMarks(pod, facts) ?? judgeLife(pod, facts);
}

function judgeMarks(pod: AskedPod, { namespaces, memory }: EvictionFacts): EvictionKeepReason | undefined {
  const reason = judgeNamespace(namespaces.get(pod.namespace));
  if (reason !== undefined) return reason;
  if (isKeepMarked(pod)) return 'KeepMarked';
  return memory.critical.has(pod.uid) ? 'CriticalPod' : undefined;
}

/** Why the namespace, undefined = not known, forbids every eviction; undefined = it does not. No agent sees it. */
export function judgeNamespace(
  namespace: Parameters<typeof isKeepMarked>[0] | undefined,
): 'NamespaceUnknown' | 'KeepMarked' | undefined {
  if (namespace === undefined) return 'NamespaceUnknown';
  return isKeepMarked(namespace) ? 'KeepMarked' : undefined;
}

function judgeLife(pod: AskedPod, { memory }: EvictionFacts): EvictionKeepReason | undefined {
  if (pod.deletionAtMs !== undefined || memory.evicted.has(pod.uid)) return 'Terminating';
  return pod.phase === 'Succeeded' || pod.phase === 'Failed' ? 'Finished' : undefined;
}

const isAsked = ({ namespace, name }: AskedPod, { pod }: EvictionRequest): boolean =>
  namespace === pod.namespace && name === pod.name;

function judgeRequest(
  { observedAtMs, observedBytes, limitBytes }: EvictionRequest,
  { evictAtPercent }: LocalStoragePolicy,
  { now }: Given,
): EvictionKeepReason | undefined {
  if (!isFresh(observedAtMs, now)) return 'RequestStale';
  return exceeds(observedBytes, limitBytes, evictAtPercent) ? undefined : 'PolicyChanged';
}

/** Whether figures of that time, Unix milliseconds, still say something about now. */
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
