// @ts-nocheck
// Made from crds/gc.dustpan.dev_nodegcreports.yaml by npm run generate. Do not edit.

/**
 * A NodeGCReport describes what dustpan's agent found and removed on one node. It has the node's name, its owner is the Node, and only the agent on that node writes it.
 */
export interface NodeGCReport {
  /**
   * The versioned schema of this object, gc.dustpan.dev/v1alpha1.
   */
  apiVersion?: string | undefined;
  /**
   * The kind of this object, NodeGCReport.
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
  status?: NodeGCReportStatus | undefined;
}
/**
 * The report.
 */
export interface NodeGCReportStatus {
  /**
   * Time at which the agent wrote this report.
   */
  reportTime?: string | undefined;
  /**
   * Version of the agent.
   */
  agentVersion?: string | undefined;
  policy?: NodeGCReportStatusPolicy | undefined;
  /**
   * Conditions: Ready (not degraded), KeepListAtRisk (the kubelet may remove images that the policy keeps), PressureAhead (the node is short of disk, inodes or memory, or will be soon), Holding (a large removal of images by new rules of the policy waits), Degraded (a problem limits the agent).
   */
  conditions?: NodeGCReportStatusCondition[] | undefined;
  runtime?: NodeGCReportStatusRuntime | undefined;
  imageFileSystem?: NodeGCReportStatusImageFileSystem | undefined;
  images?: NodeGCReportStatusImages | undefined;
  containers?: NodeGCReportStatusContainers | undefined;
  sandboxes?: NodeGCReportStatusSandboxes | undefined;
  logs?: NodeGCReportStatusLogs | undefined;
  checkpoints?: NodeGCReportStatusCheckpoints | undefined;
  /**
   * Last pass of each unit of the agent.
   */
  units?: NodeGCReportStatusUnit[] | undefined;
  /**
   * Largest images, containers, sandboxes, logs and checkpoints on the node, largest first.
   */
  largestOffenders?: NodeGCReportStatusLargestOffender[] | undefined;
  orphans?: NodeGCReportStatusOrphans | undefined;
  leftovers?: NodeGCReportStatusLeftovers | undefined;
  usage?: NodeGCReportStatusUsage | undefined;
  /**
   * Number of active warnings about local storage, including those not listed.
   */
  storageWarningCount?: number | undefined;
  /**
   * Active warnings about local storage, nearest to the limit first; at most 32.
   */
  storageWarnings?: NodeGCReportStatusStorageWarning[] | undefined;
  /**
   * Number of pods to be evicted, including those not listed.
   */
  evictionRequestCount?: number | undefined;
  /**
   * Available disk, inodes and memory, as the kubelet measures them, with a forecast. If its value is older than two minutes, the agent measures the disk. Absent if the policy has no nodePressure.
   */
  signals?: NodeGCReportStatusSignal[] | undefined;
  /**
   * Pods that the agent requests the controller to evict; at most 32.
   */
  evictionRequests?: NodeGCReportStatusEvictionRequest[] | undefined;
}
/**
 * Policy that governs the node. Absent if none does.
 */
export interface NodeGCReportStatusPolicy {
  /**
   * Name of the policy.
   */
  name: string;
  /**
   * UID of the policy.
   */
  uid?: string | undefined;
  /**
   * Generation of the policy that the agent applies.
   */
  observedGeneration: number;
  /**
   * Mode of the policy.
   */
  mode?: 'DryRun' | 'Enforce' | undefined;
}
/**
 * One condition of this object.
 */
export interface NodeGCReportStatusCondition {
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
 * Container runtime of the node.
 */
export interface NodeGCReportStatusRuntime {
  /**
   * Name of the runtime, such as containerd.
   */
  name?: string | undefined;
  /**
   * Version of the runtime.
   */
  version?: string | undefined;
  /**
   * CRI version that the runtime supports, such as v1.
   */
  apiVersion?: string | undefined;
}
/**
 * File system that holds the images.
 */
export interface NodeGCReportStatusImageFileSystem {
  /**
   * Mount point of the file system on the node.
   */
  mountpoint?: string | undefined;
  /**
   * Usage, in percent of the capacity.
   */
  usedPercent?: number | undefined;
  /**
   * Size of the file system, in bytes.
   */
  capacityBytes?: number | undefined;
  /**
   * Free bytes.
   */
  availableBytes?: number | undefined;
  /**
   * Bytes used by images.
   */
  usedBytes?: number | undefined;
  /**
   * Total number of inodes.
   */
  inodes?: number | undefined;
  /**
   * Free inodes.
   */
  availableInodes?: number | undefined;
  /**
   * Inodes used by images.
   */
  usedInodes?: number | undefined;
}
/**
 * Images on the node. One image may be in several groups. Bytes are those on the disk, packed and unpacked; if they are not known, the sizes that the runtime reports.
 */
export interface NodeGCReportStatusImages {
  total?: NodeGCReportStatusImagesTotal | undefined;
  inUse?: NodeGCReportStatusImagesInUse | undefined;
  pinned?: NodeGCReportStatusImagesPinned | undefined;
  pinnedByDustpan?: NodeGCReportStatusImagesPinnedByDustpan | undefined;
  kept?: NodeGCReportStatusImagesKept | undefined;
  removable?: NodeGCReportStatusImagesRemovable | undefined;
  /**
   * Images that pods of this node wait for and that the node does not have, in the order in which they were compared with the free space. Absent if there are none, or if the pods are not known.
   */
  pulls?: NodeGCReportStatusImagesPull[] | undefined;
  /**
   * Entries of nodes.imageGC.remove that have not ended, with the images they match that are left on the node. Absent if there are none.
   */
  removeList?: NodeGCReportStatusImagesRemoveListItem[] | undefined;
  unmatched?: NodeGCReportStatusImagesUnmatched | undefined;
  /**
   * Most recently removed images, newest first. The agent drops an entry 24 hours after the removal.
   */
  lastRemoved?: NodeGCReportStatusImagesLastRemovedItem[] | undefined;
}
/**
 * All images.
 */
export interface NodeGCReportStatusImagesTotal {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size. Layers that images share count once.
   */
  bytes?: number | undefined;
}
/**
 * Images that a container or a pod on this node uses.
 */
export interface NodeGCReportStatusImagesInUse {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size. Layers that images share count once.
   */
  bytes?: number | undefined;
}
/**
 * Images that the runtime reports as pinned.
 */
export interface NodeGCReportStatusImagesPinned {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size. Layers that images share count once.
   */
  bytes?: number | undefined;
}
/**
 * Images that the agent has pinned in the runtime, so that the kubelet keeps them too. Absent if the runtime is not containerd, or could not be read.
 */
export interface NodeGCReportStatusImagesPinnedByDustpan {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size. Layers that images share count once.
   */
  bytes?: number | undefined;
}
/**
 * Images that the policy keeps, by its keep list or because only selects others.
 */
export interface NodeGCReportStatusImagesKept {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size. Layers that images share count once.
   */
  bytes?: number | undefined;
}
/**
 * Images that may be removed.
 */
export interface NodeGCReportStatusImagesRemovable {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * What the removal of all of them frees.
   */
  bytes?: number | undefined;
  /**
   * The same size as a quantity with one decimal, such as 7.0Gi, for people. Read `bytes` in programs.
   */
  size?: string | undefined;
}
/**
 * An image, and the pods that wait for it.
 */
export interface NodeGCReportStatusImagesPull {
  /**
   * Reference of the image, as in the spec of the first pod.
   */
  image: string;
  /**
   * Namespaces and names of the pods.
   *
   * Items: Namespace and name of a pod.
   */
  pods: string[];
  /**
   * Number of pods that wait for the image. The list may have fewer.
   */
  podCount: number;
  /**
   * Why the container of the first pod waits, as the kubelet reports it. Absent if it has not reported yet.
   */
  reason?: string | undefined;
  /**
   * Packed layers that the pull downloads. Absent while they are not known.
   */
  totalBytes?: number | undefined;
  /**
   * Of totalBytes, those on the disk. Absent while no pull is in progress.
   */
  receivedBytes?: number | undefined;
  /**
   * Attempts that the agent has seen since it started. There may have been more. Absent if it has seen none.
   */
  attempts?: number | undefined;
  /**
   * Bytes that the pull still needs on the disk, packed and unpacked. The agent estimates the unpacked size from the images of the node. Absent while the size is not known.
   */
  neededBytes?: number | undefined;
  /**
   * Free space for it, below the threshold at which images are removed, and without that of the images before it. Absent if the disk is not known.
   */
  availableBytes?: number | undefined;
  /**
   * Whether it fits. Freeing: it does, after the agent removes unused images. Short: it does not, whatever the policy lets the agent remove. Off: it does not, and no policy in mode Enforce lets the agent remove images for it now: nodes.imageGC.pullHeadroom is not set, a hold applies, or the node has the keep label, for example. Unknown: the agent cannot compare it, because the size of the image, the disk or the policy is not known.
   */
  fit: 'Fits' | 'Freeing' | 'Short' | 'Off' | 'Unknown';
}
/**
 * An entry, and the images that are left.
 */
export interface NodeGCReportStatusImagesRemoveListItem {
  /**
   * Pattern of the entry.
   */
  image: string;
  /**
   * Whether the entry has matched an image on this node since the agent started, also one that is removed by now. If it never has on any node, the entry may be misspelt.
   */
  matched?: boolean | undefined;
  /**
   * Images that a container or a pod on this node uses.
   */
  inUse: number;
  /**
   * Images that have no tag, of a repository of which the entry names a tag. A newer image may have taken their tag, so they may be images that the entry means. The agent keeps them.
   */
  untagged?: number | undefined;
  /**
   * Images that are left for another reason, which dustpan why gives.
   */
  kept: number;
}
/**
 * Entries of nodes.imageGC that match no image of the node, by their indexes in the lists of the policy and generation in status.policy. Absent until the agent has compared them.
 */
export interface NodeGCReportStatusImagesUnmatched {
  /**
   * Indexes in keep.
   *
   * Items: An index; the first entry has 0.
   */
  keep: number[];
  /**
   * Indexes in only.
   *
   * Items: An index; the first entry has 0.
   */
  only: number[];
  /**
   * Indexes in maximumAgeByImage.
   *
   * Items: An index; the first entry has 0.
   */
  maximumAgeByImage: number[];
}
/**
 * An image that the agent removed.
 */
export interface NodeGCReportStatusImagesLastRemovedItem {
  /**
   * ID of the image.
   */
  id: string;
  /**
   * A tag of the image; a digest if it has no tag.
   */
  name?: string | undefined;
  /**
   * Time of the removal.
   */
  time: string;
  /**
   * Reason code of the removal.
   */
  reason: string;
  /**
   * GCPolicy that governed the node.
   */
  policy: string;
}
/**
 * Containers on the node.
 */
export interface NodeGCReportStatusContainers {
  /**
   * All containers, running or dead.
   */
  total?: number | undefined;
  /**
   * Running containers.
   */
  running?: number | undefined;
  /**
   * Dead containers that may be removed.
   */
  removable?: number | undefined;
  /**
   * The containers, sandboxes, logs, orphaned resources and leftovers of containerd that the agent removed last, newest first, those for node pressure included: ten containers and sandboxes, and ten others.
   */
  lastRemoved?: NodeGCReportStatusContainersLastRemovedItem[] | undefined;
}
/**
 * An object that the agent removed.
 */
export interface NodeGCReportStatusContainersLastRemovedItem {
  /**
   * Kind of the object.
   */
  kind:
    | 'Container'
    | 'Sandbox'
    | 'LogDirectory'
    | 'LogLink'
    | 'LogFile'
    | 'PodDirectory'
    | 'PodCgroup'
    | 'Checkpoint'
    | 'Leftover';
  /**
   * The id of a container, sandbox or leftover, else the path.
   */
  id: string;
  /**
   * The name of a container or a leftover.
   */
  name?: string | undefined;
  pod?: NodeGCReportStatusContainersLastRemovedItemPod | undefined;
  /**
   * When the agent removed it.
   */
  time: string;
  /**
   * Why, as a reason code; for node pressure, the signal.
   */
  reason: string;
  /**
   * The GCPolicy that governed the node.
   */
  policy: string;
  /**
   * Bytes of the files that were removed. Absent if none or unknown.
   */
  bytes?: number | undefined;
}
/**
 * The pod that it belonged to. Absent if unknown.
 */
export interface NodeGCReportStatusContainersLastRemovedItemPod {
  /**
   * Its namespace. Absent if unknown.
   */
  namespace?: string | undefined;
  /**
   * Its name. Absent if unknown.
   */
  name?: string | undefined;
  /**
   * Its UID.
   */
  uid: string;
}
/**
 * Pod sandboxes on the node.
 */
export interface NodeGCReportStatusSandboxes {
  /**
   * All sandboxes, ready or dead.
   */
  total?: number | undefined;
  /**
   * Dead sandboxes that may be removed.
   */
  removable?: number | undefined;
}
/**
 * Log files of containers on the node.
 */
export interface NodeGCReportStatusLogs {
  /**
   * Size of all log files, in bytes.
   */
  bytes?: number | undefined;
  /**
   * Size of the log files that may be removed, in bytes.
   */
  removableBytes?: number | undefined;
}
/**
 * Checkpoints of containers that the kubelet has stored. Absent if the kubelet's directory checkpoints could not be read.
 */
export interface NodeGCReportStatusCheckpoints {
  /**
   * All archives. The agent reads at most 10000 entries of the directory.
   */
  total?: number | undefined;
  /**
   * Size of these archives on disk.
   */
  bytes?: number | undefined;
  /**
   * Archives that may be removed.
   */
  removable?: number | undefined;
  /**
   * Size of the archives that may be removed.
   */
  removableBytes?: number | undefined;
}
/**
 * Last pass of one unit.
 */
export interface NodeGCReportStatusUnit {
  /**
   * Name of the unit.
   */
  name: 'imagegc' | 'containergc' | 'localstorage' | 'nodepressure' | 'leftovers';
  /**
   * Time at which the pass ended.
   */
  lastPassTime: string;
  /**
   * Result of the pass: Idle (nothing to do), Succeeded (all removals done), Short (not enough could be removed), Failed (an error occurred), Unknown (the data needed for a decision is not available).
   */
  result: 'Idle' | 'Succeeded' | 'Short' | 'Failed' | 'Unknown';
  /**
   * Objects that the pass removed.
   */
  removed?: number | undefined;
  /**
   * Bytes that the pass freed.
   */
  freedBytes?: number | undefined;
  /**
   * Removals that failed in the pass.
   */
  errors?: number | undefined;
  /**
   * Objects removed since totalsSince.
   */
  removedTotal?: number | undefined;
  /**
   * Bytes freed since totalsSince.
   */
  freedBytesTotal?: number | undefined;
  /**
   * Time from which the totals count. A restart of the agent does not reset them.
   */
  totalsSince?: string | undefined;
  /**
   * Last error, in one line.
   */
  message?: string | undefined;
}
/**
 * An object that uses space on the node.
 */
export interface NodeGCReportStatusLargestOffender {
  /**
   * Kind of the object.
   */
  kind: 'Image' | 'Container' | 'Sandbox' | 'LogDirectory' | 'LogFile' | 'Checkpoint';
  /**
   * ID of an image, container or sandbox, or path of a file.
   */
  id?: string | undefined;
  /**
   * Name of the pod or image.
   */
  name?: string | undefined;
  /**
   * Namespace of the pod that owns the object.
   */
  namespace?: string | undefined;
  /**
   * Size, in bytes.
   */
  bytes: number;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string | undefined;
}
/**
 * Orphaned resources of pods that neither the API server nor the container runtime lists. The agent removes pod directories and control groups if nodes.orphans of the policy is set to Remove. A field is absent if the agent cannot read the directory.
 */
export interface NodeGCReportStatusOrphans {
  podDirectories?: NodeGCReportStatusOrphansPodDirectories | undefined;
  logDirectories?: NodeGCReportStatusOrphansLogDirectories | undefined;
  podCgroups?: NodeGCReportStatusOrphansPodCgroups | undefined;
}
/**
 * Orphaned pod directories of the kubelet.
 */
export interface NodeGCReportStatusOrphansPodDirectories {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size in bytes, without mounted volumes. A lower bound if there are very many files.
   */
  bytes?: number | undefined;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansPodDirectoriesLargestItem[] | undefined;
}
/**
 * Orphaned pod directory.
 */
export interface NodeGCReportStatusOrphansPodDirectoriesLargestItem {
  /**
   * Path on the node.
   */
  path: string;
  /**
   * UID of the pod to which it belonged.
   */
  podUID: string;
  /**
   * Time of the last change, usually when the pod ended.
   */
  since?: string | undefined;
  /**
   * Size, in bytes.
   */
  bytes?: number | undefined;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string | undefined;
  /**
   * What prevents the removal of the directory: a mount point, a file that may outlive the pod, or the name of a VolumeAttachment. Absent if nothing does, or if it has no name.
   */
  holder?: string | undefined;
  /**
   * Command for the node that unmounts what is mounted in the directory. Absent if nothing is.
   */
  remedy?: string | undefined;
}
/**
 * Orphaned log directories of pods.
 */
export interface NodeGCReportStatusOrphansLogDirectories {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Total size, in bytes.
   */
  bytes?: number | undefined;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansLogDirectoriesLargestItem[] | undefined;
}
/**
 * Orphaned log directory.
 */
export interface NodeGCReportStatusOrphansLogDirectoriesLargestItem {
  /**
   * Path on the node.
   */
  path: string;
  /**
   * UID of the pod to which it belonged.
   */
  podUID: string;
  /**
   * Time of the last change, usually when the pod ended.
   */
  since?: string | undefined;
  /**
   * Size, in bytes.
   */
  bytes?: number | undefined;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string | undefined;
}
/**
 * Orphaned control groups of pods.
 */
export interface NodeGCReportStatusOrphansPodCgroups {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Memory still charged to them, in bytes.
   */
  bytes?: number | undefined;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansPodCgroupsLargestItem[] | undefined;
}
/**
 * Orphaned control group.
 */
export interface NodeGCReportStatusOrphansPodCgroupsLargestItem {
  /**
   * Path on the node.
   */
  path: string;
  /**
   * UID of the pod to which it belonged.
   */
  podUID: string;
  /**
   * Time of the last change, usually when the pod ended.
   */
  since?: string | undefined;
  /**
   * Size, in bytes.
   */
  bytes?: number | undefined;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string | undefined;
}
/**
 * What containerd keeps for no image, container or sandbox, searched every ten periods of containergc. Only what is older than an hour, or of unknown age, counts.
 */
export interface NodeGCReportStatusLeftovers {
  /**
   * Why the leftovers are unknown, for example because the runtime is not containerd. Then the other fields are absent.
   */
  unknown?: string | undefined;
  /**
   * Time of the search.
   */
  measuredTime?: string | undefined;
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * What their removal frees, in bytes.
   */
  bytes?: number | undefined;
  /**
   * True if the size of a part is unknown, so that the bytes are a lower bound.
   */
  lowerBound?: boolean | undefined;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusLeftoversLargestItem[] | undefined;
  /**
   * Directories of containerd's overlayfs without a snapshot; a lower bound. Absent if unknown, or before the second search.
   */
  directories?: number | undefined;
  /**
   * Snapshots without a directory; a lower bound. Absent if unknown, or before the second search.
   */
  missingDirectories?: number | undefined;
  /**
   * Number of the other namespaces of containerd.
   */
  namespaceCount?: number | undefined;
  /**
   * The ten largest of the other namespaces of containerd, such as moby and buildkit. dustpan never removes anything from them.
   */
  namespaces?: NodeGCReportStatusLeftoversNamespace[] | undefined;
}
/**
 * Leftover.
 */
export interface NodeGCReportStatusLeftoversLargestItem {
  /**
   * Download of an interrupted pull, lease without an expiry that is no sandbox's, writable snapshot without a container, or content: layers and packed blobs that nothing refers to, or that only another client of containerd has labelled.
   */
  kind: 'Download' | 'Lease' | 'Snapshot' | 'Content';
  /**
   * Kind and name in containerd, for example `lease 1767225600-aBcD`; `unreferenced`: everything that containerd deletes when its collector runs.
   */
  id: string;
  /**
   * Repository of its image, if containerd knows it; otherwise the name in containerd.
   */
  name?: string | undefined;
  /**
   * What keeps it, for example a lease or the label containerd.io/gc.root; `nothing` if containerd deletes it when its collector runs.
   */
  holder?: string | undefined;
  /**
   * Time of its last change. Absent if containerd does not say when a part of it was made.
   */
  since?: string | undefined;
  /**
   * What its removal frees after that of all leftovers before it, in bytes. At most, if one of them stays and shares bytes.
   */
  bytes?: number | undefined;
  /**
   * True if the size of a part is unknown, so that the bytes are a lower bound.
   */
  lowerBound?: boolean | undefined;
  /**
   * Reason code for which the agent keeps or removes it.
   */
  reason?: string | undefined;
}
/**
 * Namespace.
 */
export interface NodeGCReportStatusLeftoversNamespace {
  /**
   * Its name.
   */
  name: string;
  /**
   * Layers and packed blobs that the namespace of the kubelet does not have, in bytes.
   */
  bytes?: number | undefined;
  /**
   * True if it has writable layers, whose sizes are unknown.
   */
  lowerBound?: boolean | undefined;
}
/**
 * What uses the disks of the node, with or without a policy. What is unknown is absent. Written when a figure has moved by more than 5 % of itself and 1 % of the disk (256 MiB, if that is less), at most once a minute.
 */
export interface NodeGCReportStatusUsage {
  /**
   * Time of the measurement. Sizes of images and logs are those of the last passes before it.
   */
  measuredTime?: string | undefined;
  /**
   * What is unknown, and why, in one line. Absent if all is known.
   */
  unknown?: string | undefined;
  /**
   * When the disk that is full first will be full, and what fills it, in one line. Absent if unknown, if nothing grows, or if no disk is full within a week.
   */
  forecast?: string | undefined;
  /**
   * File systems of the node.
   */
  fileSystems?: NodeGCReportStatusUsageFileSystem[] | undefined;
  /**
   * Measured pods.
   */
  podCount?: number | undefined;
  /**
   * Pods that the node may have, without finished ones (status.allocatable.pods of the Node). Absent if unknown.
   */
  podSlots?: number | undefined;
  /**
   * Pods bound to the node that have not finished. Absent if unknown.
   */
  podSlotsTaken?: number | undefined;
  /**
   * Their emptyDirs that are not in memory.
   */
  volumeCount?: number | undefined;
  /**
   * True if an emptyDir is not measured, so that volumeCount, and volumesBytes of the file system, are lower bounds.
   */
  volumesLowerBound?: boolean | undefined;
  /**
   * The pods that use most, and those that the kubelet would evict first, largest first.
   */
  pods?: NodeGCReportStatusUsagePod[] | undefined;
  /**
   * The namespaces whose pods use most, largest first.
   */
  namespaces?: NodeGCReportStatusUsageNamespace[] | undefined;
  otherNamespaces?: NodeGCReportStatusUsageOtherNamespaces | undefined;
  /**
   * The workloads whose pods have used most in the last 7 days of watching, the highest first: those with at least 64 MiB, or half of a limit. Absent if the agent is older.
   */
  workloads?: NodeGCReportStatusUsageWorkload[] | undefined;
  /**
   * For how many seconds the agent has watched what the pods of the node use, at most 7 days. Before, a workload that is not listed may have used any bytes. Absent if it may have used them since: a running pod was not measured.
   */
  watchedSeconds?: number | undefined;
  otherWorkloads?: NodeGCReportStatusUsageOtherWorkloads | undefined;
  /**
   * EmptyDirs on disk, and PersistentVolumeClaims that the kubelet measures (no block volumes, and not those of each driver), the fullest first; an emptyDir without a sizeLimit by its part of the disk of the node. Absent if unknown.
   */
  volumes?: NodeGCReportStatusUsageVolume[] | undefined;
  otherVolumes?: NodeGCReportStatusUsageOtherVolumes | undefined;
  /**
   * The largest images, largest first.
   */
  images?: NodeGCReportStatusUsageImage[] | undefined;
  otherImages?: NodeGCReportStatusUsageOtherImages | undefined;
}
/**
 * A file system.
 */
export interface NodeGCReportStatusUsageFileSystem {
  /**
   * nodefs (of the kubelet, with volumes and logs; with images and writable layers too if they have no other), imagefs (of images and writable layers).
   */
  name: 'nodefs' | 'imagefs';
  /**
   * Size of the file system.
   */
  capacityBytes: number;
  /**
   * Bytes that are available to ordinary users.
   */
  availableBytes: number;
  /**
   * Used bytes, as `df` counts. The classes add up to it.
   */
  usedBytes: number;
  /**
   * Images that a container or a pod of this node uses, unpacked.
   */
  imagesInUseBytes?: number | undefined;
  /**
   * All other images, unpacked.
   */
  imagesUnusedBytes?: number | undefined;
  /**
   * Packed copies of images, used or unused. Absent if the bytes of images on the disk are not known.
   */
  packedBytes?: number | undefined;
  /**
   * Writable layers of containers.
   */
  layersBytes?: number | undefined;
  /**
   * EmptyDirs that are not in memory.
   */
  volumesBytes?: number | undefined;
  /**
   * Logs of containers whose pod exists.
   */
  logsBytes?: number | undefined;
  /**
   * Checkpoints of containers that the kubelet has stored.
   */
  checkpointsBytes?: number | undefined;
  /**
   * Directories and logs of pods that do not exist.
   */
  orphansBytes?: number | undefined;
  /**
   * Layers and packed copies that the container runtime keeps for no image and no container, such as those of interrupted pulls. Absent if unknown, or if the runtime is not containerd.
   */
  leftoversBytes?: number | undefined;
  /**
   * Other namespaces of the container runtime, such as those of Docker and BuildKit. Absent if unknown, or if the runtime is not containerd.
   */
  namespacesBytes?: number | undefined;
  /**
   * Everything else, such as the operating system and host paths; also packed copies, leftovers and other namespaces where the runtime is not containerd.
   */
  otherBytes?: number | undefined;
  /**
   * Unused images that nothing protects, and the logs, checkpoints and leftovers that the policy removes.
   */
  collectableBytes?: number | undefined;
  collectable?: NodeGCReportStatusUsageFileSystemCollectable | undefined;
  /**
   * Growth in the last 15 minutes. Absent if unknown, or if nothing grows.
   */
  growthBytesPerHour?: number | undefined;
  /**
   * When no byte is available, at the present growth. Absent if unknown, or if nothing grows.
   */
  fullTime?: string | undefined;
  /**
   * The same, if everything collectable is removed by then.
   */
  fullAfterCollectionTime?: string | undefined;
  /**
   * Median error of the forecasts of the last day, each compared with the growth that was measured an hour later, in percent of the larger one. Above 50 the times are absent. Absent in the first hour of an agent.
   */
  forecastErrorPercent?: number | undefined;
}
/**
 * The same by class. A class that is absent is unknown, or is never collected.
 */
export interface NodeGCReportStatusUsageFileSystemCollectable {
  /**
   * Unused images that nothing protects, unpacked.
   */
  imagesUnusedBytes?: number | undefined;
  /**
   * Their packed copies.
   */
  packedBytes?: number | undefined;
  /**
   * Logs that the policy removes, without those of deleted pods.
   */
  logsBytes?: number | undefined;
  /**
   * Logs of deleted pods that the policy removes.
   */
  orphansBytes?: number | undefined;
  /**
   * Checkpoints that the policy removes.
   */
  checkpointsBytes?: number | undefined;
  /**
   * Leftovers that the policy removes, or would after a second search, as of the last search. Absent if unknown: then collectableBytes is without them.
   */
  leftoversBytes?: number | undefined;
}
/**
 * A pod.
 */
export interface NodeGCReportStatusUsagePod {
  /**
   * Its namespace.
   */
  namespace: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * Its UID.
   */
  uid: string;
  /**
   * Sum of the following fields.
   */
  bytes: number;
  /**
   * Writable layers of its containers.
   */
  layersBytes?: number | undefined;
  /**
   * EmptyDirs that are not in memory.
   */
  volumesBytes?: number | undefined;
  /**
   * Logs of its containers.
   */
  logsBytes?: number | undefined;
  /**
   * True if a part is not measured, so that the sum is a lower bound.
   */
  lowerBound?: boolean | undefined;
  /**
   * Its limit of ephemeral storage, as the kubelet adds it up - a container without a limit counts as 0. Absent if none has one.
   */
  limitBytes?: number | undefined;
  /**
   * Its request of ephemeral storage, as the kubelet counts it. Absent if it has none.
   */
  requestBytes?: number | undefined;
  /**
   * Its priority. Absent if it has none, which counts as 0.
   */
  priority?: number | undefined;
  /**
   * Its place in the order in which the kubelet would evict now if the file system of volumes and logs (nodefs) were too full: first those over their request, then by lower priority, then by usage over the request. Absent if it would not be evicted, or if the usage of a pod is unknown.
   */
  evictionPlace?: number | undefined;
}
/**
 * A namespace.
 */
export interface NodeGCReportStatusUsageNamespace {
  /**
   * Its name.
   */
  name: string;
  /**
   * Measured pods.
   */
  pods: number;
  /**
   * Sum of the following fields.
   */
  bytes: number;
  /**
   * Writable layers.
   */
  layersBytes?: number | undefined;
  /**
   * EmptyDirs that are not in memory.
   */
  volumesBytes?: number | undefined;
  /**
   * Logs.
   */
  logsBytes?: number | undefined;
  /**
   * True if a part of its pods is not measured, so that the sum is a lower bound.
   */
  lowerBound?: boolean | undefined;
  /**
   * Growth in the last 15 minutes. Absent if unknown, or if nothing grows.
   */
  growthBytesPerHour?: number | undefined;
}
/**
 * The namespaces that are not listed. Absent if there are none.
 */
export interface NodeGCReportStatusUsageOtherNamespaces {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Their size.
   */
  bytes?: number | undefined;
}
/**
 * A workload.
 */
export interface NodeGCReportStatusUsageWorkload {
  /**
   * Its namespace.
   */
  namespace: string;
  /**
   * Its kind, with the API group if it is not apps or batch. Derived: Deployment, from the name of the ReplicaSet and the hash in the labels of the pod; CronJob, from a scheduled time at the end of the name of the Job. Pod: it has no controller; StaticPod: a static pod of the kubelet.
   */
  kind: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * Its measured pods on this node. Absent if unknown.
   */
  pods?: number | undefined;
  /**
   * Writable layers, logs and emptyDirs of these pods together. Absent if unknown.
   */
  bytes?: number | undefined;
  /**
   * True if a part of its pods is not measured, so that bytes is a lower bound.
   */
  lowerBound?: boolean | undefined;
  /**
   * Growth in the last 15 minutes. Absent if unknown, or if nothing grows.
   */
  growthBytesPerHour?: number | undefined;
  /**
   * The highest usage of one of its pods, as the kubelet counts for the limit of a pod.
   */
  highestBytes: number;
  /**
   * That pod.
   */
  highestPod?: string | undefined;
  /**
   * For how long the workload was watched, at most 7 days. Begins anew when a container or an emptyDir is added.
   */
  watchedSeconds: number;
  /**
   * Request of ephemeral storage of a pod. Absent if none.
   */
  requestBytes?: number | undefined;
  /**
   * Limit of ephemeral storage of a pod. Absent if none.
   */
  limitBytes?: number | undefined;
  /**
   * Its containers, sidecars and emptyDirs on disk.
   */
  parts?: NodeGCReportStatusUsageWorkloadPart[] | undefined;
  /**
   * Number of parts that are not listed. Absent if there are none.
   */
  otherParts?: number | undefined;
}
/**
 * A container or an emptyDir.
 */
export interface NodeGCReportStatusUsageWorkloadPart {
  /**
   * container, sidecar (an init container that is restarted), volume (an emptyDir).
   */
  kind: 'container' | 'sidecar' | 'volume';
  /**
   * Its name.
   */
  name: string;
  /**
   * The highest usage in one pod, of a container its writable layer and its logs together. Absent if it was never measured.
   */
  highestBytes?: number | undefined;
  /**
   * Its request of ephemeral storage. Absent if none.
   */
  requestBytes?: number | undefined;
  /**
   * Its limit of ephemeral storage, or the sizeLimit of the emptyDir. Absent if none.
   */
  limitBytes?: number | undefined;
}
/**
 * The workloads that are not listed. Absent if there are none.
 */
export interface NodeGCReportStatusUsageOtherWorkloads {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * The highest usage of one of their pods in the last 7 days of watching.
   */
  highestBytes?: number | undefined;
}
/**
 * A volume.
 */
export interface NodeGCReportStatusUsageVolume {
  /**
   * emptyDir, or pvc (a PersistentVolumeClaim, which is no local storage and counts for no limit or budget of it).
   */
  kind: 'emptyDir' | 'pvc';
  /**
   * Its namespace.
   */
  namespace: string;
  /**
   * A pod of the node that mounts it.
   */
  pod: string;
  /**
   * Name of the claim; of an emptyDir, its name in the pod.
   */
  name: string;
  /**
   * Pods of the node that mount it.
   */
  pods?: number | undefined;
  /**
   * Bytes in use.
   */
  usedBytes: number;
  /**
   * Capacity of the claim, or sizeLimit of the emptyDir. Absent if none.
   */
  limitBytes?: number | undefined;
  /**
   * Percentage of it that is in use; of a claim 100 = no byte is available. Absent without a limit.
   */
  usedPercent?: number | undefined;
  /**
   * Percentage of the inodes of the claim that is in use. Absent if it counts none.
   */
  inodesPercent?: number | undefined;
  /**
   * Growth in the last 15 minutes. Absent if unknown, or if nothing grows.
   */
  growthBytesPerHour?: number | undefined;
  /**
   * When it is full, at the present growth, within a week. Absent if unknown, or if it does not grow.
   */
  fullTime?: string | undefined;
  /**
   * Time of the kubelet's measurement. Absent if unknown.
   */
  measuredTime?: string | undefined;
}
/**
 * The volumes that are not listed. Absent if there are none.
 */
export interface NodeGCReportStatusUsageOtherVolumes {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * None of those whose percentage is known is fuller; without a sizeLimit, in percent of the disk of the node. Absent if none is known.
   */
  highestPercent?: number | undefined;
  /**
   * Those of which it is unknown how full they are, because the size of the disk is. Absent if there are none.
   */
  unknownCount?: number | undefined;
  /**
   * Those known to be full within a week at the present growth. Absent if there are none.
   */
  fillingCount?: number | undefined;
}
/**
 * An image.
 */
export interface NodeGCReportStatusUsageImage {
  /**
   * ID of the image.
   */
  id: string;
  /**
   * A tag of the image; a digest if it has no tag.
   */
  name?: string | undefined;
  /**
   * Size on the disk, packed and unpacked, with what it shares; if that is not known, the size that the runtime reports.
   */
  bytes: number;
  /**
   * The bytes that no other image has. Absent if they are not known.
   */
  uniqueBytes?: number | undefined;
  /**
   * The packed layers, which are part of bytes. Absent if they are not known.
   */
  packedBytes?: number | undefined;
  /**
   * Why its removal may free less or more. Absent if the bytes are exact, or not known.
   */
  inexactBecause?: string | undefined;
  /**
   * A container or a pod of this node uses it.
   */
  inUse: boolean;
  /**
   * When it was last used; if never, when the agent first saw it. Absent if it is in use.
   */
  unusedSince?: string | undefined;
  /**
   * A pin or the policy protects it.
   */
  isKept?: boolean | undefined;
}
/**
 * The images that are not listed. Absent if there are none.
 */
export interface NodeGCReportStatusUsageOtherImages {
  /**
   * Number of them.
   */
  count?: number | undefined;
  /**
   * Their size.
   */
  bytes?: number | undefined;
}
/**
 * A pod near a local storage limit.
 */
export interface NodeGCReportStatusStorageWarning {
  pod: NodeGCReportStatusStorageWarningPod;
  /**
   * Kind of the limit.
   */
  signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  /**
   * Volume or container to which the limit applies. Absent for the limit of the pod.
   */
  subject?: string | undefined;
  /**
   * Usage, in bytes.
   */
  observedBytes: number;
  /**
   * Limit, in bytes.
   */
  limitBytes: number;
  /**
   * Highest percentage of warnAtPercent that the usage exceeds.
   */
  percent?: number | undefined;
  /**
   * Time at which the agent first observed this.
   */
  since?: string | undefined;
}
/**
 * The pod.
 */
export interface NodeGCReportStatusStorageWarningPod {
  /**
   * Namespace of the pod.
   */
  namespace: string;
  /**
   * Name of the pod.
   */
  name: string;
  /**
   * UID of the pod.
   */
  uid: string;
}
/**
 * One signal.
 */
export interface NodeGCReportStatusSignal {
  /**
   * The kubelet's name of the signal.
   */
  name:
    | 'nodefs.available'
    | 'nodefs.inodesFree'
    | 'imagefs.available'
    | 'imagefs.inodesFree'
    | 'memory.available'
    | 'containerfs.available'
    | 'containerfs.inodesFree';
  /**
   * Available bytes or inodes.
   */
  available: number;
  /**
   * Total bytes or inodes.
   */
  capacity: number;
  /**
   * Available percentage of the capacity, rounded down.
   */
  availablePercent: number;
  /**
   * Bytes or inodes that the policy requires to be available. Absent if the policy has no threshold.
   */
  threshold?: number | undefined;
  /**
   * Available bytes or inodes below which the kubelet evicts pods. Absent if the kubelet has no threshold.
   */
  kubeletThreshold?: number | undefined;
  /**
   * Bytes or inodes per minute by which less becomes available. Absent if unknown or not less.
   */
  growthPerMinute?: number | undefined;
  /**
   * Time at which the nearer of the two thresholds will be crossed at this growth. Absent if usage does not grow or the threshold is crossed.
   */
  thresholdTime?: string | undefined;
  /**
   * Time since which less than the policy's threshold is available. Absent if the threshold is met.
   */
  crossedSince?: string | undefined;
  /**
   * Time of the measurement.
   */
  measuredTime: string;
}
/**
 * A pod that exceeds a local storage limit, or that the node must evict because it is short of disk space or inodes.
 */
export interface NodeGCReportStatusEvictionRequest {
  pod: NodeGCReportStatusEvictionRequestPod;
  /**
   * Kind of the limit, or the signal of which the node is short.
   */
  signal:
    | 'emptydirfs.limit'
    | 'ephemeralpodfs.limit'
    | 'ephemeralcontainerfs.limit'
    | 'nodefs.available'
    | 'nodefs.inodesFree'
    | 'imagefs.available'
    | 'imagefs.inodesFree';
  /**
   * Volume or container to which the limit applies. Absent for the limit of the pod.
   */
  subject?: string | undefined;
  /**
   * Usage, in bytes; in inodes if the node is short of inodes.
   */
  observedBytes: number;
  /**
   * Limit of the pod, in bytes. If the node is short of disk space: bytes that the pod requests.
   */
  limitBytes: number;
  shortage?: NodeGCReportStatusEvictionRequestShortage | undefined;
  largest?: NodeGCReportStatusEvictionRequestLargest | undefined;
  /**
   * Time at which the usage was measured.
   */
  observedTime: string;
  /**
   * Grace period, in seconds, that the policy sets. Absent means the pod's own.
   */
  gracePeriodSeconds?: number | undefined;
}
/**
 * The pod.
 */
export interface NodeGCReportStatusEvictionRequestPod {
  /**
   * Namespace of the pod.
   */
  namespace: string;
  /**
   * Name of the pod.
   */
  name: string;
  /**
   * UID of the pod.
   */
  uid: string;
}
/**
 * Shortage of the node. Absent if the pod exceeds a limit.
 */
export interface NodeGCReportStatusEvictionRequestShortage {
  /**
   * Available bytes or inodes.
   */
  available: number;
  /**
   * Bytes or inodes that must be available.
   */
  threshold: number;
}
/**
 * Part of the pod that uses most. Absent for the limit of a volume or container.
 */
export interface NodeGCReportStatusEvictionRequestLargest {
  /**
   * Writable layer or logs of a container, or a volume, such as "logs of container main".
   */
  name: string;
  /**
   * Usage, in the unit of observedBytes.
   */
  amount: number;
}

import { fitted } from '../report/fit.ts';
import { readable } from '../report/read.ts';
const statusSchema = {"type":"object","properties":{"reportTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"agentVersion":{"type":"string","maxLength":128},"policy":{"type":"object","required":["name","observedGeneration"],"properties":{"name":{"type":"string","minLength":1,"maxLength":253},"uid":{"type":"string","maxLength":128},"observedGeneration":{"type":"integer","minimum":0,"maximum":9007199254740991},"mode":{"type":"string","enum":["DryRun","Enforce"]}},"additionalProperties":false},"conditions":{"type":"array","x-kubernetes-list-map-keys":["type"],"maxItems":8,"items":{"type":"object","required":["lastTransitionTime","message","reason","status","type"],"properties":{"lastTransitionTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"message":{"type":"string","maxLength":1024},"observedGeneration":{"type":"integer","minimum":0,"maximum":9007199254740991},"reason":{"type":"string","minLength":1,"maxLength":1024,"pattern":"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},"status":{"type":"string","enum":["True","False","Unknown"]},"type":{"type":"string","maxLength":316,"pattern":"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"}},"additionalProperties":false}},"runtime":{"type":"object","properties":{"name":{"type":"string","maxLength":128},"version":{"type":"string","maxLength":128},"apiVersion":{"type":"string","maxLength":128}},"additionalProperties":false},"imageFileSystem":{"type":"object","properties":{"mountpoint":{"type":"string","maxLength":1024},"usedPercent":{"type":"integer","minimum":0,"maximum":100},"capacityBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"availableBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"usedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"inodes":{"type":"integer","minimum":0,"maximum":9007199254740991},"availableInodes":{"type":"integer","minimum":0,"maximum":9007199254740991},"usedInodes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"images":{"type":"object","properties":{"total":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"inUse":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"pinned":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"pinnedByDustpan":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"kept":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"removable":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"size":{"type":"string","maxLength":16}},"additionalProperties":false},"pulls":{"type":"array","maxItems":8,"items":{"type":"object","required":["image","pods","podCount","fit"],"properties":{"image":{"type":"string","maxLength":512},"pods":{"type":"array","maxItems":8,"items":{"type":"string","maxLength":317}},"podCount":{"type":"integer","minimum":0,"maximum":2147483647},"reason":{"type":"string","maxLength":64},"totalBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"receivedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"attempts":{"type":"integer","minimum":0,"maximum":2147483647},"neededBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"availableBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"fit":{"type":"string","enum":["Fits","Freeing","Short","Off","Unknown"]}},"additionalProperties":false}},"removeList":{"type":"array","maxItems":32,"items":{"type":"object","required":["image","inUse","kept"],"properties":{"image":{"type":"string","maxLength":512},"matched":{"type":"boolean"},"inUse":{"type":"integer","minimum":0,"maximum":2147483647},"untagged":{"type":"integer","minimum":0,"maximum":2147483647},"kept":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false}},"unmatched":{"type":"object","required":["keep","only","maximumAgeByImage"],"properties":{"keep":{"type":"array","maxItems":256,"items":{"type":"integer","minimum":0,"maximum":255}},"only":{"type":"array","maxItems":256,"items":{"type":"integer","minimum":0,"maximum":255}},"maximumAgeByImage":{"type":"array","maxItems":64,"items":{"type":"integer","minimum":0,"maximum":63}}},"additionalProperties":false},"lastRemoved":{"type":"array","maxItems":10,"items":{"type":"object","required":["id","time","reason","policy"],"properties":{"id":{"type":"string","maxLength":128},"name":{"type":"string","maxLength":256},"time":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"reason":{"type":"string","maxLength":64},"policy":{"type":"string","maxLength":253}},"additionalProperties":false}}},"additionalProperties":false},"containers":{"type":"object","properties":{"total":{"type":"integer","minimum":0,"maximum":2147483647},"running":{"type":"integer","minimum":0,"maximum":2147483647},"removable":{"type":"integer","minimum":0,"maximum":2147483647},"lastRemoved":{"type":"array","maxItems":20,"items":{"type":"object","required":["kind","id","time","reason","policy"],"properties":{"kind":{"type":"string","enum":["Container","Sandbox","LogDirectory","LogLink","LogFile","PodDirectory","PodCgroup","Checkpoint","Leftover"]},"id":{"type":"string","maxLength":512},"name":{"type":"string","maxLength":192},"pod":{"type":"object","required":["uid"],"properties":{"namespace":{"type":"string","maxLength":63},"name":{"type":"string","maxLength":253},"uid":{"type":"string","maxLength":128}},"additionalProperties":false},"time":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"reason":{"type":"string","maxLength":64},"policy":{"type":"string","maxLength":253},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false}}},"additionalProperties":false},"sandboxes":{"type":"object","properties":{"total":{"type":"integer","minimum":0,"maximum":2147483647},"removable":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false},"logs":{"type":"object","properties":{"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"removableBytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"checkpoints":{"type":"object","properties":{"total":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"removable":{"type":"integer","minimum":0,"maximum":2147483647},"removableBytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"units":{"type":"array","x-kubernetes-list-map-keys":["name"],"maxItems":8,"items":{"type":"object","required":["name","lastPassTime","result"],"properties":{"name":{"type":"string","enum":["imagegc","containergc","localstorage","nodepressure","leftovers"]},"lastPassTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"result":{"type":"string","enum":["Idle","Succeeded","Short","Failed","Unknown"]},"removed":{"type":"integer","minimum":0,"maximum":2147483647},"freedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"errors":{"type":"integer","minimum":0,"maximum":2147483647},"removedTotal":{"type":"integer","minimum":0,"maximum":9007199254740991},"freedBytesTotal":{"type":"integer","minimum":0,"maximum":9007199254740991},"totalsSince":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"message":{"type":"string","maxLength":1024}},"additionalProperties":false}},"largestOffenders":{"type":"array","maxItems":5,"items":{"type":"object","required":["kind","bytes"],"properties":{"kind":{"type":"string","enum":["Image","Container","Sandbox","LogDirectory","LogFile","Checkpoint"]},"id":{"type":"string","maxLength":1024},"name":{"type":"string","maxLength":512},"namespace":{"type":"string","maxLength":63},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"reason":{"type":"string","maxLength":64}},"additionalProperties":false}},"orphans":{"type":"object","properties":{"podDirectories":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"largest":{"type":"array","maxItems":10,"items":{"type":"object","required":["path","podUID"],"properties":{"path":{"type":"string","maxLength":384},"podUID":{"type":"string","maxLength":36},"since":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"reason":{"type":"string","maxLength":64},"holder":{"type":"string","maxLength":512},"remedy":{"type":"string","maxLength":1024}},"additionalProperties":false}}},"additionalProperties":false},"logDirectories":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"largest":{"type":"array","maxItems":10,"items":{"type":"object","required":["path","podUID"],"properties":{"path":{"type":"string","maxLength":384},"podUID":{"type":"string","maxLength":36},"since":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"reason":{"type":"string","maxLength":64}},"additionalProperties":false}}},"additionalProperties":false},"podCgroups":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"largest":{"type":"array","maxItems":10,"items":{"type":"object","required":["path","podUID"],"properties":{"path":{"type":"string","maxLength":384},"podUID":{"type":"string","maxLength":36},"since":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"reason":{"type":"string","maxLength":64}},"additionalProperties":false}}},"additionalProperties":false}},"additionalProperties":false},"leftovers":{"type":"object","properties":{"unknown":{"type":"string","maxLength":512},"measuredTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"lowerBound":{"type":"boolean"},"largest":{"type":"array","maxItems":10,"items":{"type":"object","required":["kind","id"],"properties":{"kind":{"type":"string","enum":["Download","Lease","Snapshot","Content"]},"id":{"type":"string","maxLength":192},"name":{"type":"string","maxLength":192},"holder":{"type":"string","maxLength":192},"since":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"lowerBound":{"type":"boolean"},"reason":{"type":"string","maxLength":64}},"additionalProperties":false}},"directories":{"type":"integer","minimum":0,"maximum":2147483647},"missingDirectories":{"type":"integer","minimum":0,"maximum":2147483647},"namespaceCount":{"type":"integer","minimum":0,"maximum":2147483647},"namespaces":{"type":"array","maxItems":10,"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":76},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"lowerBound":{"type":"boolean"}},"additionalProperties":false}}},"additionalProperties":false},"usage":{"type":"object","properties":{"measuredTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"unknown":{"type":"string","maxLength":1024},"forecast":{"type":"string","maxLength":1024},"fileSystems":{"type":"array","x-kubernetes-list-map-keys":["name"],"maxItems":2,"items":{"type":"object","required":["name","capacityBytes","availableBytes","usedBytes"],"properties":{"name":{"type":"string","enum":["nodefs","imagefs"]},"capacityBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"availableBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"usedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"imagesInUseBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"imagesUnusedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"packedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"layersBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"volumesBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"logsBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"checkpointsBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"orphansBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"leftoversBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"namespacesBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"otherBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"collectableBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"collectable":{"type":"object","properties":{"imagesUnusedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"packedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"logsBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"orphansBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"checkpointsBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"leftoversBytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"growthBytesPerHour":{"type":"integer","minimum":0,"maximum":9007199254740991},"fullTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"fullAfterCollectionTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"forecastErrorPercent":{"type":"integer","minimum":0,"maximum":100}},"additionalProperties":false}},"podCount":{"type":"integer","minimum":0,"maximum":2147483647},"podSlots":{"type":"integer","minimum":0,"maximum":2147483647},"podSlotsTaken":{"type":"integer","minimum":0,"maximum":2147483647},"volumeCount":{"type":"integer","minimum":0,"maximum":2147483647},"volumesLowerBound":{"type":"boolean"},"pods":{"type":"array","maxItems":20,"items":{"type":"object","required":["namespace","name","uid","bytes"],"properties":{"namespace":{"type":"string","maxLength":63},"name":{"type":"string","maxLength":253},"uid":{"type":"string","maxLength":128},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"layersBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"volumesBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"logsBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"lowerBound":{"type":"boolean"},"limitBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"requestBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"priority":{"type":"integer","minimum":-2147483648,"maximum":2147483647},"evictionPlace":{"type":"integer","minimum":1,"maximum":2147483647}},"additionalProperties":false}},"namespaces":{"type":"array","maxItems":64,"items":{"type":"object","required":["name","pods","bytes"],"properties":{"name":{"type":"string","maxLength":63},"pods":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"layersBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"volumesBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"logsBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"lowerBound":{"type":"boolean"},"growthBytesPerHour":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false}},"otherNamespaces":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"workloads":{"type":"array","maxItems":20,"items":{"type":"object","required":["namespace","kind","name","highestBytes","watchedSeconds"],"properties":{"namespace":{"type":"string","maxLength":63},"kind":{"type":"string","maxLength":253},"name":{"type":"string","maxLength":253},"pods":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"lowerBound":{"type":"boolean"},"growthBytesPerHour":{"type":"integer","minimum":0,"maximum":9007199254740991},"highestBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"highestPod":{"type":"string","maxLength":253},"watchedSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"requestBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"limitBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"parts":{"type":"array","maxItems":16,"items":{"type":"object","required":["kind","name"],"properties":{"kind":{"type":"string","enum":["container","sidecar","volume"]},"name":{"type":"string","maxLength":63},"highestBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"requestBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"limitBytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false}},"otherParts":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false}},"watchedSeconds":{"type":"integer","minimum":0,"maximum":9007199254740991},"otherWorkloads":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"highestBytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"volumes":{"type":"array","maxItems":20,"items":{"type":"object","required":["kind","namespace","pod","name","usedBytes"],"properties":{"kind":{"type":"string","enum":["emptyDir","pvc"]},"namespace":{"type":"string","maxLength":63},"pod":{"type":"string","maxLength":253},"name":{"type":"string","maxLength":253},"pods":{"type":"integer","minimum":0,"maximum":2147483647},"usedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"limitBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"usedPercent":{"type":"integer","minimum":0,"maximum":2147483647},"inodesPercent":{"type":"integer","minimum":0,"maximum":2147483647},"growthBytesPerHour":{"type":"integer","minimum":0,"maximum":9007199254740991},"fullTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"measuredTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"}},"additionalProperties":false}},"otherVolumes":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"highestPercent":{"type":"integer","minimum":0,"maximum":2147483647},"unknownCount":{"type":"integer","minimum":0,"maximum":2147483647},"fillingCount":{"type":"integer","minimum":0,"maximum":2147483647}},"additionalProperties":false},"images":{"type":"array","maxItems":64,"items":{"type":"object","required":["id","bytes","inUse"],"properties":{"id":{"type":"string","maxLength":128},"name":{"type":"string","maxLength":256},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"uniqueBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"packedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"inexactBecause":{"type":"string","maxLength":128},"inUse":{"type":"boolean"},"unusedSince":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"isKept":{"type":"boolean"}},"additionalProperties":false}},"otherImages":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":2147483647},"bytes":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false}},"additionalProperties":false},"storageWarningCount":{"type":"integer","minimum":0,"maximum":2147483647},"storageWarnings":{"type":"array","maxItems":32,"items":{"type":"object","required":["pod","signal","observedBytes","limitBytes"],"properties":{"pod":{"type":"object","required":["namespace","name","uid"],"properties":{"namespace":{"type":"string","minLength":1,"maxLength":63},"name":{"type":"string","minLength":1,"maxLength":253},"uid":{"type":"string","minLength":1,"maxLength":128}},"additionalProperties":false},"signal":{"type":"string","enum":["emptydirfs.limit","ephemeralpodfs.limit","ephemeralcontainerfs.limit"]},"subject":{"type":"string","maxLength":253},"observedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"limitBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"percent":{"type":"integer","minimum":0,"maximum":100},"since":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"}},"additionalProperties":false}},"evictionRequestCount":{"type":"integer","minimum":0,"maximum":2147483647},"signals":{"type":"array","x-kubernetes-list-map-keys":["name"],"maxItems":8,"items":{"type":"object","required":["name","available","capacity","availablePercent","measuredTime"],"properties":{"name":{"type":"string","enum":["nodefs.available","nodefs.inodesFree","imagefs.available","imagefs.inodesFree","memory.available","containerfs.available","containerfs.inodesFree"]},"available":{"type":"integer","minimum":0,"maximum":9007199254740991},"capacity":{"type":"integer","minimum":0,"maximum":9007199254740991},"availablePercent":{"type":"integer","minimum":0,"maximum":100},"threshold":{"type":"integer","minimum":0,"maximum":9007199254740991},"kubeletThreshold":{"type":"integer","minimum":0,"maximum":9007199254740991},"growthPerMinute":{"type":"integer","minimum":0,"maximum":9007199254740991},"thresholdTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"crossedSince":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"measuredTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"}},"additionalProperties":false}},"evictionRequests":{"type":"array","maxItems":32,"items":{"type":"object","required":["pod","signal","observedBytes","limitBytes","observedTime"],"properties":{"pod":{"type":"object","required":["namespace","name","uid"],"properties":{"namespace":{"type":"string","minLength":1,"maxLength":63},"name":{"type":"string","minLength":1,"maxLength":253},"uid":{"type":"string","minLength":1,"maxLength":128}},"additionalProperties":false},"signal":{"type":"string","enum":["emptydirfs.limit","ephemeralpodfs.limit","ephemeralcontainerfs.limit","nodefs.available","nodefs.inodesFree","imagefs.available","imagefs.inodesFree"]},"subject":{"type":"string","maxLength":253},"observedBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"limitBytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"shortage":{"type":"object","required":["available","threshold"],"properties":{"available":{"type":"integer","minimum":0,"maximum":9007199254740991},"threshold":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"largest":{"type":"object","required":["name","amount"],"properties":{"name":{"type":"string","minLength":1,"maxLength":253},"amount":{"type":"integer","minimum":0,"maximum":9007199254740991}},"additionalProperties":false},"observedTime":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$","format":"date-time"},"gracePeriodSeconds":{"type":"integer","minimum":0,"maximum":604800}},"additionalProperties":false}}},"additionalProperties":false};

/** Cuts a status to the bounds of the CRD. */
export const fitStatus: <S extends NodeGCReportStatus>(status: S) => S = (status) => fitted(status, statusSchema);

/** Reads a status; what the CRD refuses is absent. */
export const readStatus = (json: unknown): NodeGCReportStatus => readable(json, statusSchema) ?? {};
