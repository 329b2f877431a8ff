// @ts-nocheck
// Made from crds/gc.dustpan.dev_gcpolicies.yaml by npm run generate. Do not edit.

/**
 * A GCPolicy defines which pods, images, containers and files dustpan may remove. If several policies match an object, exactly one governs it: the policy with the highest priority, then the first by name. Without a policy, dustpan removes nothing.
 */
export interface GCPolicy {
  /**
   * The versioned schema of this object, gc.dustpan.dev/v1alpha1.
   */
  apiVersion?: string | undefined;
  /**
   * The kind of this object, GCPolicy.
   */
  kind?: string | undefined;
  /**
   * Standard object metadata.
   */
  metadata?: {
    name: string;
    uid?: string | undefined;
    generation?: number | undefined;
    resourceVersion?: string | undefined;
    labels?: Record<string, string> | undefined;
    annotations?: Record<string, string> | undefined;
    creationTimestamp?: string | undefined;
    ownerReferences?: {
      apiVersion: string;
      kind: string;
      name: string;
      uid: string;
      controller?: boolean | undefined;
      blockOwnerDeletion?: boolean | undefined;
    }[];
  };
  spec: GCPolicySpec;
  status?: GCPolicyStatus | undefined;
}
/**
 * The rules of the policy. An absent block is off. An empty block ({}) is on, with its defaults.
 */
export interface GCPolicySpec {
  /**
   * DryRun (the default) plans, counts and reports, and removes nothing. Enforce also removes.
   */
  mode?: 'DryRun' | 'Enforce' | undefined;
  /**
   * If several policies match an object, the policy with the highest priority governs it; among equal priorities, the first by name. Default 0. Only policies that overlap need it.
   */
  priority?: number | undefined;
  pods?: GCPolicySpecPods | undefined;
  nodes?: GCPolicySpecNodes | undefined;
}
/**
 * Rules for pods; the controller applies them. If absent, this policy governs no pods. If present without a rule, it protects the pods that it selects from policies of lower priority.
 */
export interface GCPolicySpecPods {
  namespaceSelector?: GCPolicySpecPodsNamespaceSelector | undefined;
  /**
   * Names of namespaces whose pods this policy does not govern, even if namespaceSelector selects them; * stands for any text, ? for one character: kube-*. Default: none.
   *
   * Items: The name of a namespace, or a pattern.
   */
  excludeNamespaces?: string[] | undefined;
  podSelector?: GCPolicySpecPodsPodSelector | undefined;
  terminated?: GCPolicySpecPodsTerminated | undefined;
  orphaned?: GCPolicySpecPodsOrphaned | undefined;
  unscheduledTerminating?: GCPolicySpecPodsUnscheduledTerminating | undefined;
  outOfService?: GCPolicySpecPodsOutOfService | undefined;
  safety?: GCPolicySpecPodsSafety | undefined;
}
/**
 * Selects by labels the namespaces whose pods this policy governs. Empty (the default) selects all.
 */
export interface GCPolicySpecPodsNamespaceSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecPodsNamespaceSelectorMatchExpression[] | undefined;
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
   * In and NotIn compare the label with the values. Exists and DoesNotExist check only whether the label is present. NotIn also matches an object without the label.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * Values that In and NotIn compare with. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[] | undefined;
}
/**
 * Selects by labels the pods that this policy governs. Empty (the default) selects all.
 */
export interface GCPolicySpecPodsPodSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecPodsPodSelectorMatchExpression[] | undefined;
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
   * In and NotIn compare the label with the values. Exists and DoesNotExist check only whether the label is present. NotIn also matches an object without the label.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * Values that In and NotIn compare with. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[] | undefined;
}
/**
 * Deletes finished pods: pods in any phase except Pending, Running and Unknown. The times to live apply first, then perNamespaceThreshold, then threshold; each counts only the pods that the earlier ones leave. Over a threshold, the controller deletes evicted pods first, then the oldest. For clusters in which finished pods of Jobs or evicted pods accumulate.
 */
