import type { StoragePod, StorageUsage, Workload } from '../../api/local-storage.ts';
import type { FileSystemStats, MountedImageDisk } from '../../node/disk/filesystem.ts';
import type { ContainerInventory } from '../containergc/facts.ts';
import type { LeftoverInventory, UnknownLeftovers } from '../leftovers/facts.ts';
import type { ImageInventory } from '../imagegc/facts.ts';

/** Input of a measurement; undefined = unknown. */
export interface UsageFacts {
  readonly kubelet: StorageUsage | undefined;
  readonly pods: readonly StoragePod[] | undefined;
  /** Earlier measurements by the UID of the pod: after its start the kubelet measures one pod after the other. */
  readonly measuredBefore: ReadonlyMap<string, PodUse>;
  readonly layers: LayerBytes | undefined;
  /** Whether the logs of pods have another file system than the kubelet's root directory; undefined = unknown. */
  readonly areLogsApart: boolean | undefined;
  /** The file system of the kubelet's root directory. */
  readonly nodeDisk: FileSystemStats | undefined;
  readonly imageDisk: MountedImageDisk | undefined;
  readonly images: ImageInventory | undefined;
  readonly containers: ContainerInventory | undefined;
  readonly leftovers: LeftoverInventory | UnknownLeftovers | undefined;
  readonly now: Date;
}

/** Writable layers of all containers, dead ones too, as the runtime counts them: the kubelet knows only running ones. */
export interface LayerBytes {
  readonly total: number;
  /** By the UID of the pod. */
  readonly byPod: ReadonlyMap<string, number>;
}

/** What uses a file system: fields of the report, with their labels in metrics. The classes add up to the used bytes; images are then their unpacked layers, if the packed ones are known. */
export const usageClasses = {
  imagesInUseBytes: 'images-in-use',
  imagesUnusedBytes: 'images-unused',
  packedBytes: 'packed',
  layersBytes: 'layers',
  volumesBytes: 'volumes',
  logsBytes: 'logs',
  checkpointsBytes: 'checkpoints',
  orphansBytes: 'orphans',
  leftoversBytes: 'leftovers',
  namespacesBytes: 'namespaces',
  otherBytes: 'other',
} as const;
export type UsageClass = keyof typeof usageClasses;

export const podClasses = ['layersBytes', 'volumesBytes', 'logsBytes'] as const;
export type PodClass = (typeof podClasses)[number];

export interface DiskUse {
  readonly name: 'nodefs' | 'imagefs';
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  /** undefined = nobody counts inodes. */
  readonly inodesPercent: number | undefined;
  /** A class without an entry is unknown, or is on another file system. */
  readonly classes: Readonly<Partial<Record<UsageClass, number>>>;
  /** Their sum; undefined = one is unknown, besides leftovers: then it is without them. */
  readonly collectableBytes: number | undefined;
  /** What could be removed of a class; a class without an entry is unknown, or never collected. */
  readonly collectable: Readonly<Partial<Record<UsageClass, number>>>;
}

export interface PodUse {
  readonly pod: StoragePod;
  readonly bytes: number;
  readonly classes: Readonly<Record<PodClass, number>>;
  /** Classes of which a part is not measured: their bytes are a lower bound. */
  readonly partial: ReadonlySet<PodClass>;
  readonly measuredAtMs: number;
}

export interface NamespaceUse {
  readonly name: string;
  readonly pods: number;
  readonly bytes: number;
  readonly classes: Readonly<Record<PodClass, number>>;
  readonly partial: ReadonlySet<PodClass>;
}

/** The present pods of a workload. */
export interface WorkloadUse extends Workload {
  readonly namespace: string;
  readonly pods: number;
  readonly bytes: number;
  /** Whether a part is not measured, so that the bytes are a lower bound. */
  readonly isPartial: boolean;
}

/** An emptyDir on disk, or a claim. */
export interface VolumeUse {
  readonly kind: 'emptyDir' | 'pvc';
  readonly namespace: string;
  /** One of those that mount it. */
  readonly pod: string;
  /** Of a claim its own; of an emptyDir that in the pod. */
  readonly name: string;
  /** Pods of the node that mount it. */
  readonly pods: number;
  readonly usedBytes: number;
  /** The capacity of a claim, or the sizeLimit; undefined = none. */
  readonly limitBytes: number | undefined;
  readonly availableBytes: number | undefined;
  /** In percent of the limit. */
  readonly usedPercent: number | undefined;
  readonly inodesPercent: number | undefined;
  /** The higher one; without a limit, in percent of the disk of the node. undefined = the size of the disk is unknown. */
  readonly fullPercent: number | undefined;
  readonly atMs: number | undefined;
}

export interface MeasuredUsage {
  readonly at: Date;
  readonly disks: readonly DiskUse[];
  /** undefined = unknown. */
  readonly pods: readonly PodUse[] | undefined;
  /** Running pods of which nothing, or not all is measured. */
  readonly partial: readonly StoragePod[];
  readonly namespaces: readonly NamespaceUse[];
  /** In which the kubelet would evict pods, by UID; undefined = unknown. */
  readonly places: ReadonlyMap<string, number> | undefined;
  /** The largest first. */
  readonly workloads: readonly WorkloadUse[];
  /** The fullest first, then those of which it is unknown; undefined = unknown. */
  readonly volumes: readonly VolumeUse[] | undefined;
}
