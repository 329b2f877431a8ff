import type { NodePod } from './node-pod.ts';
import {
  diskSignals,
  isDiskSignal,
  type DiskSignal,
  type NodeSignal,
  type SignalReading,
} from './node-pressure.ts';

/** The kinds of limits, in the order of the checks, with upstream's names (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction). */
export const evictionSignals = [
  'emptydirfs.limit',
  'ephemeralpodfs.limit',
  'ephemeralcontainerfs.limit',
] as const;
export type EvictionSignal = (typeof evictionSignals)[number];

/** Why an agent requests the eviction of a pod: a limit of the pod, or a disk of the node. */
export const requestSignals = [...evictionSignals, ...diskSignals] as const;
export type RequestSignal = (typeof requestSignals)[number];

/** A limit of a pod's spec or of a policy. */
export interface StorageLimit {
  readonly bytes: number;
  /** The canonical form of the quantity, as in Kubernetes' messages, e.g. `100Mi`. */
  readonly text: string;
}

/** The local storage in a pod's spec. Missing limits are undefined. */
export interface PodStorageSpec {
  /** Ordered as in the spec. */
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
  /** resources.requests["ephemeral-storage"]. */
  readonly request: StorageLimit | undefined;
}

export interface DeclaredInitContainer extends DeclaredContainer {
  /** restartPolicy: Always, a sidecar. */
  readonly restartable: boolean;
}

/** What replaces a pod by another of the same kind: usage is remembered by it. */
export interface Workload {
  /** `Deployment`; of the API groups of others with the group, `Rollout.argoproj.io`. `Pod` = it has no controller, `StaticPod` = the kubelet's. */
  readonly kind: string;
  readonly name: string;
}

export interface StoragePod extends NodePod {
  readonly workload: Workload;
  /** The annotation by which its owner refuses evictions (`doNotDisruptOf`); undefined = none. */
  readonly doNotDisrupt: string | undefined;
  readonly priority: number | undefined;
  readonly storage: PodStorageSpec;
}

/** A measured size. The kubelet measures every one to two minutes. */
export interface StorageMeasurement {
  readonly bytes: number;
  /** Inodes that it uses; undefined = not reported. */
  readonly inodes?: number | undefined;
  /** Unix milliseconds; undefined = unknown. */
  readonly atMs: number | undefined;
}

/** The usage of one pod on its node. The kubelet did not report undefined or missing values; upstream counts them as 0. */
export interface PodStorageUsage {
  /** Writable layers, logs, emptyDirs on disk, configMaps, etc-hosts. */
  readonly total: StorageMeasurement | undefined;
  /** Keyed by the name of the volume, including memory-backed ones. */
  readonly volumes: ReadonlyMap<string, StorageMeasurement>;
  /** Names of volumes whose values cannot be, if there are any. */
  readonly impossibleVolumes?: readonly string[];
  /** Ordered as in the statistics. */
  readonly containers: readonly ContainerStorageUsage[];
  /** The working set of the pod; undefined = not reported. */
  readonly memoryBytes?: number | undefined;
}

export interface ContainerStorageUsage {
  readonly name: string;
  readonly layer: StorageMeasurement | undefined;
  readonly logs: StorageMeasurement | undefined;
}

/** The file system of a PersistentVolumeClaim in a pod: no local storage, unless it has a directory of the node. */
export interface ClaimUsage {
  readonly namespace: string;
  readonly name: string;
  readonly pod: string;
  readonly usedBytes: number;
  readonly capacityBytes: number;
  readonly availableBytes: number;
  /** undefined = the file system counts none, or this is unknown. */
  readonly inodes: { readonly total: number; readonly free: number } | undefined;
  /** Unix milliseconds; undefined = unknown. */
  readonly atMs: number | undefined;
}

/** The usage of all pods of a node at one time. */
export interface StorageUsage {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** Images or writable layers have another file system than the kubelet: then layers do not count for a container's limit (pkg/kubelet/eviction/eviction_manager.go, containerEphemeralStorageLimitEviction). */
  readonly dedicatedImageFs: boolean;
  /** Writable layers have another file system than images. */
  readonly splitContainerFs: boolean;
  /** The disks and the memory of the node; a signal that the kubelet did not report is missing. */
  readonly signals: readonly SignalReading[];
  /** Signals that a file system does not count, such as inodes of btrfs; undefined = none. */
  readonly uncounted?: readonly NodeSignal[] | undefined;
  /** Keyed by the UID that the kubelet uses. A missing pod is not measured (yet), or has an impossible value. */
  readonly pods: ReadonlyMap<string, PodStorageUsage>;
  /** Without claims whose bytes are unknown: the kubelet measures no block volumes, and not those of each driver. A claim is there for each pod that mounts it. */
  readonly claims: readonly ClaimUsage[];
  /** Names of measurements whose values cannot be, such as `pod web/a (logs of container main)`; they count as unknown. */
  readonly impossible: readonly string[];
}

