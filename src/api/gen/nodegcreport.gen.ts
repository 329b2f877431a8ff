// Made from crds/gc.dustpan.dev_nodegcreports.yaml by npm run generate. Do not edit.

/**
 * A NodeGCReport describes what dustpan's agent found and removed on one node. It has the node's name, its owner is the Node, and only the agent on that node writes it.
 */
export interface NodeGCReport {
  /**
   * The versioned schema of this object, gc.dustpan.dev/v1alpha1.
   */
  apiVersion?: string;
  /**
   * The kind of this object, NodeGCReport.
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
  status?: NodeGCReportStatus;
}
/**
 * The report.
 */
export interface NodeGCReportStatus {
  /**
   * Time at which the agent wrote this report.
   */
  reportTime?: string;
  /**
   * Version of the agent.
   */
  agentVersion?: string;
  policy?: NodeGCReportStatusPolicy;
  /**
   * Conditions: Ready (not degraded), KeepListAtRisk (the kubelet may remove images on the keep list), PressureAhead (the node is short of disk, inodes or memory, or will be soon), Holding (a large removal of images by a new generation of the policy waits), Degraded (a problem limits the agent).
   */
  conditions?: NodeGCReportStatusCondition[];
  runtime?: NodeGCReportStatusRuntime;
  imageFileSystem?: NodeGCReportStatusImageFileSystem;
  images?: NodeGCReportStatusImages;
  containers?: NodeGCReportStatusContainers;
  sandboxes?: NodeGCReportStatusSandboxes;
  logs?: NodeGCReportStatusLogs;
  /**
   * Last pass of each unit of the agent.
   */
  units?: NodeGCReportStatusUnit[];
  /**
   * Largest images, containers, sandboxes, logs and volumes on the node, largest first.
   */
  largestOffenders?: NodeGCReportStatusLargestOffender[];
  orphans?: NodeGCReportStatusOrphans;
  /**
   * Number of active warnings about local storage, including those not listed.
   */
  storageWarningCount?: number;
  /**
   * Active warnings about local storage, nearest to the limit first; at most 32.
   */
  storageWarnings?: NodeGCReportStatusStorageWarning[];
  /**
   * Number of pods to be evicted, including those not listed.
   */
  evictionRequestCount?: number;
  /**
   * Available disk, inodes and memory, as the kubelet measures them, with a forecast. Absent if the policy has no nodePressure.
   */
  signals?: NodeGCReportStatusSignal[];
  /**
   * Pods that the agent requests the controller to evict; at most 32.
   */
  evictionRequests?: NodeGCReportStatusEvictionRequest[];
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
  uid?: string;
  /**
   * Generation of the policy that the agent applies.
   */
  observedGeneration: number;
  /**
   * Mode of the policy.
   */
  mode?: 'DryRun' | 'Enforce';
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
  observedGeneration?: number;
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
  name?: string;
  /**
   * Version of the runtime.
   */
  version?: string;
  /**
   * CRI version that the runtime supports, such as v1.
   */
  apiVersion?: string;
}
/**
 * File system that holds the images.
 */
export interface NodeGCReportStatusImageFileSystem {
  /**
   * Mount point of the file system on the node.
   */
  mountpoint?: string;
  /**
   * Usage, in percent of the capacity.
   */
  usedPercent?: number;
  /**
   * Size of the file system, in bytes.
   */
  capacityBytes?: number;
  /**
   * Free bytes.
   */
  availableBytes?: number;
  /**
   * Bytes used by images.
   */
  usedBytes?: number;
  /**
   * Total number of inodes.
   */
  inodes?: number;
  /**
   * Free inodes.
   */
  availableInodes?: number;
  /**
   * Inodes used by images.
   */
  usedInodes?: number;
}
/**
 * Images on the node. One image may be in several groups.
 */
export interface NodeGCReportStatusImages {
  total?: NodeGCReportStatusImagesTotal;
  inUse?: NodeGCReportStatusImagesInUse;
  pinned?: NodeGCReportStatusImagesPinned;
  kept?: NodeGCReportStatusImagesKept;
  removable?: NodeGCReportStatusImagesRemovable;
  /**
   * Most recently removed images, newest first. The agent drops an entry 24 hours after the removal.
   */
  lastRemoved?: NodeGCReportStatusImagesLastRemovedItem[];
}
/**
 * All images.
 */
export interface NodeGCReportStatusImagesTotal {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size, as the runtime reports it.
   */
  bytes?: number;
}
/**
 * Images that a container or a pod on this node uses.
 */
export interface NodeGCReportStatusImagesInUse {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size, as the runtime reports it.
   */
  bytes?: number;
}
/**
 * Images that the runtime reports as pinned.
 */
export interface NodeGCReportStatusImagesPinned {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size, as the runtime reports it.
   */
  bytes?: number;
}
/**
 * Images on the policy's keep list.
 */
export interface NodeGCReportStatusImagesKept {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size, as the runtime reports it.
   */
  bytes?: number;
}
/**
 * Images that may be removed.
 */
export interface NodeGCReportStatusImagesRemovable {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size, as the runtime reports it.
   */
  bytes?: number;
  /**
   * The same size as a quantity with one decimal, such as 7.0Gi, for people. Read `bytes` in programs.
   */
  size?: string;
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
  name?: string;
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
  total?: number;
  /**
   * Dead containers that may be removed.
   */
  removable?: number;
  /**
   * The containers, sandboxes, logs and orphaned resources that the agent removed last, newest first, those for node pressure included: ten containers and sandboxes, and ten others.
   */
  lastRemoved?: NodeGCReportStatusContainersLastRemovedItem[];
}
/**
 * An object that the agent removed.
 */
export interface NodeGCReportStatusContainersLastRemovedItem {
  /**
   * Kind of the object.
   */
  kind: 'Container' | 'Sandbox' | 'LogDirectory' | 'LogLink' | 'LogFile' | 'PodDirectory' | 'PodCgroup';
  /**
   * The id of a container or sandbox, else the path.
   */
  id: string;
  /**
   * The name of a container.
   */
  name?: string;
  pod?: NodeGCReportStatusContainersLastRemovedItemPod;
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
  bytes?: number;
}
/**
 * The pod that it belonged to. Absent if unknown.
 */
export interface NodeGCReportStatusContainersLastRemovedItemPod {
  /**
   * Its namespace. Absent if unknown.
   */
  namespace?: string;
  /**
   * Its name. Absent if unknown.
   */
  name?: string;
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
  total?: number;
  /**
   * Dead sandboxes that may be removed.
   */
  removable?: number;
}
/**
 * Log files of containers on the node.
 */
export interface NodeGCReportStatusLogs {
  /**
   * Size of all log files, in bytes.
   */
  bytes?: number;
  /**
   * Size of the log files that may be removed, in bytes.
   */
  removableBytes?: number;
}
/**
 * Last pass of one unit.
 */
export interface NodeGCReportStatusUnit {
  /**
   * Name of the unit.
   */
  name: 'imagegc' | 'containergc' | 'localstorage' | 'nodepressure';
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
  removed?: number;
  /**
   * Bytes that the pass freed.
   */
  freedBytes?: number;
  /**
   * Removals that failed in the pass.
   */
  errors?: number;
  /**
   * Objects removed since totalsSince.
   */
  removedTotal?: number;
  /**
   * Bytes freed since totalsSince.
   */
  freedBytesTotal?: number;
  /**
   * Time from which the totals count. A restart of the agent does not reset them.
   */
  totalsSince?: string;
  /**
   * Last error, in one line.
   */
  message?: string;
}
/**
 * An object that uses space on the node.
 */
export interface NodeGCReportStatusLargestOffender {
  /**
   * Kind of the object.
   */
  kind: 'Image' | 'Container' | 'Sandbox' | 'LogDirectory' | 'LogFile' | 'Pod' | 'Volume';
  /**
   * ID of an image, container or sandbox, or path of a file.
   */
  id?: string;
  /**
   * Name of the pod, image or volume.
   */
  name?: string;
  /**
   * Namespace of the pod that owns the object.
   */
  namespace?: string;
  /**
   * Size, in bytes.
   */
  bytes: number;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string;
}
/**
 * Orphaned resources of pods that neither the API server nor the container runtime lists, and snapshots without an owner. The agent removes pod directories and control groups if nodes.orphans of the policy is set to Remove, and only counts snapshots. A field is absent if the agent cannot read the directory.
 */
export interface NodeGCReportStatusOrphans {
  podDirectories?: NodeGCReportStatusOrphansPodDirectories;
  logDirectories?: NodeGCReportStatusOrphansLogDirectories;
  podCgroups?: NodeGCReportStatusOrphansPodCgroups;
  snapshots?: NodeGCReportStatusOrphansSnapshots;
}
/**
 * Orphaned pod directories of the kubelet.
 */
export interface NodeGCReportStatusOrphansPodDirectories {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size in bytes, without mounted volumes. A lower bound if there are very many files.
   */
  bytes?: number;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansPodDirectoriesLargestItem[];
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
  since?: string;
  /**
   * Size, in bytes.
   */
  bytes?: number;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string;
}
/**
 * Orphaned log directories of pods.
 */
export interface NodeGCReportStatusOrphansLogDirectories {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Total size, in bytes.
   */
  bytes?: number;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansLogDirectoriesLargestItem[];
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
  since?: string;
  /**
   * Size, in bytes.
   */
  bytes?: number;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string;
}
/**
 * Orphaned control groups of pods.
 */
export interface NodeGCReportStatusOrphansPodCgroups {
  /**
   * Number of them.
   */
  count?: number;
  /**
   * Memory still charged to them, in bytes.
   */
  bytes?: number;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansPodCgroupsLargestItem[];
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
  since?: string;
  /**
   * Size, in bytes.
   */
  bytes?: number;
  /**
   * Reason code for which the agent keeps or removes the object.
   */
  reason?: string;
}
/**
 * Snapshots of containerd's overlayfs that belong to no image, container or sandbox of Kubernetes. Other clients of the same containerd may own them.
 */
export interface NodeGCReportStatusOrphansSnapshots {
  /**
   * Number of them; a lower bound.
   */
  count?: number;
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
  subject?: string;
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
  percent?: number;
  /**
   * Time at which the agent first observed this.
   */
  since?: string;
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
  threshold?: number;
  /**
   * Available bytes or inodes below which the kubelet evicts pods. Absent if the kubelet has no threshold.
   */
  kubeletThreshold?: number;
  /**
   * Growth of the usage, in bytes or inodes per minute. Absent if unknown or not growing.
   */
  growthPerMinute?: number;
  /**
   * Time at which the nearer of the two thresholds will be crossed at this growth. Absent if usage does not grow or the threshold is crossed.
   */
  thresholdTime?: string;
  /**
   * Time since which less than the policy's threshold is available. Absent if the threshold is met.
   */
  crossedSince?: string;
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
  subject?: string;
  /**
   * Usage, in bytes; in inodes if the node is short of inodes.
   */
  observedBytes: number;
  /**
   * Limit of the pod, in bytes. If the node is short of disk space: bytes that the pod requests.
   */
  limitBytes: number;
  shortage?: NodeGCReportStatusEvictionRequestShortage;
  /**
   * Time at which the usage was measured.
   */
  observedTime: string;
  /**
   * Grace period, in seconds, that the policy sets. Absent means the pod's own.
   */
  gracePeriodSeconds?: number;
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
