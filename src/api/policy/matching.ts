import { oncePer } from '../../runtime/once-per.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import {
  type InvalidPolicy,
  isInvalid,
  type LabelSelector,
  type NodesPolicy,
  type PodSelection,
  type Policy,
  type TerminatedPolicy,
} from './policy.ts';
import { withRulesIds } from './rules-id.ts';
import { ttlRuleKey } from './ttl-rules.ts';
import { SelectorIndex, type Positions } from './selector-index.ts';

/** The label of a pod, a namespace or a node that opts it out of all rules. */
export const KEEP_LABEL = 'gc.dustpan.dev/keep';

/** The annotation of a pod that may shorten its ttl, where the policy has honorTTLAnnotation. */
export const TTL_ANNOTATION = 'gc.dustpan.dev/ttl-after-finished';

/** Among the keys of labels that are kept, it stands for the reasons and exit codes of containers; it is no key of a label. */
export const CONTAINER_ENDS = 'status.containerStatuses[*].state.terminated';

/** The annotation of a policy whose value is its `rulesId`: the hold of these rules ends at once. */
export const SKIP_HOLD_ANNOTATION = 'gc.dustpan.dev/skip-hold';

type Labels = Readonly<Record<string, string>>;

/** Whether the keep label opts an object out: any value but "false" does, because `True` and `yes` mean the same. An unknown object has no labels. */
export function hasKeepLabel(object: { readonly labels: Labels } | undefined): boolean {
  const value = object?.labels[KEEP_LABEL];
  return value !== undefined && value !== 'false';
}

/** Whether names and globs, such as `openshift-*`, have this name. */
export const isNamed = (names: ReadonlySet<string>, name: string): boolean =>
  names.has(name) || globsOf(names).some((matches) => matches(name));

/** The globs of each policy, compiled once. */
const globsOf = oncePer((names: ReadonlySet<string>) =>
  [...names].filter((name) => /[*?]/.test(name)).map(globMatcher),
);

type AnyPolicy = Policy | InvalidPolicy;

/**
 * Sorts policies by priority, then by name: the first that selects an object governs it. An unreadable priority is the highest. Sets the `rulesId` of
 * each valid policy.
 */
export const rankPolicies = (policies: readonly AnyPolicy[]): readonly AnyPolicy[] =>
  withRulesIds(policies.toSorted(byRank));

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

/** The policy that governs a pod; `unknown` while the labels of its namespace are unknown, undefined = none. */
export type GoverningPolicy = AnyPolicy | 'unknown' | undefined;

/** A policy and the pods that it may govern. */
interface Claim {
  readonly policy: AnyPolicy;
  readonly pods: PodSelection;
}

/**
 * Returns a function that finds the policy of a pod, for one pass. Each namespace is resolved once, and policies that select neither the namespace
 * nor the pod cost nothing: their authors must not slow down a pass.
 */
export function podMatcher(
  ranked: readonly AnyPolicy[],
  namespaces: ReadonlyMap<string, Labels>,
): (pod: PodIdentity) => GoverningPolicy {
  const claims = ranked.flatMap((policy) =>
    policy.pods === undefined ? [] : [{ policy, pods: policy.pods }],
  );
  const candidatesIn = namespaceMatcher(claims, namespaces);
  const byPod = new SelectorIndex(claims.map(({ pods }) => pods.podSelector));
  const matchers = new Map<string, ByLabels>();
  return ({ namespace, labels }) => {
    const matcher = matchers.get(namespace) ?? matcherAmong(claims, candidatesIn(namespace), byPod);
    matchers.set(namespace, matcher);
    return matcher(labels);
  };
}

/** Finds the policy of a pod of one namespace. */
type ByLabels = (labels: Labels) => GoverningPolicy;

interface Candidates {
  /** The claims that may select pods of the namespace. */
  readonly positions: Positions;
  /** False: the labels of the namespace are unknown. */
  readonly isKnown: boolean;
}

/** Mostly the first policy selects every pod: then no index is searched. */
function matcherAmong(
  claims: readonly Claim[],
  { positions, isKnown }: Candidates,
  byPod: SelectorIndex,
): ByLabels {
  const governorOf = (claim: Claim | undefined): GoverningPolicy => {
    if (claim === undefined) return undefined;
    return isKnown || selectsAll(claim.pods.namespaceSelector) ? claim.policy : 'unknown';
  };
  const first = claims[positions.firstIn(positions)];
  if (first === undefined || selectsAll(first.pods.podSelector)) return () => governorOf(first);
  return (labels) => governorOf(claims[positions.firstIn(byPod.select(labels))]);
}

/** Returns a function that finds the candidates for a namespace. Without known labels, every claim that does not exclude its name is one. */
function namespaceMatcher(
  claims: readonly Claim[],
  namespaces: ReadonlyMap<string, Labels>,
): (namespace: string) => Candidates {
  const byNamespace = new SelectorIndex(claims.map(({ pods }) => pods.namespaceSelector));
  const every = new SelectorIndex(claims.map(() => everything));
  const lists = claims.map(({ pods }, at) => ({ at, names: pods.excludeNamespaces }));
  const excluding = Map.groupBy(
    lists.flatMap(({ at, names }) => Array.from(names, (name) => ({ at, name }))),
    ({ name }) => name,
  );
  const byGlobs = lists.filter(({ names }) => globsOf(names).length > 0);
  return (namespace) => {
    const labels = namespaces.get(namespace);
    const positions = (labels === undefined ? every.select({}) : byNamespace.select(labels)).copy();
    for (const { at } of excluding.get(namespace) ?? []) positions.delete(at);
    for (const { at, names } of byGlobs) if (isNamed(names, namespace)) positions.delete(at);
    return { positions, isKnown: labels !== undefined };
  };
}