export interface GCPolicySpecPodsTerminated {
  /**
   * Number of governed finished pods to keep in the whole cluster; the controller deletes the surplus. Default 12500; 0 or less turns this limit off. Pods that cannot be deleted now (FinalizerHeld, JobUncounted, JobUnfinished) do not count.
   */
  threshold?: number | undefined;
  /**
   * Number of governed finished pods to keep in each namespace; the controller deletes the surplus. Absent (the default), 0 or less turns this limit off. Pods that cannot be deleted now do not count. For shared clusters: the pods of one namespace cannot use up the threshold.
   */
  perNamespaceThreshold?: number | undefined;
  /**
   * Time to live: duration, such as 24h, for which a pod is kept after its last container finished. Absent (the default) means forever; 0s means that the pod is due at once. If a container has no finish time, or the time is before the pod's creation or in the future because the node's clock is wrong, the time counts at which the API server stored the phase of the pod (metadata.managedFields). Without that, the condition DisruptionTarget counts, else the time at which the controller first observed the pod as finished.
   */
  ttlAfterFinished?: string | undefined;
  /**
   * Times to live for pods with a given phase, reason, exit code or message. The first entry that matches a pod replaces ttlAfterFinished for it. Default: none. With an entry, for example, the controller keeps failed pods longer, or evicted pods shorter.
   */
  ttlByReason?: GCPolicySpecPodsTerminatedTtlByReasonItem[] | undefined;
  /**
   * Whether a pod's annotation gc.dustpan.dev/ttl-after-finished, a duration such as 10m, may shorten the pod's time to live. Default false. The annotation never lengthens the time to live. If the policy sets none for the pod, the annotation sets one. A value that is not a duration is ignored. For owners who want their pods deleted earlier.
   */
  honorTTLAnnotation?: boolean | undefined;
  /**
   * Number of newest finished pods of each owner that the times to live and perNamespaceThreshold never delete. 0 (the default) keeps none. The owner is the pod's controller; a ReplicaSet counts as its Deployment, a Job of a CronJob as the CronJob. A pod without a controller has no owner and is not kept. While ReplicaSets or Jobs cannot be listed, a policy with one of these fields deletes no finished pod (OwnersUnknown). For people who read the logs of the last runs.
   */
  keepPerOwner?: number | undefined;
  keepPerOwnerByPhase?: GCPolicySpecPodsTerminatedKeepPerOwnerByPhase | undefined;
  /**
   * Whether the pods of a Job (API group batch) are kept until the Job is complete or has failed. Default false. For people who read the logs of failed pods while the Job retries.
   */
  protectUnfinishedJobs?: boolean | undefined;
}
/**
 * Sets the time to live of the pods that match all of the given matchers: phase, reason, exitCodes and messagePattern. At least one matcher is required.
 */
export interface GCPolicySpecPodsTerminatedTtlByReasonItem {
  /**
   * Matches the phase of the pod (status.phase).
   */
  phase?: 'Succeeded' | 'Failed' | undefined;
  /**
   * Matches the reason of the pod (status.reason), such as Evicted, or the reason of a container, such as OOMKilled, as the STATUS column of kubectl shows it, without a prefix such as Init: there. * stands for any text, ? for one character, as in OutOf*. Containers that completed count only if the pod succeeded; init containers only if they failed and no other container did. Evicted also matches a failed pod without a reason whose condition DisruptionTarget has the reason TerminationByKubelet.
   */
  reason?: string | undefined;
  /**
   * Matches the exit code of a container, such as 137: any of these. The same containers count as for reason. If reason is given too, and is not that of the pod, one container must match both.
   *
   * Items: The exit code of a container. On Windows it may be negative, such as -1073741510.
   */
  exitCodes?: number[] | undefined;
  /**
   * Matches the whole message in the pod's status (status.message): * stands for any text, ? for one character. Empty matches every message.
   */
  messagePattern?: string | undefined;
  /**
   * Duration, such as 1h, for which a matching pod is kept after its last container finished. 0s means that the pod is due at once.
   */
  ttl: string;
}
/**
 * As keepPerOwner, with a number for each phase. If both are set, a pod that either keeps is kept.
 */
export interface GCPolicySpecPodsTerminatedKeepPerOwnerByPhase {
  /**
   * Number of newest pods in phase Succeeded of each owner. 0 (the default) keeps none.
   */
  succeeded?: number | undefined;
  /**
   * Number of newest pods in phase Failed of each owner. 0 (the default) keeps none.
   */
  failed?: number | undefined;
}
/**
 * Deletes pods that are bound to a node that no longer exists. The pod collector of kube-controller-manager deletes such pods too, unless it is off.
 */
export interface GCPolicySpecPodsOrphaned {
  /**
   * Duration for which a node must be missing before its pods are deleted. Restarts when the circuit breaker closes. Default 40s.
   */
  quarantine?: string | undefined;
}
/**
 * Deletes pods that are terminating (have a deletion timestamp) but were never bound to a node. The pod collector of kube-controller-manager deletes such pods too, unless it is off.
 */
export interface GCPolicySpecPodsUnscheduledTerminating {}
/**
 * Deletes terminating pods on a node that is not ready and has the taint node.kubernetes.io/out-of-service. The pod collector of kube-controller-manager deletes such pods too, unless it is off.
 */
export interface GCPolicySpecPodsOutOfService {}
/**
 * Limits on deletions: how many pods per pass, the circuit breaker for missing nodes, and the hold of a large deletion by new rules. They always apply; if this block is absent, its defaults apply.
 */
