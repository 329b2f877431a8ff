import type {
  SpecNodesCheckpoints,
  SpecNodesContainerGC,
  SpecNodesContainerGCLogs,
  SpecNodesImageGC,
  SpecNodesImageGCInodes,
  SpecNodesLocalStorageEviction,
  SpecNodesLocalStorageEvictionDefaultLimits,
  SpecNodesNamespaceBudget,
  SpecNodesNodePressure,
  SpecNodesLeftovers,
  SpecNodesOrphans,
  SpecPodsOrphaned,
  SpecPodsPodSelectorMatchExpression,
  SpecPodsSafety,
  SpecPodsTerminated,
  SpecPodsTerminatedKeepPerOwnerByPhase,
  SpecPodsTerminatedTtlByReasonItem,
} from '../gen/gcpolicy-spec.gen.ts';
import type { SignalThresholds } from '../node-pressure.ts';

/** A valid GCPolicy with its defaults, decoded: the fields are those of the CRD, described there, except where a type here says more. Absent blocks are undefined (= off). */
export interface Policy {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** Fingerprint of what decides about removals under this policy (`rankPolicies`); '' before policies are ranked. */
  readonly rulesId: string;
  /** The annotation gc.dustpan.dev/skip-hold, which ends the hold of the rules with this `rulesId`; undefined = none. */
  readonly skipHoldOf: string | undefined;
  readonly mode: 'DryRun' | 'Enforce';
  readonly priority: number;
  readonly pods: PodsPolicy | undefined;
  readonly nodes: NodesPolicy | undefined;
}

export interface PodsPolicy {
  readonly namespaceSelector: LabelSelector;
  /** Names and globs: `isNamed` in matching.ts. */
  readonly excludeNamespaces: ReadonlySet<string>;
  readonly podSelector: LabelSelector;
  readonly terminated: TerminatedPolicy | undefined;
  readonly orphaned: SpecPodsOrphaned | undefined;
  readonly unscheduledTerminating: boolean;
  readonly outOfService: boolean;
  readonly safety: Omit<SpecPodsSafety, 'holdAbove' | 'holdForMs'>;
  readonly hold: HoldRule;
}

/** When a large removal by new rules of a policy waits. */
export interface HoldRule {
  /** Number of objects, pods or images of a node; 0 = off, undefined = the default (`removableAtOnce`). */
  readonly above: number | undefined;
  readonly forMs: number;
}

/** perNamespaceThreshold: undefined = off. */
export interface TerminatedPolicy extends SpecPodsTerminated {
  readonly ttlByReason: readonly TtlRule[];
  readonly keepPerOwnerByPhase: SpecPodsTerminatedKeepPerOwnerByPhase;
}

/** Each matcher is optional; `messagePattern` is a glob over the whole message (`*` any text, `?` one character). */
export type TtlRule = SpecPodsTerminatedTtlByReasonItem;

/** The rules for the agents on the nodes that `nodeSelector` selects. */
export interface NodesPolicy {
  readonly nodeSelector: LabelSelector;
  /** Namespaces whose pods are neither evicted nor warned about: those of `pods` too. */
  readonly excludeNamespaces: ReadonlySet<string>;
  /** Whether a pod whose owner refuses evictions is evicted only where the kubelet would evict it. */
  readonly respectDoNotDisrupt: boolean;
  readonly imageGC: ImageGcPolicy | undefined;
  readonly containerGC: ContainerGcPolicy | undefined;
  readonly orphans: OrphansPolicy | undefined;
  readonly checkpoints: CheckpointsPolicy | undefined;
  readonly leftovers: LeftoversPolicy | undefined;
  readonly localStorageEviction: LocalStoragePolicy | undefined;
  readonly nodePressure: NodePressurePolicy | undefined;
  /** The first whose selector matches a namespace applies to it. */
  readonly namespaceBudgets: readonly NamespaceBudget[];
}

type HoldFields = 'holdAbove' | 'holdForMs';

/** Its own thresholds are those of bytes; `inodes` undefined = off. */
export interface ImageGcPolicy extends Omit<
  SpecNodesImageGC,
  HoldFields | 'maximumAgeMs' | 'maximumAgeByImage' | 'maxImagesPerPass' | 'remove'
> {
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
  /** The first entry that matches an image takes the place of maximumAgeMs. */
  readonly maximumAgeByImage: readonly ImageAgeRule[];
  readonly remove: readonly RemoveEntry[];
  /** undefined = unlimited. */
  readonly maxImagesPerPass: number | undefined;
  readonly hold: HoldRule;
}

/** Whole percent; a highThresholdPercent of 100 = off. */
export type Thresholds = SpecNodesImageGCInodes;

