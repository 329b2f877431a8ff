import { isDeepStrictEqual } from 'node:util';
import { hasKeepLabel, nodeMatcher } from './matching.ts';
import { isInvalid, type InvalidPolicy, type NodesPolicy, type Policy } from './policy.ts';
import type { NodeKeepReason } from '../reasons.ts';

/** The policy that governs a node, or the reason why the agent removes nothing there. */
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

/** Finds the policy of a node. `undefined` = unknown node or policies (they cannot be listed, or the node was deleted). */
export const governNode = (
  ranked: readonly (Policy | InvalidPolicy)[] | undefined,
  node: KnownNode | undefined,
): NodeGovernance => nodeGovernance(ranked)(node);

/** Prepares `governNode` once for many nodes. */
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
  if (hasKeepLabel(node)) return { kind: 'keep', reason: 'KeepMarked', policy };
  // `nodeMatcher` selects no valid policy without `nodes`; its test only narrows the type.
  if (isInvalid(policy) || policy.nodes === undefined)
    return { kind: 'keep', reason: 'InvalidPolicy', policy };
  return { kind: 'governed', policy, nodes: policy.nodes };
}

type Block =
  | 'imageGC'
  | 'containerGC'
  | 'orphans'
  | 'checkpoints'
  | 'leftovers'
  | 'localStorageEviction'
  | 'nodePressure';

/** The block of the policy for one unit of the agent, or the reason why the unit removes nothing. */
export type NodeRule<T> =
  | { readonly kind: 'governed'; readonly policy: Policy; readonly nodes: NodesPolicy; readonly rule: T }
  | Extract<NodeGovernance, { kind: 'keep' }>;

export function nodeRule<B extends Block>(
  governance: NodeGovernance,
  block: B,
): NodeRule<NonNullable<NodesPolicy[B]>> {
  if (governance.kind === 'keep') return governance;
  const { policy, nodes } = governance;
  const rule = nodes[block];
  return rule === undefined
    ? { kind: 'keep', reason: 'RuleOff', policy }
    : { kind: 'governed', policy, nodes, rule };
}

/** Whether the node or the policies are unknown: they cannot be listed, or the node was deleted. */
export const isNodeUnknown = (governance: NodeGovernance): boolean =>
  governance.kind === 'keep' && governance.reason === 'NodeUnknown';

/** Whether both have the same effect. Compares the spec too: a default that changed with the CRD does not change the generation. */
export const isSamePolicy = (a: Policy, b: Policy): boolean =>
  a === b ||
  (a.uid === b.uid &&
    a.generation === b.generation &&
    a.mode === b.mode &&
    isDeepStrictEqual(a.nodes, b.nodes));