export interface GCPolicySpecPodsSafety {
  /**
   * Largest number of pods that one pass may delete under this policy. 0 (the default) means no limit. For clusters whose webhooks or controllers cannot keep up with many deletions. With a limit, pods on nodes out of service, orphaned and unscheduled pods are deleted before finished ones.
   */
  maxDeletesPerPass?: number | undefined;
  /**
   * Circuit breaker of the rule orphaned: while more than this percentage of the nodes, and more than one node, is missing, the rule deletes no pods. A node counts for an hour if pods ran there when it went missing, other than those of DaemonSets and static pods: nodes that vanish one by one open the circuit breaker too, and a scale-down that drains its nodes does not. While no Node exists, it deletes none either, not even pods on invented node names. Default 20; with 0 a single missing node is enough; 100 turns the circuit breaker off. A node name counts only if a Node with this name existed or a kubelet started a pod on it.
   */
  maxOrphanedNodesPercent?: number | undefined;
  /**
   * A large removal by new rules waits for holdFor: in mode Enforce, more than this number of pods, and more than half of the pods that this policy governs. 0 turns it off. Absent (the default): more than 10 pods, and more than a tenth of those that the rules could ever delete; pods that run do not count there. The controller counts all pods that are due, whatever maxDeletesPerPass.
   */
  holdAbove?: number | undefined;
  /**
   * Duration, from the first pass under new rules in mode Enforce, in which no pass may remove more than holdAbove allows. Rules are new after a change of this policy, of what the policies above it select, or of the version of dustpan. The annotation gc.dustpan.dev/skip-hold with the id of the rules (status.hold.rulesId) as its value ends it at once. Default 5m.
   */
  holdFor?: string | undefined;
}
/**
 * Rules for images, containers, logs and local storage on nodes; each node's agent applies them. If absent, this policy governs no nodes. If present without a rule, it protects the nodes that it selects from policies of lower priority.
 */
export interface GCPolicySpecNodes {
  nodeSelector?: GCPolicySpecNodesNodeSelector | undefined;
  /**
   * Names of namespaces whose pods this policy neither evicts nor warns about, for local storage, node pressure or namespaceBudgets; the pods.excludeNamespaces of the same policy count too. As there, * and ? are allowed. Default: none.
   *
   * Items: The name of a namespace, or a pattern.
   */
  excludeNamespaces?: string[] | undefined;
  /**
   * Whether pods whose owner refuses evictions are evicted only where the kubelet would evict them: above 100 % of a limit that they declare, and never for node pressure. The annotations are those of the cluster autoscaler (cluster-autoscaler.kubernetes.io/safe-to-evict: "false"), Karpenter (karpenter.sh/do-not-disrupt: "true" or a duration) and the descheduler (descheduler.alpha.kubernetes.io/prefer-no-eviction). Default true.
   */
  respectDoNotDisrupt?: boolean | undefined;
  imageGC?: GCPolicySpecNodesImageGC | undefined;
  containerGC?: GCPolicySpecNodesContainerGC | undefined;
  orphans?: GCPolicySpecNodesOrphans | undefined;
  checkpoints?: GCPolicySpecNodesCheckpoints | undefined;
  leftovers?: GCPolicySpecNodesLeftovers | undefined;
  localStorageEviction?: GCPolicySpecNodesLocalStorageEviction | undefined;
  nodePressure?: GCPolicySpecNodesNodePressure | undefined;
  /**
   * Budgets of local storage for namespaces. When a namespace exceeds one, the controller warns, in mode DryRun too: by an Event in the namespace, the condition BudgetsExceeded of this policy, and a metric. It deletes and evicts nothing. The first entry that selects a namespace applies to it; none applies to excludeNamespaces. An excess ends below 90 % of the budget. Default: none. For clusters that several teams share.
   */
  namespaceBudgets?: GCPolicySpecNodesNamespaceBudget[] | undefined;
}
/**
 * Selects by labels the nodes that this policy governs. Empty (the default) selects all.
 */
export interface GCPolicySpecNodesNodeSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecNodesNodeSelectorMatchExpression[] | undefined;
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
   * In and NotIn compare the label with the values. Exists and DoesNotExist check only whether the label is present. NotIn also matches an object without the label.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * Values that In and NotIn compare with. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[] | undefined;
}
/**
 * Removes unused container images, the least recently used first. If absent, the agent removes no image. For nodes whose kubelet removes images too late, or images that you need.
 */