/** `image` is a pattern as in the keep list. */
export interface ImageAgeRule {
  readonly image: string;
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
}

/** An entry of nodes.imageGC.remove: `image` is a pattern as in the keep list. */
export interface RemoveEntry {
  readonly image: string;
  /** Unix milliseconds; from then on the entry does nothing. */
  readonly untilMs: number;
}

export const hasEnded = ({ untilMs }: RemoveEntry, now: Date): boolean => untilMs <= now.getTime();

export interface ContainerGcPolicy extends Omit<
  SpecNodesContainerGC,
  'maxPerPodContainer' | 'maxContainers' | 'logs'
> {
  /** undefined = unlimited; 0 = keep none. */
  readonly maxPerPodContainer: number | undefined;
  /** undefined = unlimited; 0 = keep none. */
  readonly maxContainers: number | undefined;
  readonly logs: LogsPolicy | undefined;
}

/** maxBytesPerPod: undefined = unlimited; warnBytesPerContainer: undefined = never. */
export interface LogsPolicy extends Omit<SpecNodesContainerGCLogs, 'maxRotatedPerContainer'> {
  /** undefined = unlimited; 0 = keep none. */
  readonly maxRotatedPerContainer: number | undefined;
}

/** Orphaned resources of pods that neither the API server nor the runtime knows. */
export type OrphansPolicy = SpecNodesOrphans;
export type LeftoversPolicy = SpecNodesLeftovers;

/** Checkpoints of containers that the kubelet has stored. undefined = unlimited. */
export interface CheckpointsPolicy extends Omit<SpecNodesCheckpoints, 'maxPerPod' | 'maxAgeMs'> {
  /** 0 = keep none. */
  readonly maxPerPod: number | undefined;
  readonly maxAgeMs: number | undefined;
}

/** warnAtPercent is ascending. */
export interface LocalStoragePolicy extends Omit<
  SpecNodesLocalStorageEviction,
  'gracePeriodSeconds' | 'defaultLimits'
> {
  /** undefined = the pod's own. */
  readonly gracePeriodSeconds: number | undefined;
  /** For pods without limits; undefined = no limit. */
  readonly defaultLimits: DefaultLimits;
}

export type DefaultLimits = SpecNodesLocalStorageEvictionDefaultLimits;

export interface NodePressurePolicy extends Omit<
  SpecNodesNodePressure,
  'thresholds' | 'minimumReclaim' | 'forecastMs'
> {
  readonly thresholds: SignalThresholds;
  /** How much more than the threshold is freed. */
  readonly minimumReclaim: SignalThresholds;
  /** undefined = no forecast. */
  readonly forecastMs: number | undefined;
}

/** Warnings about namespaces; undefined = no budget of this kind. At least one is given. */
export interface NamespaceBudget extends Omit<SpecNodesNamespaceBudget, 'namespaceSelector'> {
  readonly namespaceSelector: LabelSelector;
}

/** metav1.LabelSelector: all of matchLabels and all of matchExpressions; the empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelExpression[];
}

export type LabelExpression = Required<SpecPodsPodSelectorMatchExpression> & {
  readonly values: readonly string[];
};

/** A stored policy that is invalid. It keeps the pods and nodes that it selects, unless a policy of higher priority governs them: ADR 2. */
export interface InvalidPolicy {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** undefined = unreadable: the policy then precedes every other one. */
  readonly priority: number | undefined;
  /** The pods that it may select; undefined = none. */
  readonly pods: PodSelection | undefined;
  /** The nodes that it may select; undefined = none. */
  readonly nodes: NodeSelection | undefined;
  /** One line each: `spec.pods.terminated.threshold: must be an integer, is "x"`. Never empty. */
  readonly problems: readonly string[];
}

export type PodSelection = Pick<PodsPolicy, 'namespaceSelector' | 'excludeNamespaces' | 'podSelector'>;
export type NodeSelection = Pick<NodesPolicy, 'nodeSelector'>;

/** The consequence of an invalid policy and its problems, in one sentence. */
export function invalidPolicyText(
  { pods, nodes, problems }: Pick<InvalidPolicy, 'pods' | 'nodes' | 'problems'>,
  subject = 'The policy',
): string {
  const selected = [pods && 'pods', nodes && 'nodes'].filter((what) => what !== undefined);
  const effect =
    selected.length === 0
      ? 'and selects nothing'
      : `so dustpan keeps the ${selected.join(' and ')} that it selects and no policy of higher priority governs`;
  return `${subject} is invalid, ${effect}: ${problems.join('; ')}`;
}

export const isInvalid = (policy: Policy | InvalidPolicy): policy is InvalidPolicy => 'problems' in policy;
