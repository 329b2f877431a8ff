// Made from crds/gc.dustpan.dev_gcpolicies.yaml by npm run generate. Do not edit.

/**
 * A GCPolicy says what dustpan may remove. Of several policies that match an object, exactly one governs it: the one with the highest priority, then the first by name. Without any policy nothing is removed.
 */
export interface GCPolicy {
  /**
   * The versioned schema of this object, gc.dustpan.dev/v1alpha1.
   */
  apiVersion?: string;
  /**
   * The kind of this object, GCPolicy.
   */
  kind?: string;
  /**
   * Standard object metadata.
   */
  metadata?: {
    name: string;
    uid?: string;
    generation?: number;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    creationTimestamp?: string;
    ownerReferences?: {
      apiVersion: string;
      kind: string;
      name: string;
      uid: string;
      controller?: boolean;
      blockOwnerDeletion?: boolean;
    }[];
  };
  spec: GCPolicySpec;
  status?: GCPolicyStatus;
}
/**
 * What may be removed. A block that is absent is off; an empty block is on, with its defaults.
 */
export interface GCPolicySpec {
  /**
   * DryRun computes, counts and explains everything and removes nothing. Enforce removes.
   */
  mode?: 'DryRun' | 'Enforce';
  /**
   * Of several policies that match an object, the one with the highest priority governs it; among equals, the first by name.
   */
  priority?: number;
  pods?: GCPolicySpecPods;
  nodes?: GCPolicySpecNodes;
}
/**
 * Rules for pods. Absent, this policy says nothing about pods; without any rule in it, the pods that it selects are kept from policies of lower priority.
 */
export interface GCPolicySpecPods {
  namespaceSelector?: GCPolicySpecPodsNamespaceSelector;
  /**
   * Names of namespaces whose pods this policy does not govern, whatever namespaceSelector says.
   *
   * Items: The name of a namespace.
   */
  excludeNamespaces?: string[];
  podSelector?: GCPolicySpecPodsPodSelector;
  terminated?: GCPolicySpecPodsTerminated;
  orphaned?: GCPolicySpecPodsOrphaned;
  unscheduledTerminating?: GCPolicySpecPodsUnscheduledTerminating;
  outOfService?: GCPolicySpecPodsOutOfService;
  safety?: GCPolicySpecPodsSafety;
}
/**
 * Selects the namespaces whose pods this policy governs. Empty selects all.
 */
export interface GCPolicySpecPodsNamespaceSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecPodsNamespaceSelectorMatchExpression[];
}
/**
 * One requirement on one label.
 */
export interface GCPolicySpecPodsNamespaceSelectorMatchExpression {
  /**
   * The key of the label.
   */
  key: string;
  /**
   * In and NotIn compare the label with the values, Exists and DoesNotExist look only at its presence. NotIn also matches when the label is absent.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * The values of In and NotIn. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[];
}
/**
 * Selects the pods that this policy governs, by their labels. Empty selects all.
 */
export interface GCPolicySpecPodsPodSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecPodsPodSelectorMatchExpression[];
}
/**
 * One requirement on one label.
 */