export interface GCPolicySpecNodesImageGC {
  /**
   * Usage of the image file system, in percent, at or above which the agent removes unused images. Default 85; 100 turns removal for space off.
   */
  highThresholdPercent?: number | undefined;
  /**
   * Usage of the image file system, in percent, at which the agent stops removing images. Default 80; must be lower than highThresholdPercent.
   */
  lowThresholdPercent?: number | undefined;
  inodes?: GCPolicySpecNodesImageGCInodes | undefined;
  /**
   * Duration for which an image must have been on the node before the agent may remove it. Default 2m. For images that are pulled before their pods start.
   */
  minimumAge?: string | undefined;
  /**
   * Duration for which an image may stay unused; after it, the agent removes the image at any disk usage. 0s (the default) turns removal by age off. For clusters that must not keep old images, however much space is free.
   */
  maximumAge?: string | undefined;
  /**
   * Maximum ages for images that match a pattern, instead of maximumAge. The first entry that matches a name of an image sets its age. An image with several names has the longest age of them, as in only: a removal removes all names. Default: none. For images that age faster or slower than others, such as those of CI.
   */
  maximumAgeByImage?: GCPolicySpecNodesImageGCMaximumAgeByImageItem[] | undefined;
  /**
   * Patterns for images that the agent never removes. Default: none. In mode Enforce the agent also pins these images in containerd, up to maxPinnedPercent, so that the kubelet keeps them too. For other runtimes see kubeletHighThresholdPercent. For images whose pods must start without a registry.
   *
   * Items: Pattern for an image reference, such as registry.example.com/base/* or *@sha256:0123…; * stands for any text, ? for one character. It is completed as image names are: nginx means docker.io/library/nginx, but * /nginx any registry. Without tag or digest it matches all of them. An image that was pulled by digest has no tag: name@* matches it, name:* does not.
   */
  keep?: string[] | undefined;
  /**
   * Patterns, as in keep, for the only images that the agent may remove for space, for age or for node pressure. Empty (the default) means all. An image with several names is removed only if patterns match all of them. Entries of remove select images by themselves. For administrators who let dustpan remove only some images, such as those of CI.
   *
   * Items: Pattern for an image reference, as in keep, such as registry.example.com/ci/*. A complete digest also selects the tags of its repository, a pattern such as *@* does not; tags that all match cover the digests. An image without a name matches only by its complete ID.
   */
  only?: string[] | undefined;
  /**
   * Images that the agent removes from all governed nodes as soon as nothing uses them, at any disk usage. Pins, keep, minimumAge, holdAbove and maxImagesPerPass still apply. The condition ImagesRemoved of the policy has the progress. Default: none. For images that must leave all nodes, such as vulnerable ones; pods can pull them again.
   */
  remove?: GCPolicySpecNodesImageGCRemoveItem[] | undefined;
  /**
   * Value of imageGCHighThresholdPercent in the configuration of the governed nodes' kubelets. Default 85. dustpan only compares it with highThresholdPercent, to warn (KeepListAtRisk) when a kubelet may remove images that keep or only protect.
   */
  kubeletHighThresholdPercent?: number | undefined;
  /**
   * Largest part of the image file system, in percent, for images that the agent pins in the runtime, so that the kubelet keeps them too: the sandbox image, those of keep, then those of pinWanted. Default 30. Above it, the agent pins no more: the kubelet cannot remove pinned images, so it would evict pods. 0 pins none. Pins need mode Enforce and containerd.
   */
  maxPinnedPercent?: number | undefined;
  /**
   * Also keeps and pins the images that workloads without a running pod name: those of DaemonSets, CronJobs, suspended Jobs, and of Deployments, StatefulSets and ReplicaSets with 0 replicas. A nodeSelector in the pod template counts. Entries of remove take precedence. Default false. Needs rbac.wantedImages in the values of the chart. For nodes on which such pods must start without a registry.
   */
  pinWanted?: boolean | undefined;
  /**
   * Largest number of images that one pass may remove from a node. 0 (the default) means no limit. For nodes whose disk is slow.
   */
  maxImagesPerPass?: number | undefined;
  /**
   * A large removal by new rules waits for holdFor: in mode Enforce, more than this number of images of a node, and more than half of the images that the node may lose. 0 turns it off. Absent (the default): more than 10 images, and more than a tenth of those that the node may lose.
   */
  holdAbove?: number | undefined;
  /**
   * Duration, from the first pass under new rules in mode Enforce, in which no pass may remove more than holdAbove allows. Rules are new after a change of this policy, of what the policies above it select, or of the version of dustpan. The annotation gc.dustpan.dev/skip-hold with the id of the rules (status.hold.rulesId) as its value ends it at once. Default 5m.
   */
  holdFor?: string | undefined;
  /**
   * Whether the agent removes unused images for an image that a starting pod pulls, if the image would fill the disk up to highThresholdPercent or kubeletHighThresholdPercent, whichever is lower. The order and the protection are those of removals for space. The agent removes none if the image would not fit even then, or if its size is not known. Needs containerd. Default false. For nodes that pull large images.
   */
  pullHeadroom?: boolean | undefined;
  /**
   * Whether the agent doubles the minimum age of an image that is pulled again within 24 hours of its removal. Default true. It protects nodes with a small disk from removing and pulling the same images in turn.
   */
  repullBackoff?: boolean | undefined;
}
/**
 * Removes unused images, in the same order, also when the image file system runs out of inodes. If absent, only bytes count. If the file system reports no inodes (btrfs, for example), the agent removes nothing for inodes. For file systems that images with many small files fill.
 */
export interface GCPolicySpecNodesImageGCInodes {
  /**
   * Used inodes of the image file system, in percent, at or above which the agent removes unused images. Default 85; 100 turns removal for inodes off.
   */
  highThresholdPercent?: number | undefined;
  /**
   * Used inodes of the image file system, in percent, at which the agent stops removing images. Default 80; must be lower than highThresholdPercent.
   */
  lowThresholdPercent?: number | undefined;
}
/**
 * Sets the maximum age of the images that match a pattern.
 */
export interface GCPolicySpecNodesImageGCMaximumAgeByImageItem {
  /**
   * Pattern for an image reference, as in keep, such as registry.example.com/ci/*.
   */
  image: string;
  /**
   * Duration for which a matching image may stay unused; after it, the agent removes the image at any disk usage. 0s means that age never removes it.
   */
  maximumAge: string;
}
/**
 * Removes the images that match a pattern, until a time.
 */
export interface GCPolicySpecNodesImageGCRemoveItem {
  /**
   * Pattern for an image reference, as in keep, such as registry.example.com/app:1.2*. An image with several names is removed only if entries match all of them, as in only.
   */
  image: string;
  /**
   * Time, such as 2026-12-01T00:00:00Z, after which the entry does nothing. Required: an entry that is forgotten must not remove later images that match it.
   */
  until: string;
}
/**
 * Removes dead containers, dead pod sandboxes and, if logs is present, log files. If absent, the agent removes none of them. For nodes on which containers often restart or many pods finish.
 */