/** The field by which rules for pods do not select a pod that they do not govern. */
export function unselectedBy(
  { excludeNamespaces, podSelector }: PodSelection,
  { namespace, labels }: PodIdentity,
): keyof PodSelection {
  if (isNamed(excludeNamespaces, namespace)) return 'excludeNamespaces';
  const selected = new SelectorIndex([podSelector]).select(labels);
  return selected.firstIn(selected) < 0 ? 'podSelector' : 'namespaceSelector';
}

/** Returns a function that finds the policy of a node with the given labels. */
export function nodeMatcher(ranked: readonly AnyPolicy[]): (labels: Labels) => AnyPolicy | undefined {
  const claims = ranked.flatMap((policy) =>
    policy.nodes === undefined ? [] : [{ policy, nodeSelector: policy.nodes.nodeSelector }],
  );
  const index = new SelectorIndex(claims.map(({ nodeSelector }) => nodeSelector));
  return (labels) => {
    const selecting = index.select(labels);
    return claims[selecting.firstIn(selecting)]?.policy;
  };
}

/**
 * The keys of the pod labels that decisions need: those of every pod selector, and the keep label. The key of the ttl annotation, CONTAINER_ENDS and
 * the entries of ttlByReason are among them if a policy has these. With the keys of a selector of the command line, if there is one.
 */
export function podLabelKeys(
  policies: readonly AnyPolicy[],
  shown: LabelSelector = everything,
): ReadonlySet<string> {
  const keys = new Set([KEEP_LABEL, ...keysOf(shown)]);
  for (const policy of policies)
    for (const key of keysOf(policy.pods?.podSelector ?? everything)) keys.add(key);
  for (const { honorTTLAnnotation, ttlByReason } of terminatedRules(policies)) {
    if (honorTTLAnnotation) keys.add(TTL_ANNOTATION);
    if (ttlByReason.some(({ reason, exitCodes }) => (reason ?? exitCodes) !== undefined))
      keys.add(CONTAINER_ENDS);
    for (const rule of ttlByReason) keys.add(ttlRuleKey(rule));
  }
  return keys;
}

const terminatedRules = (policies: readonly AnyPolicy[]): readonly TerminatedPolicy[] =>
  policies.flatMap((policy) => (isInvalid(policy) ? [] : (policy.pods?.terminated ?? [])));

const keepsPerOwner = ({ keepPerOwner, keepPerOwnerByPhase }: TerminatedPolicy): boolean =>
  [keepPerOwner, keepPerOwnerByPhase.succeeded, keepPerOwnerByPhase.failed].some((count) => count > 0);

/** Which owners of pods any valid policy needs to know. */
export function neededOwners(policies: readonly AnyPolicy[]): {
  readonly jobs: boolean;
  readonly replicaSets: boolean;
} {
  const rules = terminatedRules(policies);
  const replicaSets = rules.some(keepsPerOwner);
  return { replicaSets, jobs: replicaSets || rules.some((rule) => rule.protectUnfinishedJobs) };
}

const keysOf = ({ matchLabels, matchExpressions }: LabelSelector): readonly string[] => [
  ...Object.keys(matchLabels),
  ...matchExpressions.map(({ key }) => key),
];

const everything: LabelSelector = { matchLabels: {}, matchExpressions: [] };

/** The names of the policies, of those with a higher rank, that select everything that a policy might govern; none if it may govern something. */
export function shadowedBy(policy: Policy, above: readonly Policy[]): readonly string[] {
  const names = new Set<string>();
  for (const block of ['pods', 'nodes'] as const) {
    if (policy[block] === undefined) continue;
    const other = above.find((one) => selectsEvery(block, one));
    if (other === undefined) return [];
    names.add(other.name);
  }
  return [...names];
}

/** Whether the rules of a block select every object, whatever its labels. */
export function selectsEvery(block: 'pods' | 'nodes', { pods, nodes }: Policy): boolean {
  if (block === 'nodes') return nodes !== undefined && selectsAll(nodes.nodeSelector);
  return (
    pods !== undefined &&
    selectsAll(pods.namespaceSelector) &&
    selectsAll(pods.podSelector) &&
    pods.excludeNamespaces.size === 0
  );
}

const selectsAll = ({ matchLabels, matchExpressions }: LabelSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;

const someNodesRules = (policies: readonly AnyPolicy[], has: (rules: NodesPolicy) => boolean): boolean =>
  policies.some((policy) => !isInvalid(policy) && policy.nodes !== undefined && has(policy.nodes));

/** Whether any valid policy has a rule for local storage. */
export const hasStorageRule = (policies: readonly AnyPolicy[] = []): boolean =>
  someNodesRules(policies, (rules) => rules.localStorageEviction !== undefined);

/** Whether any valid policy has a rule for node pressure. */
export const hasPressureRule = (policies: readonly AnyPolicy[] = []): boolean =>
  someNodesRules(policies, (rules) => rules.nodePressure !== undefined);

/** Whether any valid policy keeps the images that workloads want. */
export const pinsWanted = (policies: readonly AnyPolicy[]): boolean =>
  someNodesRules(policies, (rules) => rules.imageGC?.pinWanted === true);

/** Whether any valid policy has budgets of namespaces. */
export const hasNamespaceBudgets = (policies: readonly AnyPolicy[]): boolean =>
  someNodesRules(policies, (rules) => rules.namespaceBudgets.length > 0);

/** Whether a plan needs the usage of nodes and their pods. */
export const needsUsageOf = (policies: readonly AnyPolicy[] = []): boolean =>
  hasStorageRule(policies) || hasPressureRule(policies);