export interface GCPolicySpecPodsPodSelectorMatchExpression {
  /**
   * The key of the label.
   */
  key: string;
  /**
   * In and NotIn compare the label with the values, Exists and DoesNotExist look only at its presence. NotIn also matches when the label is absent.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * The values of In and NotIn. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[];
}
/**
 * Removes pods that have finished: those in any phase but Pending, Running and Unknown. Evicted pods go first, then the oldest.
 */
export interface GCPolicySpecPodsTerminated {
  /**
   * How many governed finished pods are kept in the whole cluster; the surplus is deleted. Pods that cannot be deleted now (FinalizerHeld, JobUncounted, JobUnfinished) do not count. 0 or less turns this limit off.
   */
  threshold?: number;
  /**
   * How many governed finished pods are kept in each namespace; the surplus is deleted. Pods that cannot be deleted now do not count. Absent, 0 or less turns this limit off.
   */
  perNamespaceThreshold?: number;
  /**
   * How long a pod is kept after its last container finished, such as 24h. Absent means for ever, 0s means not at all. A finish time before the pod's creation or in the future comes from a node with a wrong clock: then the controller counts from when it first saw the pod finished.
   */
  ttlAfterFinished?: string;
  /**
   * Other times to live for some pods. The first rule that matches a pod takes the place of ttlAfterFinished.
   */
  ttlByReason?: GCPolicySpecPodsTerminatedTtlByReasonItem[];
  /**
   * Whether the annotation gc.dustpan.dev/ttl-after-finished of a pod, a duration such as 10m, may shorten the time to live that this policy gives the pod. It never lengthens it. Without a time to live in the policy, the annotation sets one. A value that is not a duration is ignored.
   */
  honorTTLAnnotation?: boolean;
  /**
   * How many of the newest finished pods of each controller (a ReplicaSet counts as its Deployment) are kept from the times to live and from perNamespaceThreshold. 0 keeps none.
   */
  keepPerOwner?: number;
  /**
   * Whether the pods of a Job (of the API group batch) are kept until the Job is complete or has failed.
   */
  protectUnfinishedJobs?: boolean;
}
/**
 * A time to live for the pods that match all matchers given. At least one matcher must be given.
 */
export interface GCPolicySpecPodsTerminatedTtlByReasonItem {
  /**
   * The phase of the pod.
   */
  phase?: 'Succeeded' | 'Failed';
  /**
   * The reason in the status of the pod, such as Evicted.
   */
  reason?: string;
  /**
   * A pattern for the whole message in the status of the pod: * stands for any text, ? for one character. Empty matches everything.
   */
  messagePattern?: string;
  /**
   * How long such a pod is kept after its last container finished. 0s means not at all.
   */
  ttl: string;
}
/**
 * Removes pods that are bound to a node that no longer exists.
 */
export interface GCPolicySpecPodsOrphaned {
  /**
   * How long a node must be gone before its pods are removed.
   */
  quarantine?: string;
}
/**
 * Removes pods that are being deleted but were never bound to a node.
 */
export interface GCPolicySpecPodsUnscheduledTerminating {}
/**
 * Removes pods that are being deleted on a node that is not ready and has the taint node.kubernetes.io/out-of-service.
 */
export interface GCPolicySpecPodsOutOfService {}
/**
 * Brakes on all rules for pods. Always on.
 */
export interface GCPolicySpecPodsSafety {
  /**
   * How many pods one pass may delete under this policy. 0 means no limit.
   */
  maxDeletesPerPass?: number;
  /**
   * When more than this percentage of the nodes is missing, the orphaned rule trips and removes nothing until it is less again. A node name that no Node had and on which no kubelet has started a pod does not count. 100 never trips.
   */
  maxOrphanedNodesPercent?: number;
}
/**
 * Rules for what lies on the nodes. Absent, this policy says nothing about nodes; without any rule in it, the nodes that it selects are kept from policies of lower priority.
 */
export interface GCPolicySpecNodes {
  nodeSelector?: GCPolicySpecNodesNodeSelector;
  imageGC?: GCPolicySpecNodesImageGC;
  containerGC?: GCPolicySpecNodesContainerGC;
  orphans?: GCPolicySpecNodesOrphans;
  localStorageEviction?: GCPolicySpecNodesLocalStorageEviction;
  nodePressure?: GCPolicySpecNodesNodePressure;
}
/**
 * Selects the nodes that this policy governs, by their labels. Empty selects all.
 */
export interface GCPolicySpecNodesNodeSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecNodesNodeSelectorMatchExpression[];
}
/**
 * One requirement on one label.
 */
