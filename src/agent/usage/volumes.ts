import { usageOfPod, type ClaimUsage, type StoragePod, type StorageUsage } from '../../api/local-storage.ts';
import type { UsageFacts, VolumeUse } from './facts.ts';

type Facts = Pick<UsageFacts, 'kubelet' | 'pods' | 'nodeDisk'>;

/** The volumes of the pods, the fullest first, then those of which it is unknown how full they are; undefined = they are unknown. */
export function volumeUses({ kubelet, pods, nodeDisk }: Facts): readonly VolumeUse[] | undefined {
  if (kubelet === undefined || pods === undefined) return undefined;
  const claims = Map.groupBy(kubelet.claims, ({ namespace, name }) => `${namespace}/${name}`);
  return [...emptyDirsOf(pods, kubelet, nodeDisk), ...[...claims.values()].flatMap(claimOf)].toSorted(
    (a, b) => (b.fullPercent ?? -1) - (a.fullPercent ?? -1) || b.usedBytes - a.usedBytes,
  );
}

const emptyDirsOf = (
  pods: readonly StoragePod[],
  kubelet: StorageUsage,
  nodeDisk: Facts['nodeDisk'],
): readonly VolumeUse[] =>
  pods.flatMap((pod) => {
    const measured = usageOfPod(kubelet, pod)?.volumes;
    return pod.storage.emptyDirs.flatMap(({ name, isMemory, limit }): VolumeUse[] => {
      const volume = measured?.get(name);
      if (isMemory || volume === undefined) return [];
      const { bytes: usedBytes, atMs } = volume;
      const usedPercent = limit && percentOf(usedBytes, limit.bytes);
      return [
        {
          kind: 'emptyDir',
          namespace: pod.namespace,
          pod: pod.name,
          name,
          pods: 1,
          usedBytes,
          limitBytes: limit?.bytes,
          availableBytes: limit && Math.max(0, limit.bytes - usedBytes),
          usedPercent,
          inodesPercent: undefined,
          fullPercent: usedPercent ?? (nodeDisk && percentOf(usedBytes, nodeDisk.capacityBytes)),
          atMs,
        },
      ];
    });
  });

/** From the newest of its measurements: pods that share a claim share its file system. */
function claimOf(all: readonly ClaimUsage[]): readonly VolumeUse[] {
  const newest = all.toSorted((a, b) => (b.atMs ?? 0) - (a.atMs ?? 0)).slice(0, 1);
  return newest.map(({ namespace, name, pod, usedBytes, capacityBytes, availableBytes, inodes, atMs }) => {
    const usedPercent = percentOf(capacityBytes - availableBytes, capacityBytes);
    const inodesPercent = inodes && percentOf(inodes.total - inodes.free, inodes.total);
    return {
      kind: 'pvc',
      namespace,
      pod,
      name,
      pods: new Set(all.map((one) => one.pod)).size,
      usedBytes,
      limitBytes: capacityBytes,
      availableBytes,
      usedPercent,
      inodesPercent,
      fullPercent: Math.max(usedPercent, inodesPercent ?? 0),
      atMs,
    };
  });
}

/** A limit of 0 is exceeded by any byte. */
const percentOf = (used: number, limit: number): number => (limit === 0 ? 100 : (100 * used) / limit);
