import {
  usageOfPod,
  type PodStorageUsage,
  type StorageFigure,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';

/** What local storage is made of; emptyDirs in memory take no disk and are no part of the total. */
export const usageKinds = ['layers', 'logs', 'emptydir', 'emptydir-memory', 'total'] as const;
type UsageKind = (typeof usageKinds)[number];

type Sums = Record<UsageKind, number>;

/** What all pods of the node use together; what is not measured counts as 0. */
export function usedBytes(
  pods: readonly StoragePod[],
  usage: StorageUsage | undefined,
): Readonly<Record<UsageKind, number>> {
  const sums: Sums = { layers: 0, logs: 0, emptydir: 0, 'emptydir-memory': 0, total: 0 };
  for (const pod of pods) {
    const used = usageOfPod(usage, pod);
    if (used === undefined) continue;
    sums.total += bytesOf(used.total);
    addContainers(sums, used);
    addVolumes(sums, pod, used);
  }
  return sums;
}

function addContainers(sums: Sums, { containers }: PodStorageUsage): void {
  for (const { layer, logs } of containers) {
    sums.layers += bytesOf(layer);
    sums.logs += bytesOf(logs);
  }
}

function addVolumes(sums: Sums, { storage }: StoragePod, { volumes }: PodStorageUsage): void {
  for (const { name, isMemory } of storage.emptyDirs)
    sums[isMemory ? 'emptydir-memory' : 'emptydir'] += bytesOf(volumes.get(name));
}

const bytesOf = (figure: StorageFigure | undefined): number => figure?.bytes ?? 0;