export interface GCPolicySpecNodesContainerGC {
  /**
   * Minimum age of a dead container before the agent may remove it. Default 0s. The kubelet keeps one dead container of each container too, and may remove others earlier.
   */
  minimumAge?: string | undefined;
  /**
   * Number of dead attempts to keep of each container of a pod. Default 1; 0 keeps none, -1 means no limit. The newest attempt in a pod that has not finished is always kept.
   */
  maxPerPodContainer?: number | undefined;
  /**
   * Number of dead containers to keep on a node. 0 keeps none, -1 (the default) means no limit. The newest attempts in pods that have not finished are always kept.
   */
  maxContainers?: number | undefined;
  /**
   * Whether the agent removes dead pod sandboxes. Default true. The newest sandbox of a pod that still exists is always kept.
   */
  sandboxes?: boolean | undefined;
  logs?: GCPolicySpecNodesContainerGCLogs | undefined;
}
/**
 * Removes log files of containers. If absent, the agent removes no log file. Rotated logs are removed only with maxRotatedPerContainer or maxBytesPerPod.
 */
export interface GCPolicySpecNodesContainerGCLogs {
  /**
   * Whether the agent removes the log directories of pods that no longer exist, and the logs of attempts that the runtime no longer has, over maxPerPodContainer. Default true.
   */
  orphanedDirectories?: boolean | undefined;
  /**
   * Whether the agent removes symbolic links to log files that no longer exist. Default true.
   */
  brokenLinks?: boolean | undefined;
  /**
   * Number of rotated log files to keep of each container. 0 keeps none, -1 (the default) means no limit.
   */
  maxRotatedPerContainer?: number | undefined;
  /**
   * Size, such as 1Gi, of the rotated log files to keep of each pod. Above it, the agent removes the oldest. Current log files do not count. Empty (the default) means no limit.
   */
  maxBytesPerPod?: string | undefined;
  /**
   * Size, such as 1Gi, of a running container's current log file above which the agent records a warning Event on the pod. Empty (the default) or 0 means no warnings. The agent also warns in mode DryRun and about pods with the keep label, and never truncates the file. Set the value well above the kubelet's containerLogMaxSize.
   */
  warnBytesPerContainer?: string | undefined;
}
/**
 * Removes orphaned resources: control groups and directories of pods that neither the API server nor the container runtime lists. If absent, the agent only reports them. For nodes whose kubelet logs that it finds orphaned pods. Remove also needs agent.orphans of the chart.
 */
export interface GCPolicySpecNodesOrphans {
  /**
   * Whether the agent removes orphaned control groups of pods (Remove) or only reports them (Report, the default). A control group that contains a process is never removed.
   */
  podCgroups?: 'Report' | 'Remove' | undefined;
  /**
   * Whether the agent removes orphaned pod directories of the kubelet (Remove) or only reports them (Report, the default). A directory that contains a mount, or files of a volume that outlives its pod, is never removed. The kubelet's vol_data.json of a CSI volume is removed with the directory if no VolumeAttachment of the volume and the node exists and the kubelet has not written the file for an hour.
   */
  podDirectories?: 'Report' | 'Remove' | undefined;
}
/**
 * Removes checkpoints of containers: the archives that the kubelet stores in its directory checkpoints for a request to its checkpoint API, and never removes. Without a limit, and if absent, the agent only counts them. It never removes an archive that was written in the last ten minutes, that a pod or container of the node names as its image, or whose name is not one that the kubelet gives. For clusters that checkpoint containers regularly. Removal needs agent.checkpoints of the chart.
 */
export interface GCPolicySpecNodesCheckpoints {
  /**
   * Number of archives to keep of each pod. The name of an archive does not separate the namespace from the container, so each container of a pod has this number of its own (containers whose names read the same count as one). The agent removes the oldest above it. 0 keeps none, -1 (the default) means no limit.
   */
  maxPerPod?: number | undefined;
  /**
   * Age after which the agent removes an archive. The later of the time in its name and the time at which it was last written counts. 0s (the default) means no limit.
   */
  maxAge?: string | undefined;
  /**
   * Size, such as 20Gi, of the archives to keep on the node. Above it, the agent removes the oldest, but never the newest one of the node. Empty (the default) means no limit.
   */
  maxBytes?: string | undefined;
}
/**
 * Removes what containerd keeps for no image, container or sandbox. If absent, the agent only reports it. The agent removes references, and containerd deletes what nothing refers to. A leftover must be older than an hour, and unchanged in two searches, ten periods of containergc apart. For nodes on which pulls are interrupted, or on which other clients of containerd have left something.
 */
