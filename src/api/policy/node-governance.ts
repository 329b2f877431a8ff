import { isKeepMarked, nodeMatcher } from './matching.ts';
import { isInvalid, type InvalidPolicy, type NodesPolicy, type Policy } from './policy.ts';
import type { NodeKeepReason } from '../reasons.ts';

/** What the agent may do on its node: what one policy says, or nothing, with the reason. */
export type NodeGovernance =
  | { readonly kind: 'governed'; readonly policy: Policy; readonly nodes: NodesPolicy }
  | {
      readonly kind: 'keep';
      readonly reason: NodeKeepReason;
      readonly policy: Policy | InvalidPolicy | undefined;
    };

interface KnownNode {
  readonly labels: Readonly<Record<string, string>>;
}

/** Decides what governs a node; `undefined` for a node or policies that are not known (a watch that does not work, a node that is gone). */
export const governNode = (
  ranked: readonly (Policy | InvalidPolicy)[] | undefined,
  node: KnownNode | undefined,
): NodeGovernance => nodeGovernance(ranked)(node);

/** The same, prepared once for many nodes. */
export function nodeGovernance(
  ranked: readonly (Policy | InvalidPolicy)[] | undefined,
): (node: KnownNode | undefined) => NodeGovernance {
  const governorOf = ranked && nodeMatcher(ranked);
  return (node) => governanceOf(node, governorOf);
}

function governanceOf(
  node: KnownNode | undefined,
  governorOf: ReturnType<typeof nodeMatcher> | undefined,
): NodeGovernance {
  if (governorOf === undefined || node === undefined)
    return { kind: 'keep', reason: 'NodeUnknown', policy: undefined };
  const policy = governorOf(node.labels);
  if (policy === undefined) return { kind: 'keep', reason: 'NoPolicy', policy };
  if (isKeepMarked(node)) return { kind: 'keep', reason: 'KeepMarked', policy };
  if (isInvalid(policy) || policy.nodes === undefined)
    return { kind: 'keep', reason: 'InvalidPolicy', policy };
  return { kind: 'governed', policy, nodes: policy.nodes };
}

type Block = 'imageGC' | 'containerGC' | 'localStorageEviction';

/** What one unit of the agent may do on its node: what a block of the policy says, or nothing, with the reason. */
export type NodeRule<T> =
  | { readonly kind: 'governed'; readonly policy: Policy; readonly rule: T }
  | Extract<NodeGovernance, { kind: 'keep' }>;

/** What governs the node, as far as it concerns the unit of this block. */
export function nodeRule<B extends Block>(
  governance: NodeGovernance,
  block: B,
): NodeRule<NonNullable<NodesPolicy[B]>> {
  if (governance.kind === 'keep') return governance;
  const { policy, nodes } = governance;
  const rule = nodes[block];
  return rule === undefined
    ? { kind: 'keep', reason: 'RuleOff', policy }
    : { kind: 'governed', policy, rule };
}

/** Whether nothing is known that could govern the node: a watch that does not work, a node that is gone. */
export const isNodeUnknown = (governance: NodeGovernance): boolean =>
  governance.kind === 'keep' && governance.reason === 'NodeUnknown';

/** Whether both ask for the same: the spec itself is compared as well, for a default that changed with the CRD moves no generation. */
export const isSamePolicy = (a: Policy, b: Policy): boolean =>
  a === b ||
  (a.uid === b.uid &&
    a.generation === b.generation &&
    a.mode === b.mode &&
    JSON.stringify(a.nodes) === JSON.stringify(b.nodes));
