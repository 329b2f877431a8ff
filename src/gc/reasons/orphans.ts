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

const nodeLabel = 'The label gc.dustpan.dev/keep: "true" on the node keeps it.';
const podKnown = 'The API server has its pod, or the runtime a container or sandbox of it';

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

/** What the policy may have no rule for. */
export const things: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: 'orphaned pod directories',
  PodCgroup: 'orphaned control groups of pods',
};

export const ruleField: Readonly<Record<OrphanKind, string>> = {
  PodDirectory: `${policyField.PodDirectory} is not Remove`,
  PodCgroup: `${policyField.PodCgroup} is not Remove`,
};

export const ruleChange = 'For orphaned resources a field of nodes.orphans becomes Remove.';

export const inUse: Readonly<Record<OrphanKind, () => string>> = {
  PodDirectory: () => 'A pod of the API server, a container or a sandbox has its UID.',
  PodCgroup: () =>
    'A process is in it or below it, or a pod of the API server, a container or a sandbox has its UID.',
};

export const reasons: ReasonCatalog<OrphanEvidence> = {
  OrphanedCgroup: {
    meaning:
      'It is the control group of a pod that neither the API server nor the runtime knows, two passes found that, and no process is in it.',
    field: () => 'nodes.orphans.podCgroups=Remove',
    change: `${podKnown}, a process enters it, or nodes.orphans.podCgroups is Report. ${nodeLabel}`,
  },
  OrphanedDirectory: {
    meaning:
      'It is the directory of a pod that neither the API server nor the runtime knows, two passes found that, nothing is mounted in it, and all files in it end with the pod.',
    field: () => 'nodes.orphans.podDirectories=Remove',
    change: `${podKnown}, something is mounted in it, or nodes.orphans.podDirectories is Report. ${nodeLabel}`,
  },
  Mounted: {
    meaning:
      'Something is mounted in the directory of a pod that is gone; removing it could remove data of a volume.',
    change: 'The kubelet, or somebody on the node, unmounts it.',
  },
  MountsUnknown: {
    meaning:
      'The agent does not see what the node mounts: the mount of the directory of the kubelet into the agent is private.',
    change:
      'agent.mountPropagation of the Helm chart is HostToContainer, and the mounts of the node are shared.',
  },
  NotEmpty: {
    meaning:
      'The directory of a pod that is gone contains files that may outlive the pod, of a volume plugin other than emptyDir, configMap, secret, projected and downwardAPI, or something that the kubelet did not make.',
    change: 'Somebody moves the files away, or removes them.',
    caution: 'They may be data of a persistent volume, or what the kubelet needs to detach it.',
  },
  ReadOnly: {
    meaning:
      'The policy removes it, but the agent has its place mounted read-only: agent.orphans of the Helm chart is not set.',
    sentence: (evidence) => readOnlyText(evidence),
    field: ({ kind }) => `${policyField[kind]}=Remove`,
    change: 'The Helm value agent.orphans.podCgroups or agent.orphans.podDirectories is true.',
  },
  PacingLimit: {
    meaning: 'The directory has more files than one pass removes.',
    change: 'The next pass removes more of them.',
  },
};
