// Made from crds/gc.dustpan.dev_nodegcreports.yaml by npm run generate. Do not edit.

/**
 * What dustpan's agent sees and does on one node. It has the name of the node, belongs to it, and is written only by the agent on that node.
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
   * When the agent wrote this report.
   */
  reportTime?: string;
  /**
   * The version of the agent.
   */
  agentVersion?: string;
  policy?: NodeGCReportStatusPolicy;
  /**
   * Ready (all is well), KeepListAtRisk (the kubelet may remove images that the policy keeps), PressureAhead (the node is short of disk, inodes or memory, or will be soon) and Degraded (something is in the way of the agent).
   */
  conditions?: NodeGCReportStatusCondition[];
  runtime?: NodeGCReportStatusRuntime;
  imageFileSystem?: NodeGCReportStatusImageFileSystem;
  images?: NodeGCReportStatusImages;
  containers?: NodeGCReportStatusContainers;
  sandboxes?: NodeGCReportStatusSandboxes;
  logs?: NodeGCReportStatusLogs;
  /**
   * The last pass of each unit of the agent.
   */
  units?: NodeGCReportStatusUnit[];
  /**
   * What takes the most space on the node, largest first.
   */
  largestOffenders?: NodeGCReportStatusLargestOffender[];
  orphans?: NodeGCReportStatusOrphans;
  /**
   * All active warnings about local storage, listed or not.
   */
  storageWarningCount?: number;
  /**
   * Active warnings about local storage, nearest to the limit first. At most 32 are listed.
   */
  storageWarnings?: NodeGCReportStatusStorageWarning[];
  /**
   * All pods to be evicted, listed or not.
   */
  evictionRequestCount?: number;
  /**
   * What is available on the node, as the kubelet measures it, and when it will be short. Absent without a policy for node pressure.
   */
  signals?: NodeGCReportStatusSignal[];
  /**
   * Pods that the controller is asked to evict. At most 32 are listed at a time.
   */
  evictionRequests?: NodeGCReportStatusEvictionRequest[];
}
/**
 * The policy that governs the node. Absent when there is none.
 */
export interface NodeGCReportStatusPolicy {
  /**
   * The name of the policy.
   */
  name: string;
  /**
   * The UID of the policy.
   */
  uid?: string;
  /**
   * The generation of the policy that the agent follows.
   */
  observedGeneration: number;
  /**
   * The mode of the policy.
   */
  mode?: 'DryRun' | 'Enforce';
}
/**
 * One aspect of the state of this object.
 */
