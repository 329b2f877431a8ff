import { isSameFileSystem } from '../../api/file-system.ts';
import { usageOfPod, type StoragePod, type StorageUsage } from '../../api/local-storage.ts';
import { isFinished } from '../../api/pod-phase.ts';
import type { FileSystemStats } from '../../node/disk/filesystem.ts';
import {
  podClasses,
  type DiskUse,
  type MeasuredUsage,
  type NamespaceUse,
  type PodClass,
  type PodUse,
  type UsageClass,
  type UsageFacts,
} from './facts.ts';

/** Adds up what uses the disks of a node. */
export function measureUsage(facts: UsageFacts): MeasuredUsage {
  const pods = podUses(facts);
  return { at: facts.now, disks: disksOf(facts, pods), pods, namespaces: namespaceUses(pods ?? []) };
}

/** undefined = the pods are not known, or none of the running ones is measured. */
function podUses({ kubelet, pods, measuredBefore }: UsageFacts): readonly PodUse[] | undefined {
  if (kubelet === undefined || pods === undefined) return undefined;
  const running = pods.filter((pod) => !isFinished(pod));
  const measured = running.flatMap((pod) => podUse(pod, kubelet) ?? measuredBefore.get(pod.uid) ?? []);
  if (running.length > 0 && measured.length === 0) return undefined;
  const finished = pods.filter((pod) => isFinished(pod)).flatMap((pod) => podUse(pod, kubelet) ?? []);
  return [...measured, ...finished].toSorted((a, b) => b.bytes - a.bytes);
}

/** undefined = the pod, or one of its emptyDirs, is not measured. */
function podUse(pod: StoragePod, kubelet: StorageUsage): PodUse | undefined {
  const usage = usageOfPod(kubelet, pod);
  if (usage === undefined) return undefined;
  const { containers, volumes } = usage;
  const onDisk = pod.storage.emptyDirs.filter(({ isMemory }) => !isMemory);
  const sizes = onDisk.flatMap(({ name }) => volumes.get(name)?.bytes ?? []);
  if (sizes.length < onDisk.length) return undefined;
  const classes = {
    layers: sum(containers.map(({ layer }) => layer?.bytes ?? 0)),
    volumes: sum(sizes),
    logs: sum(containers.map(({ logs }) => logs?.bytes ?? 0)),
  };
  return { pod, bytes: sum(Object.values(classes)), classes };
}

