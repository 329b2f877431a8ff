import { type InvalidPolicy, isInvalid, type LabelSelector, type Policy } from './policy.ts';
import { SelectorIndex, type Positions } from './selector-index.ts';
import { everything, selectorKeys, selectsAll } from './selector.ts';

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

/** A policy that may govern pods, and which. */
interface Claim {
  readonly policy: AnyPolicy;
  readonly excluded: ReadonlySet<string>;
  readonly namespaceSelector: LabelSelector;
  readonly podSelector: LabelSelector;
}

/**
 * Returns which of the ranked policies governs a pod. Made for one pass. A namespace is resolved once, and neither a namespace nor a pod costs
 * more for policies that do not select it: their authors must not slow down a pass.
 */
export function podMatcher(
  ranked: readonly AnyPolicy[],
  namespaces: ReadonlyMap<string, Labels>,
): (pod: PodIdentity) => Governor {
  const claims = ranked.flatMap((policy) => claimOf(policy));
  const candidatesIn = namespaceMatcher(claims, namespaces);
  const byPod = new SelectorIndex(claims.map(({ podSelector }) => podSelector));
  const judges = new Map<string, Judge>();
  return ({ namespace, labels }) => {
    const judge = judges.get(namespace) ?? judgeAmong(claims, candidatesIn(namespace), byPod);
    judges.set(namespace, judge);
    return judge(labels);
  };
}

/** What governs a pod of one namespace, by its labels. */
type Judge = (labels: Labels) => Governor;

interface Candidates {
  /** Of the claims that may be to pods of the namespace. */
  readonly positions: Positions;
  /** False: whether a namespace selector selects it is not known. */
  readonly isKnown: boolean;
}

/** Mostly the first policy selects every pod: then no index is searched. */
function judgeAmong(
  claims: readonly Claim[],
  { positions, isKnown }: Candidates,
  byPod: SelectorIndex,
): Judge {
  const governorOf = (claim: Claim | undefined): Governor => {
    if (claim === undefined) return undefined;
    return isKnown || selectsAll(claim.namespaceSelector) ? claim.policy : 'unknown';
  };
  const first = claims[positions.firstIn(positions)];
  if (first === undefined || selectsAll(first.podSelector)) return () => governorOf(first);
  return (labels) => governorOf(claims[positions.firstIn(byPod.select(labels))]);
}

/** Resolves a namespace; one whose labels are not known may be selected by every claim that does not exclude it by name. */
function namespaceMatcher(
  claims: readonly Claim[],
  namespaces: ReadonlyMap<string, Labels>,
): (namespace: string) => Candidates {
  const byNamespace = new SelectorIndex(claims.map(({ namespaceSelector }) => namespaceSelector));
  const every = new SelectorIndex(claims.map(() => everything));
  const excluding = new Map<string, number[]>();
  claims.forEach(({ excluded }, at) => {
    for (const name of excluded) {
      const others = excluding.get(name);
      if (others === undefined) excluding.set(name, [at]);
      else others.push(at);
    }
  });
  return (namespace) => {
    const labels = namespaces.get(namespace);
    const positions = (labels === undefined ? every.select({}) : byNamespace.select(labels)).copy();
    for (const at of excluding.get(namespace) ?? []) positions.delete(at);
    return { positions, isKnown: labels !== undefined };
  };
}

/** An invalid policy claims all there is; one that says nothing about pods claims none. */
function claimOf(policy: AnyPolicy): readonly Claim[] {
  if (isInvalid(policy))
    return [{ policy, excluded: new Set(), namespaceSelector: everything, podSelector: everything }];
  if (policy.pods === undefined) return [];
  const { excludeNamespaces: excluded, namespaceSelector, podSelector } = policy.pods;
  return [{ policy, excluded, namespaceSelector, podSelector }];
}

/** Returns which of the ranked policies governs a node with given labels; an invalid one may, so it does. */
export function nodeMatcher(ranked: readonly AnyPolicy[]): (labels: Labels) => AnyPolicy | undefined {
  const claims = ranked.flatMap((policy) => nodeClaimOf(policy));
  const index = new SelectorIndex(claims.map(({ nodeSelector }) => nodeSelector));
  return (labels) => {
    const selecting = index.select(labels);
    return claims[selecting.firstIn(selecting)]?.policy;
  };
}

interface NodeClaim {
  readonly policy: AnyPolicy;
  readonly nodeSelector: LabelSelector;
}

function nodeClaimOf(policy: AnyPolicy): readonly NodeClaim[] {
  if (isInvalid(policy)) return [{ policy, nodeSelector: everything }];
  return policy.nodes === undefined ? [] : [{ policy, nodeSelector: policy.nodes.nodeSelector }];
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
