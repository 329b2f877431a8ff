import type { OrphanTarget } from '../decision.ts';
import type { NoEvidence, ReasonCatalog } from './entry.ts';

type OrphanKind = OrphanTarget['kind'];

/** Evidence of the reasons that only orphaned resources have. */
export interface OrphanEvidence {
  OrphanedCgroup: NoEvidence;
  OrphanedDirectory: NoEvidence;
  Mounted: NoEvidence;
  MountsUnknown: NoEvidence;
  NotEmpty: NoEvidence;
  ReadOnly: { readonly kind: OrphanKind };
  PacingLimit: NoEvidence;
}

const nodeLabel = 'Or the label gc.dustpan.dev/keep: "true" on the node.';
const podKnown = 'The API server lists its pod, or the runtime a container or sandbox of the pod';

const policyField: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: 'nodes.orphans.podDirectories',
  PodCgroup: 'nodes.orphans.podCgroups',
};

const chartValue: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: 'agent.orphans.podDirectories',
  PodCgroup: 'agent.orphans.podCgroups',
};

/** Names the Helm value that is missing. */
export const readOnlyText = ({ kind }: OrphanEvidence['ReadOnly']): string =>
  `The policy has ${policyField[kind]}=Remove, but ${placeOf[kind]} are mounted read-only into the agent: set ${chartValue[kind]}=true in the Helm values.`;

const placeOf: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: 'the pod directories of the kubelet',
  PodCgroup: 'the control groups',
};

/** Nouns for objects without a rule. */
export const things: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: 'orphaned pod directories',
  PodCgroup: 'orphaned control groups of pods',
};

export const ruleField: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: `${policyField.PodDirectory} is not Remove`,
  PodCgroup: `${policyField.PodCgroup} is not Remove`,
};

export const ruleChange = 'For orphaned resources: the policy sets the field of nodes.orphans to Remove.';

export const inUse: Readonly<Record<OrphanKind, () => string>> = {
  PodDirectory: () => 'A pod of the API server, a container or a sandbox has its UID.',
  PodCgroup: () =>
    'A process is in it or below it, or a pod of the API server, a container or a sandbox has its UID.',
};

export const reasons: ReasonCatalog<OrphanEvidence> = {
  OrphanedCgroup: {
    meaning:
      'Two passes found that neither the API server nor the runtime lists its pod, and no process is in the control group.',
    field: () => 'nodes.orphans.podCgroups=Remove',
    change: `${podKnown}, a process enters it, or nodes.orphans.podCgroups is Report. ${nodeLabel}`,
  },
  OrphanedDirectory: {
    meaning:
      'Two passes found that neither the API server nor the runtime lists its pod, nothing is mounted in the directory, and no file in it may outlive the pod.',
    field: () => 'nodes.orphans.podDirectories=Remove',
    change: `${podKnown}, something is mounted in it, or nodes.orphans.podDirectories is Report. ${nodeLabel}`,
  },
  Mounted: {
    meaning:
      'A volume is mounted in the directory, and its pod is gone; removing the directory could delete data of the volume.',
    change: 'The kubelet, or somebody on the node, unmounts it.',
  },
  MountsUnknown: {
    meaning:
      "The agent cannot see the node's mounts, because the kubelet's directory is mounted into the agent without mount propagation.",
    change: "The Helm value agent.mountPropagation is HostToContainer, and the node's mounts are shared.",
  },
  NotEmpty: {
    meaning:
      'Its pod is gone, but the directory contains files that may outlive the pod: of a volume plugin other than emptyDir, configMap, secret, projected and downwardAPI, or files that the kubelet did not create.',
    change: 'Somebody moves or removes the files.',
    caution: 'The files may be data of a persistent volume, or the kubelet may need them to detach it.',
  },
  ReadOnly: {
    meaning:
      'The policy removes it, but it is mounted read-only into the agent, because the Helm value agent.orphans is not set.',
    sentence: (evidence) => readOnlyText(evidence),
    field: ({ kind }) => `${policyField[kind]}=Remove`,
    change: 'The Helm value agent.orphans.podCgroups or agent.orphans.podDirectories is true.',
  },
  PacingLimit: {
    meaning: 'The directory contains more files than one pass removes.',
    change: 'The next pass removes more of them.',
  },
};