function namespaceUses(pods: readonly PodUse[]): readonly NamespaceUse[] {
  const groups = Map.groupBy(pods, ({ pod }) => pod.namespace);
  return [...groups]
    .map(([name, all]) => {
      const of = (one: PodClass): number => sum(all.map(({ classes }) => classes[one]));
      const classes = { layers: of('layers'), volumes: of('volumes'), logs: of('logs') };
      return { name, pods: all.length, bytes: sum(Object.values(classes)), classes };
    })
    .toSorted((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/** Nothing for a file system that could not be read, or if it is unknown whether the kubelet uses it. */
function disksOf(facts: UsageFacts, pods: readonly PodUse[] | undefined): readonly DiskUse[] {
  const { nodeDisk, imageDisk } = facts;
  const ofPods = podTotals(pods);
  const own = kubeletParts(facts, ofPods);
  const images = [imageParts(facts, ofPods.layers), layerParts(ofPods.layers)];
  switch (isDedicated(facts)) {
    case true:
      return [
        ...(nodeDisk === undefined ? [] : [diskUse('nodefs', nodeDisk, [own])]),
        ...(imageDisk === undefined ? [] : [diskUse('imagefs', imageDisk, images)]),
      ];
    case false: {
      const disk = nodeDisk ?? imageDisk;
      return disk === undefined ? [] : [diskUse('nodefs', disk, [...images, own])];
    }
    case undefined: {
      const unknown = [imageParts({ imageDisk, images: undefined }, undefined), layerParts(undefined)];
      return nodeDisk === undefined ? [] : [diskUse('nodefs', nodeDisk, [...unknown, own])];
    }
  }
}

/** Whether images and layers have another file system than the kubelet; undefined = unknown. */
function isDedicated({ nodeDisk, imageDisk, kubelet }: UsageFacts): boolean | undefined {
  return nodeDisk === undefined || imageDisk === undefined
    ? kubelet?.dedicatedImageFs
    : !isSameFileSystem(nodeDisk, imageDisk);
}

const layerParts = (layers: number | undefined): Parts => ({
  classes: [['layers', layers]],
  collectableBytes: 0,
});

const podTotals = (pods: readonly PodUse[] | undefined): Readonly<Record<PodClass, number | undefined>> => {
  const [layers, volumes, logs] = podClasses.map(
    (one) => pods && sum(pods.map(({ classes }) => classes[one])),
  );
  return { layers, volumes, logs };
};

/** Some classes of a file system; undefined = unknown. */
interface Parts {
  readonly classes: readonly (readonly [UsageClass, number | undefined])[];
  readonly collectableBytes: number | undefined;
}

/**
 * Images by what the runtime uses for unpacked layers, without writable ones; the size of each image is its compressed size, or counts shared layers
 * several times, so sizes of images only divide the total.
 */
function imageParts(
  { images, imageDisk }: Pick<UsageFacts, 'images' | 'imageDisk'>,
  layers: number | undefined,
): Parts {
  if (images === undefined || imageDisk === undefined)
    return {
      classes: [
        ['images-in-use', undefined],
        ['images-unused', undefined],
      ],
      collectableBytes: undefined,
    };
  const { total, inUse, collectable } = images;
  const unpacked = imageDisk.usedBytes - (layers ?? 0);
  const scale = unpacked > 0 && total.bytes > 0 ? unpacked / total.bytes : 1;
  return {
    classes: [
      ['images-in-use', inUse.bytes * scale],
      ['images-unused', (total.bytes - inUse.bytes) * scale],
    ],
    collectableBytes: collectable.bytes * scale,
  };
}

function kubeletParts({ containers }: UsageFacts, ofPods: ReturnType<typeof podTotals>): Parts {
  const { logs, orphans } = containers ?? {};
  const orphanedLogs = orphans?.logDirectories?.bytes ?? 0;
  return {
    classes: [
      ['volumes', ofPods.volumes],
      ['logs', logs === undefined ? ofPods.logs : Math.max(0, logs.bytes - orphanedLogs)],
      ['orphans', orphans && orphanedLogs + (orphans.podDirectories?.bytes ?? 0)],
    ],
    collectableBytes: logs?.removableBytes,
  };
}

/** What the known classes do not use is `other`, if all are known: then whole bytes add up to the used ones. Sizes that are larger than the used bytes together are scaled down. */
function diskUse(name: DiskUse['name'], disk: FileSystemStats, parts: readonly Parts[]): DiskUse {
  const { capacityBytes, availableBytes, freeBytes = availableBytes } = disk;
  const usedBytes = Math.max(0, capacityBytes - freeBytes);
  const all = parts.flatMap(({ classes }) => classes);
  const sizes = all.flatMap(([one, bytes]) => (bytes === undefined ? [] : [[one, bytes] as const]));
  const total = sum(sizes.map(([, bytes]) => bytes));
  const scale = total > usedBytes ? usedBytes / total : 1;
  const known = sizes.map(([one, bytes]) => [one, Math.floor(bytes * scale)] as const);
  // Where orphans were not searched, they are few, and count as other.
  const isComplete = all.every(([one, bytes]) => bytes !== undefined || one === 'orphans');
  const other = isComplete ? ([['other', usedBytes - sum(known.map(([, bytes]) => bytes))]] as const) : [];
  const collectable = parts.map(({ collectableBytes }) => collectableBytes);
  return {
    name,
    capacityBytes,
    availableBytes,
    usedBytes,
    classes: new Map([...known, ...other]),
    collectableBytes: collectable.includes(undefined)
      ? undefined
      : sum(collectable.map((bytes = 0) => bytes)) * scale,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
