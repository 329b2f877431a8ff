import type { NodePod, Offender } from './report/node-pass.ts';

/** Which kind of limit a pod exceeds, in the order in which they are checked; upstream's names (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction). */
export const evictionSignals = [
  'emptydirfs.limit',
  'ephemeralpodfs.limit',
  'ephemeralcontainerfs.limit',
] as const;
export type EvictionSignal = (typeof evictionSignals)[number];

/** A quantity of a pod's spec or of a policy. */
export interface StorageLimit {
  readonly bytes: number;
  /** As Kubernetes writes it in messages: the canonical form of the quantity, e.g. `100Mi`. */
  readonly text: string;
}

/** What a pod's spec says about local storage; absent limits are undefined. */
export interface PodStorageSpec {
  /** In the order of the spec. */
  readonly emptyDirs: readonly DeclaredEmptyDir[];
  /** Ordinary containers, in the order of the spec. */
  readonly containers: readonly DeclaredContainer[];
  readonly initContainers: readonly DeclaredInitContainer[];
  /** spec.overhead["ephemeral-storage"]. */
  readonly overheadBytes: number | undefined;
}

export interface DeclaredEmptyDir {
  readonly name: string;
  readonly isMemory: boolean;
  /** emptyDir.sizeLimit. */
  readonly limit: StorageLimit | undefined;
}

export interface DeclaredContainer {
  readonly name: string;
  /** resources.limits["ephemeral-storage"]. */
  readonly limit: StorageLimit | undefined;
}

export interface DeclaredInitContainer extends DeclaredContainer {
  /** restartPolicy: Always, a sidecar. */
  readonly restartable: boolean;
}

/** A pod of this node, as local storage sees it. */
export interface StoragePod extends NodePod {
  readonly priority: number | undefined;
  readonly storage: PodStorageSpec;
}

/** A measured size; figures of the kubelet are as old as its last walk (a minute or two). */
export interface StorageFigure {
  readonly bytes: number;
  /** Unix milliseconds; undefined = when it was measured is not known. */
  readonly atMs: number | undefined;
}

/** What the containers of one pod use on its node. What is undefined or missing was not told: upstream counts it as 0. */
export interface PodStorageUsage {
  /** Writable layers, logs, emptyDirs on disk, configMaps, etc-hosts. */
  readonly total: StorageFigure | undefined;
  /** By the name of the volume, memory-backed ones too. */
  readonly volumes: ReadonlyMap<string, StorageFigure>;
  /** In the order of the statistics. */
  readonly containers: readonly ContainerStorageUsage[];
}

export interface ContainerStorageUsage {
  readonly name: string;
  readonly layer: StorageFigure | undefined;
  readonly logs: StorageFigure | undefined;
}

/** One look at what all pods of a node use. */
export interface StorageUsage {
  /** Unix milliseconds of the look. */
  readonly atMs: number;
  /** Images and writable layers have a file system of their own: then layers do not count for a container's limit (pkg/kubelet/eviction/eviction_manager.go, containerEphemeralStorageLimitEviction). */
  readonly dedicatedImageFs: boolean;
  /** By the UID that the kubelet has; a pod that is missing is not measured (yet). */
  readonly pods: ReadonlyMap<string, PodStorageUsage>;
}

/** What a pod uses; the kubelet knows a static pod by the hash that its mirror carries. undefined = it is not measured (yet). */
export const usageOfPod = (
  usage: StorageUsage | undefined,
  { uid, configHash = uid }: Pick<NodePod, 'uid' | 'configHash'>,
): PodStorageUsage | undefined => usage?.pods.get(configHash) ?? usage?.pods.get(uid);

/** Which limit, by how much: a pod's own, or the policy's default for pods that declare none. */
export interface StorageExcess {
  readonly signal: EvictionSignal;
  /** The volume or container; undefined = the pod as a whole. */
  readonly subject: string | undefined;
  readonly usedBytes: number;
  readonly limit: StorageLimit;
  /** The limit is the policy's (localStorageEviction.defaultLimits). */
  readonly isDefault: boolean;
}

/** How much of one limit is used. */
export interface LimitReading extends StorageExcess {
  /** When it was measured, in Unix milliseconds; where that is not known, when it was read. */
  readonly measuredAtMs: number;
}

/** A request of an agent, by its report: the controller decides. */
export interface EvictionRequest {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly signal: EvictionSignal;
  readonly subject: string | undefined;
  readonly observedBytes: number;
  readonly limitBytes: number;
  /** Unix milliseconds. */
  readonly observedAtMs: number;
  /** undefined = the pod's own. */
  readonly gracePeriodSeconds: number | undefined;
}

/** A limit of a pod that is nearly used up, as the report lists it. */
export interface StorageWarning {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly excess: StorageExcess;
  /** The highest level of warnAtPercent that is exceeded. */
  readonly percent: number;
  /** undefined = not known yet, or not growing. */
  readonly growthBytesPerMinute: number | undefined;
  readonly secondsLeft: number | undefined;
  /** Unix milliseconds: when this level was first seen exceeded. */
  readonly sinceMs: number;
}

/** What localstorage saw in its last pass, for the report. */
export interface StorageInventory {
  /** That the pass followed. */
  readonly policy: { readonly uid: string; readonly generation: number };
  /** All that are active, nearest to its limit first. */
  readonly warnings: readonly StorageWarning[];
  /** All of them, the most excessive first; only in mode Enforce. */
  readonly evictionRequests: readonly EvictionRequest[];
  /** Largest first, at most ten: pods, or the volume that makes up most of one. */
  readonly offenders: readonly Offender[];
}

/** Whether more than `percent` of a limit is used; strict, as upstream: exactly the limit is no excess. */
export const exceeds = (usedBytes: number, limitBytes: number, percent: number): boolean =>
  usedBytes * 100 > limitBytes * percent;

/** The part of a limit that is used, 1 = all of it; whatever is used of a limit of 0 is infinitely too much. */
export const fullness = (usedBytes: number, limitBytes: number): number =>
  usedBytes === 0 ? 0 : usedBytes / limitBytes;