export interface NodeGCReportStatusCondition {
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
 * The container runtime.
 */
export interface NodeGCReportStatusRuntime {
  /**
   * The name of the runtime, such as containerd.
   */
  name?: string;
  /**
   * The version of the runtime.
   */
  version?: string;
  /**
   * The version of the interface that the runtime speaks, such as v1.
   */
  apiVersion?: string;
}
/**
 * The file system that holds the images.
 */
export interface NodeGCReportStatusImageFileSystem {
  /**
   * Where the file system is mounted.
   */
  mountpoint?: string;
  /**
   * The used part of the capacity, in percent.
   */
  usedPercent?: number;
  /**
   * Size of the file system.
   */
  capacityBytes?: number;
  /**
   * Bytes that can still be written.
   */
  availableBytes?: number;
  /**
   * Bytes that images use.
   */
  usedBytes?: number;
  /**
   * Inodes of the file system.
   */
  inodes?: number;
  /**
   * Inodes that can still be used.
   */
  availableInodes?: number;
  /**
   * Inodes that images use.
   */
  usedInodes?: number;
}
/**
 * The images on the node. One image may be in several groups.
 */
export interface NodeGCReportStatusImages {
  total?: NodeGCReportStatusImagesTotal;
  inUse?: NodeGCReportStatusImagesInUse;
  pinned?: NodeGCReportStatusImagesPinned;
  kept?: NodeGCReportStatusImagesKept;
  removable?: NodeGCReportStatusImagesRemovable;
  /**
   * The images that the agent removed last, newest first. The agent drops an entry a day after the removal.
   */
  lastRemoved?: NodeGCReportStatusImagesLastRemovedItem[];
}
/**
 * All images.
 */
export interface NodeGCReportStatusImagesTotal {
  /**
   * How many.
   */
  count?: number;
  /**
   * Their size, as the runtime gives it.
   */
  bytes?: number;
}
/**
 * Images that a container or a pod of this node uses.
 */
export interface NodeGCReportStatusImagesInUse {
  /**
   * How many.
   */
  count?: number;
  /**
   * Their size, as the runtime gives it.
   */
  bytes?: number;
}
/**
 * Images that the runtime has pinned.
 */
export interface NodeGCReportStatusImagesPinned {
  /**
   * How many.
   */
  count?: number;
  /**
   * Their size, as the runtime gives it.
   */
  bytes?: number;
}
/**
 * Images that the keep list of the policy keeps.
 */
export interface NodeGCReportStatusImagesKept {
  /**
   * How many.
   */
  count?: number;
  /**
   * Their size, as the runtime gives it.
   */
  bytes?: number;
}
/**
 * Images that may be removed.
 */
export interface NodeGCReportStatusImagesRemovable {
  /**
   * How many.
   */
  count?: number;
  /**
   * Their size, as the runtime gives it.
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
   * The id of the image.
   */
  id: string;
  /**
   * A tag of the image, else a digest.
   */
  name?: string;
  /**
   * When the agent removed it.
   */
  time: string;
  /**
   * Why, as a reason code.
   */
  reason: string;
  /**
   * The GCPolicy that governed the node.
   */
  policy: string;
}
/**
 * The containers on the node.
 */
export interface NodeGCReportStatusContainers {
  /**
   * All containers, running or not.
   */
  total?: number;
  /**
   * Dead containers that may be removed.
   */
  removable?: number;
  /**
   * The containers, sandboxes, logs and orphaned resources that the agent removed last, newest first, those for node pressure included. A restarted agent begins anew.
   */
  lastRemoved?: NodeGCReportStatusContainersLastRemovedItem[];
}
/**
 * An object that the agent removed.
 */
export interface NodeGCReportStatusContainersLastRemovedItem {
  /**
   * What it was.
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
 * The pod sandboxes on the node.
 */
export interface NodeGCReportStatusSandboxes {
  /**
   * All sandboxes, ready or not.
   */
  total?: number;
  /**
   * Dead sandboxes that may be removed.
   */
  removable?: number;
}
/**
 * The log files of containers on the node.
 */
export interface NodeGCReportStatusLogs {
  /**
   * Bytes of all log files.
   */
  bytes?: number;
  /**
   * Bytes of the log files that may be removed.
   */
  removableBytes?: number;
}
/**
 * The last pass of one unit.
 */
export interface NodeGCReportStatusUnit {
  /**
   * The name of the unit.
   */
  name: 'imagegc' | 'containergc' | 'localstorage' | 'nodepressure';
  /**
   * When the pass ended.
   */
  lastPassTime: string;
  /**
   * How the pass ended: Idle had nothing to do, Succeeded did all there was to do, Short did what it could but needed more, Failed met an error, Unknown could not decide.
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
   * Objects removed since the agent started.
   */
  removedTotal?: number;
  /**
   * Bytes freed since the agent started.
   */
  freedBytesTotal?: number;
  /**
   * The last error, in one line.
   */
  message?: string;
}
/**
 * One thing that takes space.
 */
export interface NodeGCReportStatusLargestOffender {
  /**
   * What it is.
   */
  kind: 'Image' | 'Container' | 'Sandbox' | 'LogDirectory' | 'LogFile' | 'Pod' | 'Volume';
  /**
   * The identifier of an image, container or sandbox, or the path of a file.
   */
  id?: string;
  /**
   * The name of the pod, image or volume.
   */
  name?: string;
  /**
   * The namespace of the pod it belongs to.
   */
  namespace?: string;
  /**
   * Bytes that it takes.
   */
  bytes: number;
  /**
   * The reason code of its verdict.
   */
  reason?: string;
}
/**
 * What is left of pods that neither the API server nor the runtime knows, and snapshots without an owner. nodes.orphans of the policy may remove pod directories and control groups; snapshots are only counted. A place that the agent cannot see is absent.
 */
export interface NodeGCReportStatusOrphans {
  podDirectories?: NodeGCReportStatusOrphansPodDirectories;
  logDirectories?: NodeGCReportStatusOrphansLogDirectories;
  podCgroups?: NodeGCReportStatusOrphansPodCgroups;
  snapshots?: NodeGCReportStatusOrphansSnapshots;
}
/**
 * Pod directories of the kubelet.
 */
export interface NodeGCReportStatusOrphansPodDirectories {
  /**
   * How many.
   */
  count?: number;
  /**
   * Bytes that they take, mounted volumes left out. A lower bound where there are very many files.
   */
  bytes?: number;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansPodDirectoriesLargestItem[];
}
/**
 * A pod directory.
 */
export interface NodeGCReportStatusOrphansPodDirectoriesLargestItem {
  /**
   * Where it is on the node, as the agent sees it.
   */
  path: string;
  /**
   * The UID of the pod that it belonged to.
   */
  podUID: string;
  /**
   * When it last changed, usually when its pod ended.
   */
  since?: string;
  /**
   * Bytes that it takes.
   */
  bytes?: number;
  /**
   * The reason code of its verdict.
   */
  reason?: string;
}
/**
 * Log directories of pods.
 */
export interface NodeGCReportStatusOrphansLogDirectories {
  /**
   * How many.
   */
  count?: number;
  /**
   * Bytes that they take.
   */
  bytes?: number;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansLogDirectoriesLargestItem[];
}
/**
 * A log directory.
 */
export interface NodeGCReportStatusOrphansLogDirectoriesLargestItem {
  /**
   * Where it is on the node, as the agent sees it.
   */
  path: string;
  /**
   * The UID of the pod that it belonged to.
   */
  podUID: string;
  /**
   * When it last changed, usually when its pod ended.
   */
  since?: string;
  /**
   * Bytes that it takes.
   */
  bytes?: number;
  /**
   * The reason code of its verdict.
   */
  reason?: string;
}
/**
 * Control groups of pods.
 */
export interface NodeGCReportStatusOrphansPodCgroups {
  /**
   * How many.
   */
  count?: number;
  /**
   * Memory that is still charged to them.
   */
  bytes?: number;
  /**
   * The ten largest, largest first.
   */
  largest?: NodeGCReportStatusOrphansPodCgroupsLargestItem[];
}
/**
 * A control group.
 */
export interface NodeGCReportStatusOrphansPodCgroupsLargestItem {
  /**
   * Where it is on the node, as the agent sees it.
   */
  path: string;
  /**
   * The UID of the pod that it belonged to.
   */
  podUID: string;
  /**
   * When it last changed, usually when its pod ended.
   */
  since?: string;
  /**
   * Bytes that it takes.
   */
  bytes?: number;
  /**
   * The reason code of its verdict.
   */
  reason?: string;
}
/**
 * Snapshots of containerd's overlayfs that belong to no image, container or sandbox that Kubernetes sees. Others that use the same containerd may have made them.
 */
export interface NodeGCReportStatusOrphansSnapshots {
  /**
   * How many at least.
   */
  count?: number;
}
/**
 * A pod that is near a limit of local storage.
 */
export interface NodeGCReportStatusStorageWarning {
  pod: NodeGCReportStatusStorageWarningPod;
  /**
   * Which kind of limit it is.
   */
  signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  /**
   * The volume or container whose limit it is. Absent for the limit of the pod.
   */
  subject?: string;
  /**
   * Bytes that are used.
   */
  observedBytes: number;
  /**
   * Bytes that are allowed.
   */
  limitBytes: number;
  /**
   * The highest percentage of warnAtPercent that is exceeded.
   */
  percent?: number;
  /**
   * When the agent first saw this.
   */
  since?: string;
}
/**
 * The pod.
 */
export interface NodeGCReportStatusStorageWarningPod {
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
   * Bytes or inodes that are available.
   */
  available: number;
  /**
   * Bytes or inodes in total.
   */
  capacity: number;
  /**
   * What is available, as a percentage of the capacity, rounded down.
   */
  availablePercent: number;
  /**
   * Bytes or inodes that must be available by the policy. Absent when the policy has no threshold.
   */
  threshold?: number;
  /**
   * Bytes or inodes below which the kubelet evicts pods. Absent when it has no threshold.
   */
  kubeletThreshold?: number;
  /**
   * Bytes or inodes that are used more each minute. Absent when it is not known yet, or nothing grows.
   */
  growthPerMinute?: number;
  /**
   * When the nearer of the two thresholds will be crossed at this growth. Absent when it is not approached, or crossed.
   */
  thresholdTime?: string;
  /**
   * Since when less is available than the policy's threshold. Absent when enough is.
   */
  crossedSince?: string;
  /**
   * When it was measured.
   */
  measuredTime: string;
}
/**
 * A pod that exceeds a limit of local storage, or that is to end because its node is short of disk space or inodes.
 */
export interface NodeGCReportStatusEvictionRequest {
  pod: NodeGCReportStatusEvictionRequestPod;
  /**
   * Which kind of limit it is, or what the node is short of.
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
   * The volume or container whose limit it is. Absent for the limit of the pod.
   */
  subject?: string;
  /**
   * Bytes that are used; inodes, if the node is short of inodes.
   */
  observedBytes: number;
  /**
   * Bytes that are allowed; if the node is short of disk space, those that the pod requests.
   */
  limitBytes: number;
  shortage?: NodeGCReportStatusEvictionRequestShortage;
  /**
   * When the usage was measured.
   */
  observedTime: string;
  /**
   * The grace period that the policy asks for. Absent means that of the pod.
   */
  gracePeriodSeconds?: number;
}
/**
 * The pod.
 */
export interface NodeGCReportStatusEvictionRequestPod {
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
}
/**
 * What the node is short of. Absent for a limit of the pod.
 */
export interface NodeGCReportStatusEvictionRequestShortage {
  /**
   * Bytes or inodes that are available.
   */
  available: number;
  /**
   * Bytes or inodes that must be available.
   */
  threshold: number;
}