/** The usage of a pod; undefined = not measured (yet), or one of its emptyDirs has an impossible value. The kubelet identifies a static pod by the hash in its mirror's annotation. */
export function usageOfPod(
  usage: StorageUsage | undefined,
  { uid, configHash = uid, storage }: Pick<StoragePod, 'uid' | 'configHash' | 'storage'>,
): PodStorageUsage | undefined {
  const found = usage?.pods.get(configHash) ?? usage?.pods.get(uid);
  const { impossibleVolumes = [] } = found ?? {};
  return storage.emptyDirs.some(({ name }) => impossibleVolumes.includes(name)) ? undefined : found;
}

/** A part of a pod that uses a disk of its node. */
export interface StoragePart {
  readonly kind: 'layers' | 'logs' | 'volumes';
  /** `logs of container main`. */
  readonly name: string;
  /** undefined = not measured. */
  readonly measured: StorageMeasurement | undefined;
}

/** The writable layers and logs of a pod, and its volumes on disk. */
export const storageParts = (storage: PodStorageSpec, usage: PodStorageUsage): readonly StoragePart[] => [
  ...usage.containers.flatMap(({ name, layer, logs }): StoragePart[] => [
    { kind: 'layers', name: `writable layer of container ${name}`, measured: layer },
    { kind: 'logs', name: `logs of container ${name}`, measured: logs },
  ]),
  ...storage.emptyDirs.flatMap(({ name, isMemory }): StoragePart[] =>
    isMemory ? [] : [{ kind: 'volumes', name: `volume ${name}`, measured: usage.volumes.get(name) }],
  ),
];

/** The part of a pod that uses most; bytes, or inodes if the node is short of inodes. */
export interface LargestPart {
  readonly name: string;
  readonly amount: number;
}

/** Returns the largest part; undefined = none uses anything. */
export const largestOf = (
  parts: readonly StoragePart[],
  unit: 'bytes' | 'inodes' = 'bytes',
): LargestPart | undefined =>
  parts
    .map(({ name, measured }) => ({ name, amount: measured?.[unit] ?? 0 }))
    .toSorted((a, b) => b.amount - a.amount)
    .find(({ amount }) => amount > 0);

/** A limit and its usage: the pod's own limit, or the policy's default for pods without one. */
export interface StorageExcess {
  readonly signal: EvictionSignal;
  /** The volume or container; undefined = the pod as a whole. */
  readonly subject: string | undefined;
  readonly usedBytes: number;
  readonly limit: StorageLimit;
  /** The limit is the policy's (localStorageEviction.defaultLimits). */
  readonly isDefault: boolean;
  /** The policy's percentage of the limit above which the pod is evicted; undefined = 100, because the limit is that of a volume in memory. */
  readonly evictAtPercent: number | undefined;
  /** Only for the limit of the pod as a whole. */
  readonly largest?: LargestPart | undefined;
}

/** The usage of one limit. */
export interface LimitUsage extends StorageExcess {
  /** Unix milliseconds of the measurement; if unknown, of the read. */
  readonly measuredAtMs: number;
}

/** A request of an agent in its report. The controller decides. */
export interface EvictionRequest {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly signal: RequestSignal;
  readonly subject: string | undefined;
  /** Usage of the pod; inodes if the node is short of inodes. */
  readonly observedBytes: number;
  /** The exceeded limit; if the node is short of disk space, what the pod requests. */
  readonly limitBytes: number;
  /** Shortage of the node, in the unit of the signal; undefined = a limit of the pod is exceeded. */
  readonly shortage: { readonly available: number; readonly threshold: number } | undefined;
  /** undefined = a limit of a volume or container is exceeded, or an older agent requests. */
  readonly largest?: LargestPart | undefined;
  /** Unix milliseconds. */
  readonly observedAtMs: number;
  /** undefined = the pod's own. */
  readonly gracePeriodSeconds: number | undefined;
}

/** A request because the pod exceeds a limit of its own. */
export interface LimitRequest extends EvictionRequest {
  readonly signal: EvictionSignal;
  readonly shortage: undefined;
}

/** A request because the node is short of disk space or inodes. */
export interface PressureRequest extends EvictionRequest {
  readonly signal: DiskSignal;
  readonly shortage: NonNullable<EvictionRequest['shortage']>;
}

export const isLimitRequest = (request: EvictionRequest): request is LimitRequest =>
  !isDiskSignal(request.signal) && request.shortage === undefined;

export const isPressureRequest = (request: EvictionRequest): request is PressureRequest =>
  isDiskSignal(request.signal) && request.shortage !== undefined;

/** Whether the usage is above `percent` of the limit. Strict, as upstream: exactly the limit is no excess. */
export const exceeds = (usedBytes: number, limitBytes: number, percent: number): boolean =>
  usedBytes * 100 > limitBytes * percent;

/** Whether the usage is above the part of the limit at which the pod is evicted. */
export const exceedsLimit = ({
  usedBytes,
  limit,
  evictAtPercent = 100,
}: Pick<StorageExcess, 'usedBytes' | 'limit' | 'evictAtPercent'>): boolean =>
  exceeds(usedBytes, limit.bytes, evictAtPercent);

/** The used part of a limit, 1 = all of it; Infinity for any usage of a limit of 0. */
export const fullness = (usedBytes: number, limitBytes: number): number =>
  usedBytes === 0 ? 0 : usedBytes / limitBytes;
