import {
  invalidField,
  invalidSentence,
  keepLabelField,
  labelRemoved,
  policyCorrected,
  type InvalidEvidence,
} from './words.ts';
import type { NoEvidence, ReasonCatalog } from './entry.ts';

/** Evidence of reasons that concern a whole node: the same for images, containers, sandboxes and logs. */
export interface NodeEvidence {
  NoPolicy: NoEvidence;
  InvalidPolicy: InvalidEvidence;
  KeepMarked: NoEvidence;
  NodeUnknown: NoEvidence;
  ClockUnsure: NoEvidence;
  PodsUnknown: NoEvidence;
  ContainersUnknown: NoEvidence;
}

export const nodeReasons: ReasonCatalog<NodeEvidence> = {
  ClockUnsure: {
    meaning:
      'Its age is not known: the clock of the node has jumped, or differs from that of the API server.',
    change: 'The clock runs steadily until the next pass and agrees with that of the API server.',
  },
  PodsUnknown: {
    meaning: 'The pods of the node are not known, and one may need it.',
    change: 'The API server responds and the pods are listed.',
  },
  ContainersUnknown: {
    meaning: 'The containers of the node, or their images, are not known, and one may need it.',
    change: 'The runtime lists containers and sandboxes, and the image of each container.',
  },
  NoPolicy: {
    meaning: 'No GCPolicy selects the node.',
    change: 'A GCPolicy with spec.nodes selects the node.',
  },
  InvalidPolicy: {
    meaning: 'An invalid GCPolicy may select the node, so dustpan touches nothing on it.',
    sentence: (evidence) => invalidSentence(evidence, 'this node'),
    field: invalidField,
    change: policyCorrected,
  },
  KeepMarked: {
    meaning: 'The node has the label gc.dustpan.dev/keep: "true".',
    field: keepLabelField,
    change: labelRemoved,
  },
  NodeUnknown: {
    meaning: 'The node or the policies are not known.',
    change: 'The API server responds, and the node and the policies are read.',
  },
};