export interface GCPolicySpecNodesLeftovers {
  /**
   * Whether the agent removes interrupted pulls (Remove) or only reports them (Report, the default). A pull whose downloads or layers still grow is never removed.
   */
  downloads?: 'Report' | 'Remove' | undefined;
  /**
   * Whether the agent removes leases without an expiry that belong to no sandbox (Remove) or only reports them (Report, the default). Do not set Remove where another client of containerd keeps leases in the namespace k8s.io, such as a lazy snapshotter. Never removed are a lease with the label containerd.io/gc.flat, the one that BuildKit makes beside it, and one whose name may be that of a sandbox.
   */
  leases?: 'Report' | 'Remove' | undefined;
  /**
   * Whether the agent starts containerd's collector if nothing refers to snapshots or packed blobs (Remove), or only reports them (Report, the default). What another client has labelled with containerd.io/gc.root is never removed.
   */
  snapshots?: 'Report' | 'Remove' | undefined;
}
/**
 * Warns about pods near a local storage limit and evicts pods above it. The agent reports such pods; the controller verifies and evicts. For nodes that a few pods fill. With evictAtPercent below 100, dustpan usually evicts before the kubelet, which ignores PodDisruptionBudgets.
 */
export interface GCPolicySpecNodesLocalStorageEviction {
  /**
   * Most pods that the controller evicts in the cluster in a minute, for local storage and node pressure together, when this policy governs the node of the next one. Default 10. Besides, each owner of pods loses at most a tenth of its ready pods (at least one) a minute, and not the last ready one while others of it are not ready.
   */
  maxEvictionsPerMinute?: number | undefined;
  /**
   * Percentages of a limit. When a pod's usage exceeds one, the agent records a warning Event on the pod. Default 80 and 95; empty means no warnings.
   *
   * Items: Percentage of a limit.
   */
  warnAtPercent?: number[] | undefined;
  /**
   * Percentage of a limit above which the pod is evicted. Default 100. Below 100, dustpan evicts the pod gracefully before the kubelet kills it. For a volume in memory it is always 100.
   */
  evictAtPercent?: number | undefined;
  /**
   * Whether the controller evicts a pod only if its PodDisruptionBudgets allow it. Default true.
   */
  respectPodDisruptionBudgets?: boolean | undefined;
  /**
   * Grace period of an eviction, in seconds. -1 (the default) means the pod's own. 0 counts as 1, because with 0 the API server would delete the pod while its containers still run.
   */
  gracePeriodSeconds?: number | undefined;
  defaultLimits?: GCPolicySpecNodesLocalStorageEvictionDefaultLimits | undefined;
}
/**
 * Limits for pods that declare none. Default: none. For namespaces without a LimitRange, and for emptyDir volumes.
 */
export interface GCPolicySpecNodesLocalStorageEvictionDefaultLimits {
  /**
   * Limit of each emptyDir volume on disk, such as 10Gi. Empty (the default) means no limit.
   */
  emptyDir?: string | undefined;
  /**
   * Limit of the total local storage of a pod, such as 20Gi. Empty (the default) means no limit.
   */
  pod?: string | undefined;
  /**
   * Limit of the writable layer and logs of each container, such as 5Gi. Empty (the default) means no limit.
   */
  container?: string | undefined;
}
/**
 * Warns before a node runs out of disk, inodes or memory, and frees disk before the kubelet evicts pods. The agent removes images only if imageGC is set, and containers and logs only if containerGC is set. Pods are evicted only if evictPods is true.
 */
export interface GCPolicySpecNodesNodePressure {
  thresholds?: GCPolicySpecNodesNodePressureThresholds | undefined;
  minimumReclaim?: GCPolicySpecNodesNodePressureMinimumReclaim | undefined;
  /**
   * Duration for which a threshold must be crossed before a pod is evicted. Default 1m. The agent removes images and containers without this delay.
   */
  gracePeriod?: string | undefined;
  /**
   * Duration for which the condition PressureAhead of a node remains True after the pressure has ended. Default 5m.
   */
  transitionPeriod?: string | undefined;
  /**
   * The agent warns if, at the current growth, a threshold will be crossed within this duration. Default 1h; 0s means no forecast.
   */
  forecast?: string | undefined;
  /**
   * Whether a pod is evicted if removing images and containers does not free enough. Default false. No pod is evicted for a disk with unused images that only a missing imageGC, or its only, keeps. The controller evicts at most one pod per minute and node, and only if the pod's PodDisruptionBudgets allow it.
   */
  evictPods?: boolean | undefined;
}
/**
 * Minimum available amount of each signal, as a percentage of the capacity or as a quantity, as in the kubelet's configuration. 0% and 100% turn a threshold off. Choose values above the kubelet's, so that dustpan acts first.
 */
export interface GCPolicySpecNodesNodePressureThresholds {
  /**
   * Minimum of free bytes on the kubelet's file system. Default 15%.
   */
  'nodefs.available'?: string | undefined;
  /**
   * Minimum of free inodes on the kubelet's file system. Default 10%.
   */
  'nodefs.inodesFree'?: string | undefined;
  /**
   * Minimum of free bytes on the image file system. Default 20%.
   */
  'imagefs.available'?: string | undefined;
  /**
   * Minimum of free inodes on the image file system. Default 10%.
   */
  'imagefs.inodesFree'?: string | undefined;
  /**
   * Minimum of memory available to pods, as the kubelet computes it. Default 500Mi. dustpan only warns about memory.
   */
  'memory.available'?: string | undefined;
}
/**
 * Amount that the agent frees beyond a crossed threshold, as a percentage or a quantity. Absent (the default) means that it stops when the threshold is met. For nodes that otherwise cross the threshold again soon.
 */
