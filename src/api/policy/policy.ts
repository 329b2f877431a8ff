import type { SignalThresholds } from '../node-pressure.ts';

/** A valid GCPolicy with its defaults. Durations are in milliseconds, absent blocks undefined (= off). */
export interface Policy {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** The generation whose hold the annotation gc.dustpan.dev/skip-hold ends; undefined = none. */
  readonly skipHoldOf: number | undefined;
  readonly mode: 'DryRun' | 'Enforce';
  readonly priority: number;
  readonly pods: PodsPolicy | undefined;
  readonly nodes: NodesPolicy | undefined;
}

export interface PodsPolicy {
  readonly namespaceSelector: LabelSelector;
  readonly excludeNamespaces: ReadonlySet<string>;
  readonly podSelector: LabelSelector;
  readonly terminated: TerminatedPolicy | undefined;
  readonly orphaned: { readonly quarantineMs: number } | undefined;
  readonly unscheduledTerminating: boolean;
  readonly outOfService: boolean;
  readonly safety: { readonly maxDeletesPerPass: number; readonly maxOrphanedNodesPercent: number };
  readonly hold: HoldRule;
}

/** When a large removal by a new generation of a policy waits. */
export interface HoldRule {
  /** Number of objects, pods or images of a node; 0 = off. */
  readonly above: number;
  readonly forMs: number;
}

export interface TerminatedPolicy {
  /** Governed terminated pods kept in the whole cluster; 0 or less = off, as upstream. */
  readonly threshold: number;
  readonly perNamespaceThreshold: number | undefined;
  readonly ttlAfterFinishedMs: number | undefined;
  readonly ttlByReason: readonly TtlRule[];
  /** A pod's annotation may shorten its ttl. */
  readonly honorTTLAnnotation: boolean;
  /** The number of newest finished pods of each controller owner that ttl and perNamespaceThreshold keep; 0 = none. */
  readonly keepPerOwner: number;
  readonly protectUnfinishedJobs: boolean;
}

/** Each matcher is optional; `messagePattern` is a glob over the whole message (`*` any text, `?` one character). */
export interface TtlRule {
  readonly phase: string | undefined;
  readonly reason: string | undefined;
  readonly messagePattern: string | undefined;
  readonly ttlMs: number;
}

/** The rules for the agents on the nodes that `nodeSelector` selects. */
export interface NodesPolicy {
  readonly nodeSelector: LabelSelector;
  /** Namespaces whose pods are neither evicted nor warned about: those of `pods` too. */
  readonly excludeNamespaces: readonly string[];
  readonly imageGC: ImageGcPolicy | undefined;
  readonly containerGC: ContainerGcPolicy | undefined;
  readonly orphans: OrphansPolicy | undefined;
  readonly localStorageEviction: LocalStoragePolicy | undefined;
  readonly nodePressure: NodePressurePolicy | undefined;
}

/** Its own thresholds are those of bytes. */
export interface ImageGcPolicy extends Thresholds {
  readonly minimumAgeMs: number;
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
  /** The first entry that matches an image takes the place of maximumAgeMs. */
  readonly maximumAgeByImage: readonly ImageAgeRule[];
  /** The space step for inodes; undefined = off. */
  readonly inodes: Thresholds | undefined;
  readonly keep: readonly string[];
  readonly kubeletHighThresholdPercent: number;
  /** undefined = unlimited. */
  readonly maxImagesPerPass: number | undefined;
  readonly hold: HoldRule;
  readonly repullBackoff: boolean;
}

/** Whole percent; a highThresholdPercent of 100 = off. */
export interface Thresholds {
  readonly highThresholdPercent: number;
  readonly lowThresholdPercent: number;
}

/** `image` is a pattern as in the keep list. */
export interface ImageAgeRule {
  readonly image: string;
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
}

export interface ContainerGcPolicy {
  readonly minimumAgeMs: number;
  /** undefined = unlimited; 0 = keep none. */
  readonly maxPerPodContainer: number | undefined;
  /** undefined = unlimited; 0 = keep none. */
  readonly maxContainers: number | undefined;
  readonly sandboxes: boolean;
  readonly logs: LogsPolicy | undefined;
}

export interface LogsPolicy {
  readonly orphanedDirectories: boolean;
  readonly brokenLinks: boolean;
  /** undefined = unlimited; 0 = keep none. */
  readonly maxRotatedPerContainer: number | undefined;
  /** undefined = unlimited. */
  readonly maxBytesPerPod: number | undefined;
  /** Size of a running container's current log above which dustpan warns; undefined = never. */
  readonly warnBytesPerContainer: number | undefined;
}

/** Orphaned resources of pods that neither the API server nor the runtime knows. */
export interface OrphansPolicy {
  readonly podCgroups: 'Report' | 'Remove';
  readonly podDirectories: 'Report' | 'Remove';
}

export interface LocalStoragePolicy {
  /** Evictions in the cluster, for node pressure too. */
  readonly maxEvictionsPerMinute: number;
  /** Ascending. */
  readonly warnAtPercent: readonly number[];
  readonly evictAtPercent: number;
  readonly respectPodDisruptionBudgets: boolean;
  /** undefined = the pod's own. */
  readonly gracePeriodSeconds: number | undefined;
  /** For pods without limits; undefined = no limit. */
  readonly defaultLimits: DefaultLimits;
}

export interface DefaultLimits {
  readonly emptyDirBytes: number | undefined;
  readonly podBytes: number | undefined;
  readonly containerBytes: number | undefined;
}

export interface NodePressurePolicy {
  readonly thresholds: SignalThresholds;
  /** How much more than the threshold is freed. */
  readonly minimumReclaim: SignalThresholds;
  readonly gracePeriodMs: number;
  readonly transitionPeriodMs: number;
  /** undefined = no forecast. */
  readonly forecastMs: number | undefined;
  readonly evictPods: boolean;
}

/** metav1.LabelSelector: all of matchLabels and all of matchExpressions; the empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

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
