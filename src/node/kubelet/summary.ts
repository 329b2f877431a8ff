import type {
  ContainerStorageUsage,
  PodStorageUsage,
  StorageMeasurement,
  StorageUsage,
} from '../../api/local-storage.ts';
import { asList, asObject } from '../../kube/codec/json.ts';
import { count, timeOf } from './json.ts';
import { isContainerFsSplit, signalsOf } from './signals.ts';

const noVolumes: ReadonlyMap<string, StorageMeasurement> = new Map();

/**
 * Reads the local storage usage from a kubelet's `/stats/summary`, by the kubelet's pod UIDs: for a static pod the `configHash` of its mirror.
 * A field that is missing or of another type counts as not measured.
 */
export function storageUsageOf(summary: unknown, nowMs: number): StorageUsage {
  const { node, pods } = asObject(summary);
  return {
    atMs: nowMs,
    ...nodeUsageOf(node, nowMs),
    pods: new Map(asList(pods).flatMap(podUsageOf)),
  };
}

/** Reads the field `node`. */
export const nodeUsageOf = (node: unknown, nowMs: number): Omit<StorageUsage, 'atMs' | 'pods'> => ({
  dedicatedImageFs: isImageFsDedicated(node),
  splitContainerFs: isContainerFsSplit(node),
  signals: signalsOf(node, nowMs),
});

/** If it is not known, layers do not count for a container's limit: no pod is evicted by a guess. */
export function isImageFsDedicated(node: unknown): boolean {
  const { fs, runtime } = asObject(node);
  const nodeBytes = count(asObject(fs)['capacityBytes']);
  const imageBytes = count(asObject(asObject(runtime)['imageFs'])['capacityBytes']);
  return nodeBytes === undefined || nodeBytes !== imageBytes;
}

/** Reads one entry of the field `pods`; returns nothing for one without a UID. */
export function podUsageOf(pod: unknown): readonly (readonly [uid: string, usage: PodStorageUsage])[] {
  const { podRef, containers, volume, memory, 'ephemeral-storage': total } = asObject(pod);
  const { uid } = asObject(podRef);
  if (typeof uid !== 'string' || uid === '') return [];
  const usage = {
    total: sizeOf(total),
    volumes: volumesOf(volume),
    containers: asList(containers).flatMap(containerOf),
    memoryBytes: count(asObject(memory)['workingSetBytes']),
  };
  return [[uid, usage]];
}

/** Without volumes of claims: they are not local storage of the pod. */
function volumesOf(volumes: unknown): ReadonlyMap<string, StorageMeasurement> {
  const found = asList(volumes).flatMap((volume): (readonly [string, StorageMeasurement])[] => {
    const { name, pvcRef } = asObject(volume);
    const size = sizeOf(volume);
    return typeof name !== 'string' || pvcRef !== undefined || size === undefined ? [] : [[name, size]];
  });
  return found.length === 0 ? noVolumes : new Map(found);
}

function containerOf(container: unknown): readonly ContainerStorageUsage[] {
  const { name, rootfs, logs } = asObject(container);
  if (typeof name !== 'string') return [];
  return [{ name, layer: sizeOf(rootfs), logs: sizeOf(logs) }];
}

function sizeOf(stats: unknown): StorageMeasurement | undefined {
  const { usedBytes, inodesUsed, time } = asObject(stats);
  const bytes = count(usedBytes);
  return bytes === undefined ? undefined : { bytes, inodes: count(inodesUsed), atMs: timeOf(time) };
}
