import { repeated } from '../runtime/repeated.ts';
import { type InvalidPolicy, isInvalid, type LabelSelector, type Policy } from './policy.ts';
import { matchesSelector, selectorKeys, selectorMatcher, selectsAll } from './selector.ts';

/** With the value "true" on a pod, a namespace or a node it takes that out of every rule. */
export const KEEP_LABEL = 'gc.dustpan.dev/keep';

type Labels = Readonly<Record<string, string>>;

/** Whether an object carries the keep label; what is not known does not. */
export const isKeepMarked = (object: { readonly labels: Labels } | undefined): boolean =>
  object?.labels[KEEP_LABEL] === 'true';
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

interface PodIdentity {
  readonly namespace: string;
  readonly labels: Labels;
}

/** What governs a pod: nothing, one policy, or `unknown` while the labels of its namespace are. */
type Governor = AnyPolicy | 'unknown' | undefined;

/** A policy, with its selectors prepared; no matcher means that everything matches. */
interface Claim {
  readonly policy: AnyPolicy;
  readonly excluded: ReadonlySet<string>;
  readonly matchesNamespace: ((labels: Labels) => boolean) | undefined;
  readonly matchesPod: ((labels: Labels) => boolean) | undefined;
}

/** A claim to pods of one namespace. */
interface Candidate {
  readonly governor: AnyPolicy | 'unknown';
  readonly matchesPod: ((labels: Labels) => boolean) | undefined;
}

/** Says which of the ranked policies governs a pod. Made for one pass: what it finds out about a namespace is kept for all of its pods. */
export function podMatcher(
  ranked: readonly AnyPolicy[],
  namespaces: ReadonlyMap<string, Labels>,
): (pod: PodIdentity) => Governor {
  const claims = ranked.flatMap((policy) => claimOf(policy));
  const byNamespace = new Map<string, Judge>();
  const judgeIn = repeated((namespace: string): Judge => {
    const known = byNamespace.get(namespace);
    if (known !== undefined) return known;
    const judge = judgeAmong(candidatesIn(namespace, claims, namespaces.get(namespace)));
    byNamespace.set(namespace, judge);
    return judge;
  });
  return ({ namespace, labels }) => judgeIn(namespace)(labels);
}

/** What governs a pod of one namespace, by its labels. */
type Judge = (labels: Labels) => Governor;

/** Mostly the first takes every pod: then there is nothing to look for, 100 000 times. */
function judgeAmong(candidates: readonly Candidate[]): Judge {
  const [first] = candidates;
  if (first?.matchesPod === undefined) return () => first?.governor;
  return (labels) =>
    candidates.find(({ matchesPod }) => matchesPod === undefined || matchesPod(labels))?.governor;
}

/** An invalid policy claims all there is; one that says nothing about pods claims none. */
function claimOf(policy: AnyPolicy): readonly Claim[] {
  if (isInvalid(policy)) {
    return [{ policy, excluded: new Set(), matchesNamespace: undefined, matchesPod: undefined }];
  }
  if (policy.pods === undefined) return [];
  const { excludeNamespaces: excluded, namespaceSelector, podSelector } = policy.pods;
  return [
    { policy, excluded, matchesNamespace: prepared(namespaceSelector), matchesPod: prepared(podSelector) },
  ];
}

const prepared = (selector: LabelSelector): Claim['matchesPod'] =>
  selectsAll(selector) ? undefined : selectorMatcher(selector);

/** Up to the first that takes every pod of the namespace. */
function candidatesIn(
  namespace: string,
  claims: readonly Claim[],
  labels: Labels | undefined,
): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const { policy, excluded, matchesNamespace, matchesPod } of claims) {
    const undecidable = matchesNamespace !== undefined && labels === undefined;
    if (excluded.has(namespace)) continue;
    if (labels !== undefined && matchesNamespace?.(labels) === false) continue;
    candidates.push({ governor: undecidable ? 'unknown' : policy, matchesPod });
    if (matchesPod === undefined) break;
  }
  return candidates;
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

/** Whether any policy that can be followed speaks of local storage: without one nobody needs to know what pods use. */
export const hasStorageRule = (policies: readonly AnyPolicy[] = []): boolean =>
  policies.some((policy) => !isInvalid(policy) && policy.nodes?.localStorageEviction !== undefined);
