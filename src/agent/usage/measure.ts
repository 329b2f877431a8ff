import { isSameFileSystem } from '../../api/file-system.ts';
import { storageParts, usageOfPod, type StoragePod, type StorageUsage } from '../../api/local-storage.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { sum } from '../../runtime/sum.ts';
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
import { isFresh, maxAges } from '../localstorage/pods.ts';

export function measureUsage(facts: UsageFacts): MeasuredUsage {
  const pods = podUses(facts);
  const unmeasured = pods === undefined ? [] : unmeasuredPods(facts, pods);
  return {
    at: facts.now,
    disks: disksOf(facts, pods),
    pods,
    partial: [...(pods ?? []).filter(({ partial }) => partial.size > 0).map(({ pod }) => pod), ...unmeasured],
    namespaces: namespaceUses(pods ?? [], unmeasured),
  };
}

/** undefined = the pods are not known, or none of the running ones is measured. */
function podUses(facts: UsageFacts): readonly PodUse[] | undefined {
  const { kubelet, pods } = facts;
  if (kubelet === undefined || pods === undefined) return undefined;
  const running = pods.filter((pod) => !isFinished(pod));
  const measured = running.flatMap((pod) => lastingUse(pod, kubelet, facts) ?? []);
  if (running.length > 0 && measured.length === 0) return undefined;
  const finished = pods.filter((pod) => isFinished(pod)).flatMap((pod) => podUse(pod, kubelet, facts) ?? []);
  return [...measured, ...finished].toSorted((a, b) => b.bytes - a.bytes);
}

/** The usage of a pod; while a part of it is not measured, that of some minutes ago. */
function lastingUse(pod: StoragePod, kubelet: StorageUsage, facts: UsageFacts): PodUse | undefined {
  const { measuredBefore, now } = facts;
  const use = podUse(pod, kubelet, facts);
  if (use?.partial.size === 0) return use;
  const before = measuredBefore.get(pod.uid);
  const isLasting = before?.partial.size === 0 && isFresh(before.measuredAtMs, now, maxAges.usageMs);
  return isLasting ? before : use;
}

/** undefined = nothing of the pod is measured, or one of its emptyDirs has an impossible value. */
function podUse(
  pod: StoragePod,
  kubelet: StorageUsage,
  { now }: Pick<UsageFacts, 'now'>,
): PodUse | undefined {
  const usage = usageOfPod(kubelet, pod);
  if (usage === undefined) return undefined;
  const parts = storageParts(pod.storage, usage);
  const classes = classesOf((field) =>
    parts.map(({ kind, measured }) => (`${kind}Bytes` === field ? (measured?.bytes ?? 0) : 0)),
  );
  return {
    pod,
    bytes: sum(Object.values(classes)),
    classes,
    partial: new Set(
      parts.flatMap(({ kind, measured }) => (measured === undefined ? [`${kind}Bytes` as const] : [])),
    ),
    measuredAtMs: now.getTime(),
  };
}

const classesOf = (sizes: (field: PodClass) => readonly number[]): Record<PodClass, number> => ({
  layersBytes: sum(sizes('layersBytes')),
  volumesBytes: sum(sizes('volumesBytes')),
  logsBytes: sum(sizes('logsBytes')),
});

/** A pod that is pending hardly uses anything. */
const unmeasuredPods = ({ pods = [] }: UsageFacts, measured: readonly PodUse[]): readonly StoragePod[] => {
  const known = new Set(measured.map(({ pod }) => pod.uid));
  return pods.filter(({ uid, phase }) => phase === 'Running' && !known.has(uid));
};