export interface GCPolicySpecNodesNodePressureMinimumReclaim {
  /**
   * Bytes to free on the kubelet's file system beyond the threshold.
   */
  'nodefs.available'?: string | undefined;
  /**
   * Inodes to free on the kubelet's file system beyond the threshold.
   */
  'nodefs.inodesFree'?: string | undefined;
  /**
   * Bytes to free on the image file system beyond the threshold.
   */
  'imagefs.available'?: string | undefined;
  /**
   * Inodes to free on the image file system beyond the threshold.
   */
  'imagefs.inodesFree'?: string | undefined;
}
/**
 * The budgets of the namespaces that namespaceSelector selects. Usage is that of writable layers, emptyDir volumes on disk and logs of pods, on the nodes that this policy governs. The controller adds up reports of at most 15 minutes. The usage of a namespace is unknown on other nodes, and on nodes where it is not one of the 64 largest: an excess neither begins nor ends by unknown usage.
 */
export interface GCPolicySpecNodesNamespaceBudget {
  namespaceSelector?: GCPolicySpecNodesNamespaceBudgetNamespaceSelector | undefined;
  /**
   * Size, such as 20Gi, that the pods of a namespace may use on one node. Empty (the default) means no budget per node.
   */
  perNode?: string | undefined;
  /**
   * Size, such as 200Gi, that the pods of a namespace may use on all nodes that this policy governs. Empty (the default) means no such budget.
   */
  cluster?: string | undefined;
}
/**
 * Selects namespaces by labels. Empty (the default) selects all.
 */
export interface GCPolicySpecNodesNamespaceBudgetNamespaceSelector {
  /**
   * Labels that must all have exactly these values.
   */
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  /**
   * Requirements that must all be met.
   */
  matchExpressions?: GCPolicySpecNodesNamespaceBudgetNamespaceSelectorMatchExpression[] | undefined;
}
/**
 * One requirement on one label.
 */
export interface GCPolicySpecNodesNamespaceBudgetNamespaceSelectorMatchExpression {
  /**
   * The key of the label.
   */
  key: string;
  /**
   * In and NotIn compare the label with the values. Exists and DoesNotExist check only whether the label is present. NotIn also matches an object without the label.
   */
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * Values that In and NotIn compare with. Must be empty with Exists and DoesNotExist.
   *
   * Items: A value of the label.
   */
  values?: string[] | undefined;
}
/**
 * State of the policy. The controller writes it.
 */
export interface GCPolicyStatus {
  /**
   * Generation of the spec that this status describes.
   */
  observedGeneration?: number | undefined;
  /**
   * Time of the last pass over the pods, to five minutes: without another change it is written every five minutes. An older time means that no pass has ended since; see the conditions, and dustpan status.
   */
  lastPassTime?: string | undefined;
  /**
   * Conditions: Ready (accepted and not degraded), Accepted (the spec is valid), Enforcing (mode Enforce is in effect), Holding (a large deletion by new rules waits), Degraded (a problem limits the policy), BudgetsExceeded (a namespace exceeds its budget; absent without namespaceBudgets), ImagesRemoved (no governed node has an image that nodes.imageGC.remove selects any more; absent without such entries).
   */
  conditions?: GCPolicyStatusCondition[] | undefined;
  /**
   * Entries of nodes.imageGC.remove that have matched an image on some node, also one that is removed by now. No removal for the others is known.
   *
   * Items: Pattern of the entry.
   */
  removeMatched?: string[] | undefined;
  hold?: GCPolicyStatusHold | undefined;
  pods?: GCPolicyStatusPods | undefined;
  nodes?: GCPolicyStatusNodes | undefined;
}
/**
 * One condition of this object.
 */
export interface GCPolicyStatusCondition {
  /**
   * Time at which the status of this condition last changed.
   */
  lastTransitionTime: string;
  /**
   * Details for a person. May be empty.
   */
  message: string;
  /**
   * Generation of the spec that this condition describes.
   */
  observedGeneration?: number | undefined;
  /**
   * Reason for the status, one CamelCase word.
   */
  reason: string;
  /**
   * True, False or Unknown.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * Name of the condition.
   */
  type: string;
}
/**
 * The rules that are in force in mode Enforce, and the large deletion of pods that waits.
 */
export interface GCPolicyStatusHold {
  /**
   * Id of the rules that the controller applied to pods in its last pass. It changes with this policy, with what the policies above it select, and with the version of dustpan.
   */
  rulesId: string;
  /**
   * Time of the first pass under these rules. pods.safety.holdFor counts from it.
   */
  since: string;
  /**
   * End of the hold. Absent if nothing waits.
   */
  until?: string | undefined;
  /**
   * Pods that are due and wait for the end of the hold. Absent if nothing waits.
   */
  due?: number | undefined;
}
/**
 * Counts at the end of the controller's last pass over the pods. A pod that the pass deleted counts in deletedTotal alone.
 */
