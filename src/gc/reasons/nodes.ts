import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type { Meaning, Why } from '../words.ts';
import { explainInvalid, keepLabelField, labelRemoved, policyCorrected } from './words.ts';

/** Reasons that concern a whole node: the same for images, containers, sandboxes and logs. */
type NodeReason =
  | 'NoPolicy'
  | 'InvalidPolicy'
  | 'KeepMarked'
  | 'NodeUnknown'
  | 'ClockUnsure'
  | 'PodsUnknown'
  | 'ContainersUnknown';

export const nodeReasons: Readonly<Record<NodeReason, Meaning>> = {
  ClockUnsure: {
    meaning:
      "Its age is unknown: the clock of the node has jumped, was not set when it was made, or differs from the API server's.",
    change:
      "The node's clock does not jump until the next pass and agrees with the API server's. What was made before the clock was set stays.",
  },
  PodsUnknown: {
    meaning: 'The agent has no list of the pods of the node from the API server, and one may need it.',
    change: 'The agent can list the pods from the API server.',
  },
  ContainersUnknown: {
    meaning:
      'The agent has no list of the containers of the node from the runtime (ListContainers), or the image of one is not in it, and one may need it.',
    change: 'The runtime lists containers, sandboxes and the image of each container.',
  },
  NoPolicy: {
    meaning: 'No GCPolicy with spec.nodes selects the node.',
    change: 'A GCPolicy with spec.nodes selects the node.',
  },
  InvalidPolicy: {
    meaning: 'An invalid GCPolicy may select the node, so dustpan removes nothing from it.',
    change: policyCorrected,
  },
  KeepMarked: {
    meaning: 'The node has the label gc.dustpan.dev/keep.',
    change: labelRemoved,
  },
  NodeUnknown: {
    meaning: 'The agent has not read its Node or the GCPolicies from the API server.',
    change: 'The agent can read the node and the policies from the API server.',
  },
};

/** Explains a reason that concerns the whole node. */
export function explainNode(reason: NodeReason, policy: Policy | InvalidPolicy | undefined): Why {
  const detail = nodeReasons[reason].meaning;
  if (reason === 'KeepMarked') return { detail, field: keepLabelField() };
  return reason === 'InvalidPolicy' ? explainInvalid(policy, 'this node') : { detail };
}