function namespaceUses(pods: readonly PodUse[], unmeasured: readonly StoragePod[]): readonly NamespaceUse[] {
  const groups = Map.groupBy(pods, ({ pod }) => pod.namespace);
  const unknown = new Set(unmeasured.map(({ namespace }) => namespace));
  return [...groups]
    .map(([name, all]) => {
      const classes = classesOf((field) => all.map((use) => use.classes[field]));
      const partial = new Set(unknown.has(name) ? podClasses : all.flatMap((one) => [...one.partial]));
      return { name, pods: all.length, bytes: sum(Object.values(classes)), classes, partial };
    })
    .toSorted((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/** Nothing for a file system that could not be read, or if it is unknown whether the kubelet uses it. */
function disksOf(facts: UsageFacts, pods: readonly PodUse[] | undefined): readonly DiskUse[] {
  const { nodeDisk, imageDisk, kubelet } = facts;
  const ofPods = pods && classesOf((field) => pods.map(({ classes }) => classes[field]));
  const layerBytes = allLayers(ofPods?.layersBytes, facts);
  const own = kubeletParts(facts, ofPods);
  const layers = layerParts(layerBytes);
  // Then layers are on the file system of the kubelet (KEP-4191), and the runtime does not count them for images.
  if (kubelet?.splitContainerFs === true)
    return [
      ...known('nodefs', nodeDisk, [layers, own]),
      ...known('imagefs', imageDisk, [imageParts(facts, 0)]),
    ];
  const images = [imageParts(facts, layerBytes), layers];
  switch (isDedicated(facts)) {
    case true:
      return [...known('nodefs', nodeDisk, [own]), ...known('imagefs', imageDisk, images)];
    case false:
      return known('nodefs', nodeDisk ?? imageDisk, [...images, own]);
    case undefined: {
      const unknown = [imageParts({ imageDisk, images: undefined }, undefined), layerParts(undefined)];
      return known('nodefs', nodeDisk, [...unknown, own]);
    }
  }
}

const known = (
  name: DiskUse['name'],
  disk: FileSystemStats | undefined,
  parts: readonly Parts[],
): readonly DiskUse[] => (disk === undefined ? [] : [diskUse(name, disk, parts)]);

/** The runtime may have measured later, or not yet. */
const allLayers = (
  ofPods: number | undefined,
  { layerBytes = 0 }: Pick<UsageFacts, 'layerBytes'>,
): number | undefined => (ofPods === undefined ? undefined : Math.max(ofPods, layerBytes));

/** Whether images and layers have another file system than the kubelet; undefined = unknown. */
function isDedicated({ nodeDisk, imageDisk, kubelet }: UsageFacts): boolean | undefined {
  return nodeDisk === undefined || imageDisk === undefined
    ? kubelet?.dedicatedImageFs
    : !isSameFileSystem(nodeDisk, imageDisk);
}

const layerParts = (layers: number | undefined): Parts => ({
  classes: [['layersBytes', layers]],
  collectableBytes: 0,
});

/** Some classes of a file system; undefined = unknown. */
interface Parts {
  readonly classes: readonly (readonly [UsageClass, number | undefined])[];
  readonly collectableBytes: number | undefined;
}

/**
 * Images by their bytes on the disk. Where these are not known: by what the runtime uses for unpacked layers, without writable ones; the size of
 * each image is then its compressed size, or counts shared layers several times, so sizes of images only divide the total.
 */
function imageParts(
  { images, imageDisk }: Pick<UsageFacts, 'images' | 'imageDisk'>,
  layers: number | undefined,
): Parts {
  if (images === undefined || imageDisk === undefined)
    return {
      classes: [
        ['imagesInUseBytes', undefined],
        ['imagesUnusedBytes', undefined],
      ],
      collectableBytes: undefined,
    };
  const { total, inUse, collectable, isExact } = images;
  const unpacked = imageDisk.usedBytes - (layers ?? 0);
  const scale = !isExact && unpacked > 0 && total.bytes > 0 ? unpacked / total.bytes : 1;
  return {
    classes: [
      ['imagesInUseBytes', inUse.bytes * scale],
      ['imagesUnusedBytes', (total.bytes - inUse.bytes) * scale],
    ],
    collectableBytes: collectable.bytes * scale,
  };
}

/** Logs on a file system of their own, such as a partition for /var/log, are none of these. */
function kubeletParts(facts: UsageFacts, ofPods: Readonly<Record<PodClass, number>> | undefined): Parts {
  const { containers, areLogsApart } = facts;
  const { logs, orphans } = containers ?? {};
  const [directories, orphanedLogs] = [bytesIn(orphans?.podDirectories), bytesIn(orphans?.logDirectories)];
  const volumes = ['volumesBytes', ofPods?.volumesBytes] as const;
  if (areLogsApart === true)
    return { classes: [volumes, ['orphansBytes', orphans && directories]], collectableBytes: 0 };
  return {
    classes: [
      volumes,
      ['logsBytes', logs === undefined ? ofPods?.logsBytes : Math.max(0, logs.bytes - orphanedLogs)],
      ['orphansBytes', orphans && orphanedLogs + directories],
    ],
    collectableBytes: logs?.removableBytes,
  };
}

const bytesIn = (count: { readonly bytes: number } | undefined): number => count?.bytes ?? 0;

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
  const isComplete = all.every(([one, bytes]) => bytes !== undefined || one === 'orphansBytes');
  const other = isComplete
    ? ([['otherBytes', usedBytes - sum(known.map(([, bytes]) => bytes))]] as const)
    : [];
  const collectable = parts.map(({ collectableBytes }) => collectableBytes);
  return {
    name,
    capacityBytes,
    availableBytes,
    usedBytes,
    classes: Object.fromEntries([...known, ...other]),
    collectableBytes: collectable.includes(undefined)
      ? undefined
      : sum(collectable.map((bytes = 0) => bytes)) * scale,
  };
}