export interface GCPolicyStatusPods {
  /**
   * Pods that this policy governs.
   */
  governed?: number | undefined;
  /**
   * Governed pods that have finished. Includes pods that cannot be deleted now; no threshold counts those.
   */
  terminated?: number | undefined;
  /**
   * Governed pods that are due for deletion and that the last pass did not delete.
   */
  due?: number | undefined;
  /**
   * Governed pods that become due at a known time.
   */
  waiting?: number | undefined;
  /**
   * Governed pods that are terminating and wait only for their finalizers.
   */
  held?: number | undefined;
  /**
   * Pods deleted under this policy since it was created.
   */
  deletedTotal?: number | undefined;
  /**
   * Pods under this policy whose deletion failed in the last pass, or in an earlier one and is not tried again yet.
   */
  errorsLastPass?: number | undefined;
  /**
   * Missing nodes to which governed pods refer; while there are any, also nodes that went missing within an hour while pods ran there. A node name counts only if a Node with this name existed, a kubelet started a pod on it, or a scheduler bound one to it.
   */
  missingNodes?: number | undefined;
}
/**
 * Totals of the reports (NodeGCReport) of the governed nodes.
 */
export interface GCPolicyStatusNodes {
  /**
   * Nodes that this policy governs.
   */
  desired?: number | undefined;
  /**
   * Governed nodes whose agent has reported under the current generation of this policy.
   */
  upToDate?: number | undefined;
  /**
   * Governed nodes whose report has the condition Degraded.
   */
  degraded?: number | undefined;
  /**
   * Governed nodes whose kubelet may remove images that the policy keeps.
   */
  keepListAtRisk?: number | undefined;
  /**
   * Governed nodes on which a large removal of images by new rules waits.
   */
  holding?: number | undefined;
  /**
   * Images on governed nodes that may be removed.
   */
  imagesRemovable?: number | undefined;
  /**
   * Bytes of the images on governed nodes that may be removed.
   */
  imageBytesReclaimable?: number | undefined;
  /**
   * Bytes freed by removing images on governed nodes, as their reports count them in units[].freedBytesTotal.
   */
  imageBytesReclaimed?: number | undefined;
  /**
   * Dead containers on governed nodes that may be removed.
   */
  containersRemovable?: number | undefined;
  /**
   * Pods on governed nodes that are near a local storage limit.
   */
  storageWarnings?: number | undefined;
  /**
   * Pods on governed nodes that agents have requested the controller to evict.
   */
  evictionRequests?: number | undefined;
}

import { fitted } from '../report/fit.ts';
import { readable } from '../report/read.ts';
const statusSchema = {"type":"object","properties":{"observedGeneration":{"type":"integer","minimum":0,"maximum":9007199254740991},"lastPassTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"conditions":{"type":"array","x-kubernetes-list-map-keys":["type"],"maxItems":8,"items":{"type":"object","required":["lastTransitionTime","message","reason","status","type"],"properties":{"lastTransitionTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"message":{"type":"string","maxLength":32768},"observedGeneration":{"type":"integer","minimum":0,"maximum":9007199254740991},"reason":{"type":"string","minLength":1,"maxLength":1024,"pattern":"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},"status":{"type":"string","enum":["True","False","Unknown"]},"type":{"type":"string","maxLength":316,"pattern":"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"}},"additionalProperties":false}},"removeMatched":{"type":"array","maxItems":32,"uniqueItems":true,"items":{"type":"string","maxLength":512}},"hold":{"type":"object","required":["rulesId","since"],"properties":{"rulesId":{"type":"string","maxLength":64},"since":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"until":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"due":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false},"pods":{"type":"object","properties":{"governed":{"type":"integer","minimum":0,"maximum":2147483647},"terminated":{"type":"integer","minimum":0,"maximum":2147483647},"due":{"type":"integer","minimum":0,"maximum":2147483647},"waiting":{"type":"integer","minimum":0,"maximum":2147483647},"held":{"type":"integer","minimum":0,"maximum":2147483647},"deletedTotal":{"type":"integer","minimum":0,"maximum":9007199254740991},"errorsLastPass":{"type":"integer","minimum":0,"maximum":2147483647},"missingNodes":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false},"nodes":{"type":"object","properties":{"desired":{"type":"integer","minimum":0,"maximum":2147483647},"upToDate":{"type":"integer","minimum":0,"maximum":2147483647},"degraded":{"type":"integer","minimum":0,"maximum":2147483647},"keepListAtRisk":{"type":"integer","minimum":0,"maximum":2147483647},"holding":{"type":"integer","minimum":0,"maximum":2147483647},"imagesRemovable":{"type":"integer","minimum":0,"maximum":2147483647},"imageBytesReclaimable":{"type":"integer","minimum":0,"maximum":9007199254740991},"imageBytesReclaimed":{"type":"integer","minimum":0,"maximum":9007199254740991},"containersRemovable":{"type":"integer","minimum":0,"maximum":2147483647},"storageWarnings":{"type":"integer","minimum":0,"maximum":2147483647},"evictionRequests":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false}},"additionalProperties":false};

/** Cuts a status to the bounds of the CRD. */
export const fitStatus: <S extends GCPolicyStatus>(status: S) => S = (status) => fitted(status, statusSchema);

/** Reads a status; what the CRD refuses is absent. */
export const readStatus = (json: unknown): GCPolicyStatus => readable(json, statusSchema) ?? {};