export interface GCPolicySpecNodesNodeSelectorMatchExpression {
  /**
   * The key of the label.
   */
  key: string;
  /**
   * In and NotIn compare the label with the values, Exists and DoesNotExist look only at its presence. NotIn also matches when the label is absent.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * The values of In and NotIn. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[];
}
/**
 * Removes unused container images.
 */
export interface GCPolicySpecNodesImageGC {
  /**
   * Usage of the image file system at which unused images are removed. 100 turns removal for space off.
   */
  highThresholdPercent?: number;
  /**
   * Usage of the image file system down to which images are removed. Must be lower than highThresholdPercent.
   */
  lowThresholdPercent?: number;
  inodes?: GCPolicySpecNodesImageGCInodes;
  /**
   * How long an image must have been on the node before it may be removed.
   */
  minimumAge?: string;
  /**
   * How long an image may be unused before it is removed whatever the usage is. 0s means for ever.
   */
  maximumAge?: string;
  /**
   * Other maximum ages for some images. The first entry that matches one of the tags or digests of an image takes the place of maximumAge.
   */
  maximumAgeByImage?: GCPolicySpecNodesImageGCMaximumAgeByImageItem[];
  /**
   * Images that are never removed.
   *
   * Items: A pattern for a full image reference, such as registry.example.com/base/* or *@sha256:0123…; * stands for any text, ? for one character. An image that was pulled by its digest has no tag; name@* matches it, name:* does not.
   */
  keep?: string[];
  /**
   * What imageGCHighThresholdPercent of the kubelets is set to. Only used to warn that the kubelet may remove what this policy keeps.
   */
  kubeletHighThresholdPercent?: number;
  /**
   * How many images one pass may remove from a node. 0 means no limit.
   */
  maxImagesPerPass?: number;
  /**
   * Whether the minimum age of an image doubles when it is pulled again within 24 hours of its removal.
   */
  repullBackoff?: boolean;
}
/**
 * Removes unused images for inodes too, in the same order. Absent, only bytes count. A file system that reports no inodes, such as btrfs, is unknown: nothing is removed for them.
 */
export interface GCPolicySpecNodesImageGCInodes {
  /**
   * Used inodes of the image file system at which unused images are removed. 100 turns removal for inodes off.
   */
  highThresholdPercent?: number;
  /**
   * Used inodes of the image file system down to which images are removed. Must be lower than highThresholdPercent.
   */
  lowThresholdPercent?: number;
}
/**
 * A maximum age for the images that match a pattern.
 */
export interface GCPolicySpecNodesImageGCMaximumAgeByImageItem {
  /**
   * A pattern for a full image reference, as in keep, such as registry.example.com/ci/*.
   */
  image: string;
  /**
   * How long such an image may be unused before it is removed whatever the usage is. 0s means for ever.
   */
  maximumAge: string;
}
/**
 * Removes dead containers and what they leave behind.
 */
export interface GCPolicySpecNodesContainerGC {
  /**
   * How old a dead container must be before it may be removed.
   */
  minimumAge?: string;
  /**
   * How many dead attempts of each container of a pod are kept. 0 keeps none, -1 means no limit. The newest attempt in a pod that has not finished is always kept.
   */
  maxPerPodContainer?: number;
  /**
   * How many dead containers are kept on a node. 0 keeps none, -1 means no limit. The newest attempts in pods that have not finished are always kept.
   */
  maxContainers?: number;
  /**
   * Whether dead pod sandboxes are removed; the newest one of a pod that still exists is kept.
   */
  sandboxes?: boolean;
  logs?: GCPolicySpecNodesContainerGCLogs;
}
/**
 * Removes log files of containers. Absent, no log file is removed.
 */
export interface GCPolicySpecNodesContainerGCLogs {
  /**
   * Whether the log directories of pods that are gone are removed.
   */
  orphanedDirectories?: boolean;
  /**
   * Whether links to log files that are gone are removed.
   */
  brokenLinks?: boolean;
  /**
   * How many rotated log files of each container are kept. 0 keeps none, -1 means no limit.
   */
  maxRotatedPerContainer?: number;
  /**
   * How many bytes of log files of each pod are kept; rotated files go, oldest first. Empty means no limit.
   */
  maxBytesPerPod?: string;
  /**
   * The size of a running container's current log file above which its pod gets a warning Event, in mode DryRun too and also with the keep label. The log file is never cut. Set it well above the kubelet's containerLogMaxSize. Empty or 0 means no warnings.
   */
  warnBytesPerContainer?: string;
}
/**
 * What happens to the orphaned resources of pods that neither the API server nor the runtime knows. Absent, they are only reported.
 */
export interface GCPolicySpecNodesOrphans {
  /**
   * Whether orphaned control groups of pods are removed or only reported. A control group with a process is never removed.
   */
  podCgroups?: 'Report' | 'Remove';
  /**
   * Whether orphaned pod directories of the kubelet are removed or only reported. A directory with a mount below it, or with files of a volume that outlives its pod, is never removed.
   */
  podDirectories?: 'Report' | 'Remove';
}
/**
 * Warns about pods that come near their limits of local storage, and evicts those that exceed them.
 */
export interface GCPolicySpecNodesLocalStorageEviction {
  /**
   * Percentages of a limit at which a pod is warned about. Empty means no warnings.
   *
   * Items: A percentage of a limit.
   */
  warnAtPercent?: number[];
  /**
   * The percentage of a limit above which a pod is evicted. Below 100 it goes ahead of the kubelet, and gracefully.
   */
  evictAtPercent?: number;
  /**
   * Whether an eviction waits for the disruption budgets of the pod.
   */
  respectPodDisruptionBudgets?: boolean;
  /**
   * The grace period of an eviction. -1 means that of the pod; 0 counts as 1, so that no pod is forgotten while its containers run.
   */
  gracePeriodSeconds?: number;
  defaultLimits?: GCPolicySpecNodesLocalStorageEvictionDefaultLimits;
}
/**
 * Limits for pods that declare none.
 */
export interface GCPolicySpecNodesLocalStorageEvictionDefaultLimits {
  /**
   * Limit of each emptyDir volume, such as 10Gi. Empty means none.
   */
  emptyDir?: string;
  /**
   * Limit of all local storage of a pod. Empty means none.
   */
  pod?: string;
  /**
   * Limit of the writable layer and logs of each container. Empty means none.
   */
  container?: string;
}
/**
 * Warns before a node runs out of disk, inodes or memory, frees disk ahead of the kubelet, and evicts pods only if evictPods is true. It removes images only where imageGC is set, and containers and logs only where containerGC is set.
 */
export interface GCPolicySpecNodesNodePressure {
  thresholds?: GCPolicySpecNodesNodePressureThresholds;
  minimumReclaim?: GCPolicySpecNodesNodePressureMinimumReclaim;
  /**
   * How long a threshold must be crossed before a pod is evicted. Images and containers are removed at once.
   */
  gracePeriod?: string;
  /**
   * How long the condition PressureAhead of a node stays after the pressure has ended.
   */
  transitionPeriod?: string;
  /**
   * dustpan warns when a threshold will be crossed within this time at the present growth. 0s means no forecast.
   */
  forecast?: string;
  /**
   * Whether a pod is evicted where the removal of images and containers does not free enough. At most one pod a minute on a node, within its disruption budgets.
   */
  evictPods?: boolean;
}
/**
 * How much must be available, as a percentage of the capacity or as a quantity, in the kubelet's forms. 0% and 100% turn a threshold off. Choose values above those of the kubelet, so that dustpan acts first.
 */
export interface GCPolicySpecNodesNodePressureThresholds {
  /**
   * A threshold for the free bytes of the file system of the kubelet.
   */
  'nodefs.available'?: string;
  /**
   * A threshold for the free inodes of the file system of the kubelet.
   */
  'nodefs.inodesFree'?: string;
  /**
   * A threshold for the free bytes of the file system of the images.
   */
  'imagefs.available'?: string;
  /**
   * A threshold for the free inodes of the file system of the images.
   */
  'imagefs.inodesFree'?: string;
  /**
   * A threshold for the memory that pods can still get, as the kubelet computes it. dustpan only warns about memory.
   */
  'memory.available'?: string;
}
/**
 * How much more than a threshold is freed once it is crossed, in the same forms. Absent means until the threshold is met.
 */
export interface GCPolicySpecNodesNodePressureMinimumReclaim {
  /**
   * How much more than the threshold is freed of the free bytes of the file system of the kubelet.
   */
  'nodefs.available'?: string;
  /**
   * How much more than the threshold is freed of the free inodes of the file system of the kubelet.
   */
  'nodefs.inodesFree'?: string;
  /**
   * How much more than the threshold is freed of the free bytes of the file system of the images.
   */
  'imagefs.available'?: string;
  /**
   * How much more than the threshold is freed of the free inodes of the file system of the images.
   */
  'imagefs.inodesFree'?: string;
}
/**
 * What dustpan makes of this policy. Written by the controller.
 */
export interface GCPolicyStatus {
  /**
   * The generation of the spec that this status is about.
   */
  observedGeneration?: number;
  /**
   * When the controller last finished a pass under this policy.
   */
  lastPassTime?: string;
  /**
   * Ready (all is well), Accepted (the policy can be followed), Enforcing (it removes things) and Degraded (something is in its way).
   */
  conditions?: GCPolicyStatusCondition[];
  pods?: GCPolicyStatusPods;
  nodes?: GCPolicyStatusNodes;
}
/**
 * One aspect of the state of this object.
 */
export interface GCPolicyStatusCondition {
  /**
   * When the status of this condition last changed.
   */
  lastTransitionTime: string;
  /**
   * What a person should know about it. May be empty.
   */
  message: string;
  /**
   * The generation of the spec that this condition is about.
   */
  observedGeneration?: number;
  /**
   * Why the condition has this status, in one CamelCase word.
   */
  reason: string;
  /**
   * Whether the condition holds.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * The name of the condition.
   */
  type: string;
}
/**
 * Figures of the last pass over the pods.
 */
export interface GCPolicyStatusPods {
  /**
   * Pods that this policy governs.
   */
  governed?: number;
  /**
   * Governed pods that have finished, including those that cannot be deleted now and count for no threshold.
   */
  terminated?: number;
  /**
   * Governed pods that are due for deletion.
   */
  due?: number;
  /**
   * Governed pods that will be due at a known time.
   */
  waiting?: number;
  /**
   * Governed pods that are being deleted and wait only for their finalizers.
   */
  held?: number;
  /**
   * Pods deleted under this policy so far.
   */
  deletedTotal?: number;
  /**
   * Deletions that failed in the last pass.
   */
  errorsLastPass?: number;
  /**
   * Missing nodes that governed pods refer to. A name counts only if a Node had it or a kubelet has started a pod on it.
   */
  missingNodes?: number;
}
/**
 * Figures of the reports of the governed nodes.
 */
export interface GCPolicyStatusNodes {
  /**
   * Nodes that this policy governs.
   */
  desired?: number;
  /**
   * Governed nodes whose agent has reported under the current generation.
   */
  upToDate?: number;
  /**
   * Governed nodes whose report is degraded.
   */
  degraded?: number;
  /**
   * Governed nodes whose kubelet may remove images that this policy keeps.
   */
  keepListAtRisk?: number;
  /**
   * Images on governed nodes that may be removed.
   */
  imagesRemovable?: number;
  /**
   * Bytes of the images on governed nodes that may be removed.
   */
  imageBytesReclaimable?: number;
  /**
   * Bytes freed by removing images on governed nodes, as the agents count them since they started.
   */
  imageBytesReclaimed?: number;
  /**
   * Dead containers on governed nodes that may be removed.
   */
  containersRemovable?: number;
  /**
   * Pods on governed nodes that are near a limit of local storage.
   */
  storageWarnings?: number;
  /**
   * Pods on governed nodes that are to be evicted.
   */
  evictionRequests?: number;
}
