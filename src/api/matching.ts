import { type InvalidPolicy, isInvalid, type LabelSelector, type Policy } from './policy.ts';
import { matchesSelector, selectorKeys, selectsAll } from './selector.ts';

/** With the value "true" on a pod, a namespace or a node it takes that out of every rule. */
export const KEEP_LABEL = 'gc.dustpan.dev/keep';

type Labels = Readonly<Record<string, string>>;
type AnyPolicy = Policy | InvalidPolicy;

/** Policies in the order in which they claim objects: by priority, then by name; one whose priority cannot be read comes first. */
export function rankPolicies(policies: readonly AnyPolicy[]): readonly AnyPolicy[] {
  return policies.toSorted(byRank);
}

function byRank(a: AnyPolicy, b: AnyPolicy): number {
  const [first, second] = [a.priority ?? Infinity, b.priority ?? Infinity];
  if (first !== second) return first > second ? -1 : 1;
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

export interface PodIdentity {
  readonly namespace: string;
  readonly labels: Labels;
}

/** What governs a pod: nothing, one policy, or `unknown` while the labels of its namespace are. */
export type Governor = AnyPolicy | 'unknown' | undefined;

/** A policy that may govern pods of one namespace; no selector means it governs every pod there. */
interface Candidate {
  readonly governor: AnyPolicy | 'unknown';
  readonly podSelector: LabelSelector | undefined;
}

/** Says which of the ranked policies governs a pod. Made for one pass: what it finds out about a namespace is kept for all of its pods. */
export function podMatcher(
  ranked: readonly AnyPolicy[],
  namespaces: ReadonlyMap<string, Labels>,
): (pod: PodIdentity) => Governor {
  const byNamespace = new Map<string, readonly Candidate[]>();
  return ({ namespace, labels }) => {
    let candidates = byNamespace.get(namespace);
    if (candidates === undefined) {
      candidates = candidatesIn(namespace, ranked, namespaces.get(namespace));
      byNamespace.set(namespace, candidates);
    }
    for (const { governor, podSelector } of candidates) {
      if (podSelector === undefined || matchesSelector(podSelector, labels)) return governor;
    }
    return undefined;
  };
}

/** Up to the first that governs every pod of the namespace. */
function candidatesIn(
  namespace: string,
  ranked: readonly AnyPolicy[],
  labels: Labels | undefined,
): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const policy of ranked) {
    const candidate = isInvalid(policy)
      ? { governor: policy, podSelector: undefined }
      : candidateIn(namespace, policy, labels);
    if (candidate !== undefined) candidates.push(candidate);
    if (candidate !== undefined && candidate.podSelector === undefined) break;
  }
  return candidates;
}

function candidateIn(namespace: string, policy: Policy, labels: Labels | undefined): Candidate | undefined {
  const { pods } = policy;
  if (pods === undefined || pods.excludeNamespaces.has(namespace)) return undefined;
  const decidable = labels !== undefined || selectsAll(pods.namespaceSelector);
  if (decidable && !matchesSelector(pods.namespaceSelector, labels ?? {})) return undefined;
  return {
    governor: decidable ? policy : 'unknown',
    podSelector: selectsAll(pods.podSelector) ? undefined : pods.podSelector,
  };
}

/** Which of the ranked policies governs a node with these labels; an invalid one may, so it does. */
export function governorOfNode(ranked: readonly AnyPolicy[], labels: Labels): AnyPolicy | undefined {
  return ranked.find(
    (policy) =>
      isInvalid(policy) || (policy.nodes !== undefined && matchesSelector(policy.nodes.nodeSelector, labels)),
  );
}

/** The labels of pods that decisions need: those of every pod selector, and the keep label. */
export function podLabelKeys(policies: readonly AnyPolicy[]): ReadonlySet<string> {
  const keys = new Set([KEEP_LABEL]);
  for (const policy of policies) {
    if (isInvalid(policy) || policy.pods === undefined) continue;
    for (const key of selectorKeys(policy.pods.podSelector)) keys.add(key);
  }
  return keys;
}
