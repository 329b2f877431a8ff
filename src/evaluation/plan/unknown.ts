import { isDeepStrictEqual } from 'node:util';
import { nodeGovernance } from '../../api/policy/node-governance.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { counted } from '../../gc/reasons/words.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import type { Changes, PlanDocument, Unknown } from './document.ts';
import { decidingOwners, partUnknowns, rulesOf, type Rules } from './notes.ts';

/** The objects of which these facts do not show whether a policy would remove them; `ofPods`: only pods and what belongs to them on nodes. */
export function unknownIn(facts: PlanFacts, ofPods: boolean): readonly Unknown[] {
  if (facts.policies === undefined) return [{ what: 'policies', policy: null, nodes: null, remedy: null }];
  const valid = facts.policies.filter((policy): policy is Policy => !isInvalid(policy));
  return [
    ...valid
      .filter((policy) => arePodsUnknown(policy, facts))
      .map(({ name }): Unknown => ({ what: 'pods', policy: name, nodes: null, remedy: null })),
    ...unknownNodes(valid, facts, ofPods),
  ];
}

function arePodsUnknown(policy: Policy, facts: PlanFacts): boolean {
  const { pods, nodes, namespaces, jobs, replicaSets, part } = facts;
  if (policy.pods === undefined) return false;
  if (pods === undefined || namespaces === undefined || part !== undefined) return true;
  const { orphaned, outOfService } = policy.pods;
  if (nodes === undefined && (orphaned !== undefined || outOfService)) return true;
  const needed = decidingOwners(facts, [policy]);
  return (needed.jobs && jobs === undefined) || (needed.replicaSets && replicaSets === undefined);
}

function unknownNodes(valid: readonly Policy[], facts: PlanFacts, ofPods: boolean): readonly Unknown[] {
  const { policies, nodes, parts, unread = [], noAgents, moreNodes = null } = facts;
  if (noAgents === true) return [];
  const ruling = valid.filter((policy) => Object.values(rulesFor(policy, ofPods)).includes(true));
  if (nodes === undefined)
    return ruling.map(({ name }) => ({ what: 'nodes', policy: name, nodes: null, remedy: null }));
  const governanceOf = nodeGovernance(policies);
  const read = new Map(parts.map((part) => [part.name, part]));
  const requested = new Set([...read.keys(), ...unread.map(({ name }) => name)]);
  const governed = Map.groupBy(nodes.values(), (node) => {
    const governance = governanceOf(node);
    return governance.kind === 'governed' ? governance.policy : undefined;
  });
  return ruling.flatMap((policy): readonly Unknown[] => {
    const names = (governed.get(policy) ?? [])
      .map(({ name }) => name)
      .filter((name) => !isWhollyRead(read.get(name), rulesFor(policy, ofPods), facts))
      .toSorted();
    // Reading a node again shows no more: a note says why it could not be read.
    const remedy = names.every((name) => requested.has(name)) ? null : moreNodes;
    return names.length === 0 ? [] : [{ what: 'nodes', policy: policy.name, nodes: names, remedy }];
  });
}

/** Images belong to no pod. */
function rulesFor(policy: Policy, ofPods: boolean): Rules {
  const rules = rulesOf({ policies: [policy] });
  return ofPods ? { ...rules, images: false } : rules;
}

const isWhollyRead = (part: NodePart | undefined, rules: Rules, { namespaces }: PlanFacts): boolean =>
  part?.pods !== undefined &&
  partUnknowns(part, rules).length === 0 &&
  (namespaces !== undefined || !rules.usage);

type Policies = NonNullable<PlanFacts['policies']>;

/** The unknown parts of either plan, without those about which the policies of both agree. */
export function unknownDifference(
  before: { readonly policies: Policies; readonly unknown: readonly Unknown[] },
  after: { readonly policies: Policies; readonly unknown: readonly Unknown[] },
): readonly Unknown[] {
  const isSame = (block: 'pods' | 'nodes'): boolean =>
    isDeepStrictEqual(rulesIn(before.policies, block), rulesIn(after.policies, block));
  const agreed = { policies: false, pods: isSame('pods'), nodes: isSame('nodes') };
  return [...after.unknown, ...before.unknown].filter(({ what }) => !agreed[what]);
}

/** By rank; an invalid policy keeps what it may govern. */
const rulesIn = (policies: Policies, block: 'pods' | 'nodes'): readonly unknown[] =>
  policies.flatMap((policy: Policy | InvalidPolicy) =>
    isInvalid(policy) ? policy.name : (policy[block] ?? []),
  );

type Heads = Readonly<Record<Unknown['what'], string>>;

/** What is not known of a plan, one sentence for each kind of objects. */
export function unknownTexts({
  unknown,
  decisions,
}: Pick<PlanDocument, 'unknown' | 'decisions'>): readonly string[] {
  const isRest = decisions.some(({ unit, order }) => unit === 'podgc' && order !== null);
  return clauses(unknown, {
    policies: 'What would be removed',
    pods: `Which ${isRest ? 'other ' : ''}pods would be deleted`,
    nodes: 'What would be removed on',
  }).map((clause) => `${clause}.`);
}

/** What is not known about one policy, in one clause; undefined = everything is known. */
export function unknownOf({ unknown }: Pick<PlanDocument, 'unknown'>, policy: string): string | undefined {
  const own = unknown.filter((part) => part.policy === policy).map((part) => ({ ...part, remedy: null }));
  const texts = clauses(own, {
    policies: 'what it would remove',
    pods: 'which pods it would delete',
    nodes: 'what it would remove on',
  });
  return texts.length === 0 ? undefined : texts.join(', and ');
}

/** How many removals the given policies add and take away, as far as this is known. */
export function comparisonText({ more, less, unknown }: Changes): string {
  if (unknown.length === 0) return `${more.length} more to remove, ${less.length} fewer.`;
  const known = [
    ...(more.length === 0 ? [] : [`at least ${more.length} more to remove`]),
    ...(less.length === 0 ? [] : [`at least ${less.length} fewer`]),
  ];
  const open = clauses(unknown, {
    policies: 'the difference',
    pods: 'the difference in deleted pods',
    nodes: 'the difference on',
  });
  return `${[known.join(', '), ...open].filter(Boolean).join('; ')}.`;
}

function clauses(unknown: readonly Unknown[], heads: Heads): readonly string[] {
  return [...Map.groupBy(unknown, ({ what }) => what)].map(([what, list]) => {
    const place = what === 'nodes' ? ` ${nodesText(list)}` : '';
    const [remedy] = list.flatMap((part) => part.remedy ?? []);
    return `${heads[what]}${place} is not known${remedy === undefined ? '' : `: ${remedy}`}`;
  });
}

function nodesText(list: readonly Unknown[]): string {
  const names = new Set(list.flatMap(({ nodes }) => nodes ?? []));
  if (list.some(({ nodes }) => nodes === null)) return 'nodes';
  return names.size === 1 ? `node ${[...names].join('')}` : counted(names.size, 'node');
}
