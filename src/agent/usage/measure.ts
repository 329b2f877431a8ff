import { isSameFileSystem } from '../../api/file-system.ts';
import { storageParts, usageOfPod, type StoragePod, type StorageUsage } from '../../api/local-storage.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { sum } from '../../runtime/sum.ts';
import type { ImageInventory } from '../imagegc/facts.ts';
import type { FileSystemStats } from '../../node/disk/filesystem.ts';
import {
  podClasses,
  type DiskUse,
  type LayerBytes,
  type MeasuredUsage,
  type NamespaceUse,
  type PodClass,
  type PodUse,
  type UsageClass,
  type UsageFacts,
  type WorkloadUse,
} from './facts.ts';
import { isFresh, maxAges } from '../localstorage/pods.ts';
import { evictionPlaces } from '../nodepressure/rank.ts';
import { keyOf } from './marks.ts';
import { volumeUses } from './volumes.ts';

export function measureUsage(facts: UsageFacts): MeasuredUsage {
  const pods = podUses(facts);
  const unmeasured = pods === undefined ? [] : unmeasuredPods(facts, pods);
  return {
    at: facts.now,
    disks: disksOf(facts, pods),
    pods,
    partial: [...(pods ?? []).filter(({ partial }) => partial.size > 0).map(({ pod }) => pod), ...unmeasured],
    namespaces: namespaceUses(pods ?? [], unmeasured),
    places: placesOf(facts),
    workloads: workloadUses(pods ?? [], unmeasured),
    volumes: volumeUses(facts),
  };
}

const placesOf = ({ kubelet, pods, now }: UsageFacts): MeasuredUsage['places'] =>
  kubelet && pods && evictionPlaces(pods, { signal: 'nodefs.available', nodeUsage: kubelet, now, maxAges });

/** A pass of imagegc may fail, and the next one is five minutes later. */
const exactLastsMs = 15 * 60_000;

/** Images with the bytes that they have on the disk. */
export interface ExactImages {
  readonly images: ImageInventory;
  readonly atMs: number;
}

/** The images of the last pass; if their bytes could not be read, those of a few minutes ago. */
export function lastingImages(
  images: ImageInventory | undefined,
  before: ExactImages | undefined,
  now: Date,
): ImageInventory | undefined {
  const isRead = images !== undefined && images.packed !== 'unknown';
  return !isRead && before !== undefined && isFresh(before.atMs, now, exactLastsMs) ? before.images : images;
}

/** undefined = the pods are not known, or none of the running ones is measured. */
function podUses(facts: UsageFacts): readonly PodUse[] | undefined {
  const { kubelet, pods } = facts;
  if (kubelet === undefined || pods === undefined) return undefined;
  const running = pods.filter((pod) => !isFinished(pod));
  const measured = running.flatMap((pod) => lastingUse(pod, kubelet, facts) ?? []);
  if (running.length > 0 && measured.length === 0) return undefined;
  const finished = pods
    .filter((pod) => isFinished(pod))
    .flatMap((pod) => podUse(pod, kubelet, facts) ?? finishedUse(pod, facts) ?? []);
  return [...measured, ...finished].toSorted((a, b) => b.bytes - a.bytes);
}

/** What is left of a pod that the kubelet measures no more; undefined = nothing. A part that could not be read is not measured. It has no emptyDirs: the kubelet has deleted them. */
function finishedUse(pod: StoragePod, { layers, containers, now }: UsageFacts): PodUse | undefined {
  const left = [
    ['layersBytes', layers],
    ['logsBytes', containers?.logs],
  ] as const;
  const partial = new Set(left.flatMap(([field, read]) => (read === undefined ? [field] : [])));
  const [layersBytes, logsBytes] = [bytesOf(pod, layers), bytesOf(pod, containers?.logs)];
  if (layersBytes + logsBytes === 0 && partial.size === 0) return undefined;
  return {
    pod,
    bytes: layersBytes + logsBytes,
    classes: { layersBytes, volumesBytes: 0, logsBytes },
    partial,
    measuredAtMs: now.getTime(),
  };
}

const bytesOf = ({ uid }: StoragePod, read: Pick<LayerBytes, 'byPod'> | undefined): number =>
  read?.byPod.get(uid) ?? 0;

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

function workloadUses(pods: readonly PodUse[], unmeasured: readonly StoragePod[]): readonly WorkloadUse[] {
  const workloadOf = ({ namespace, workload }: StoragePod) => ({ namespace, ...workload });
  const unknown = new Set(unmeasured.map((pod) => keyOf(workloadOf(pod))));
  return [...Map.groupBy(pods, ({ pod }) => keyOf(workloadOf(pod)))]
    .flatMap(([key, all]) =>
      all.slice(0, 1).map(({ pod }) => ({
        ...workloadOf(pod),
        pods: all.length,
        bytes: sum(all.map(({ bytes }) => bytes)),
        isPartial: unknown.has(key) || all.some(({ partial }) => partial.size > 0),
      })),
    )
    .toSorted((a, b) => b.bytes - a.bytes);
}

/** Nothing for a file system that could not be read, or if it is unknown whether the kubelet uses it. */
function disksOf(facts: UsageFacts, pods: readonly PodUse[] | undefined): readonly DiskUse[] {
  const { nodeDisk, imageDisk, kubelet } = facts;
  const ofPods = pods && classesOf((field) => pods.map(({ classes }) => classes[field]));
  const layerBytes = allLayers(ofPods?.layersBytes, facts);
  const own = [kubeletParts(facts, ofPods), checkpointParts(facts)];
  const layers = layerParts(layerBytes);
  // Then layers are on the file system of the kubelet (KEP-4191), and the runtime does not count them for images.
  if (kubelet?.splitContainerFs === true)
    return [
      ...onDisk('nodefs', nodeDisk, [layers, ...own]),
      ...onDisk('imagefs', imageDisk, [imageParts(facts, 0)]),
    ];
  const images = [imageParts(facts, layerBytes), layers];
  switch (isDedicated(facts)) {
    case true:
      return [...onDisk('nodefs', nodeDisk, [...own]), ...onDisk('imagefs', imageDisk, images)];
    case false:
      return onDisk('nodefs', nodeDisk ?? imageDisk, [...images, ...own]);
    case undefined: {
      const unknown = [unknownImages, layerParts(undefined)];
      return onDisk('nodefs', nodeDisk, [...unknown, ...own]);
    }
  }
}

const onDisk = (
  name: DiskUse['name'],
  disk: FileSystemStats | undefined,
  parts: readonly Parts[],
): readonly DiskUse[] => (disk === undefined ? [] : [diskUse(name, disk, parts)]);

/** The runtime may have measured later, or not yet. */
const allLayers = (ofPods: number | undefined, { layers }: Pick<UsageFacts, 'layers'>): number | undefined =>
  ofPods === undefined ? undefined : Math.max(ofPods, layers?.total ?? 0);

/** Whether images and layers have another file system than the kubelet; undefined = unknown. */
function isDedicated({ nodeDisk, imageDisk, kubelet }: UsageFacts): boolean | undefined {
  return nodeDisk === undefined || imageDisk === undefined
    ? kubelet?.dedicatedImageFs
    : !isSameFileSystem(nodeDisk, imageDisk);
}

const layerParts = (layers: number | undefined): Parts => ({
  classes: [['layersBytes', layers]],
  collectable: [],
});

type Sizes = readonly (readonly [UsageClass, number | undefined])[];

/** Some classes of a file system; undefined = unknown. */
interface Parts {
  readonly classes: Sizes;
  readonly collectable: Sizes;
}

const unknownImages: Parts = {
  classes: [
    ['imagesInUseBytes', undefined],
    ['imagesUnusedBytes', undefined],
  ],
  collectable: [['imagesUnusedBytes', undefined]],
};

type ImageFacts = Pick<UsageFacts, 'images' | 'imageDisk' | 'leftovers'>;

/** Images by their bytes on the disk, and what else the runtime keeps there. */
function imageParts(facts: ImageFacts, layers: number | undefined): Parts {
  const { images } = facts;
  if (images === undefined || images.packed === 'unknown') return unknownImages;
  if (images.packed === 'unsupported') return apportionedImages(images, facts, layers);
  const { total, inUse, collectable, packed, others } = images;
  const unusedPacked = packed.total - packed.inUse;
  return {
    classes: [
      ['imagesInUseBytes', inUse.bytes - packed.inUse],
      ['imagesUnusedBytes', total.bytes - inUse.bytes - unusedPacked],
      ['packedBytes', packed.total],
      ['leftoversBytes', others?.leftovers],
      ['namespacesBytes', others?.namespaces],
    ],
    collectable: [
      ['imagesUnusedBytes', collectable.bytes - packed.collectable],
      ['packedBytes', packed.collectable],
      ...collectableLeftovers(facts, others),
    ],
  };
}

/** None if unknown: what is collectable besides them is known. The passes of the units differ, so never more than all. */
const collectableLeftovers = ({ leftovers }: ImageFacts, others: ImageInventory['others']): Sizes =>
  leftovers === undefined || 'unknown' in leftovers || others === undefined
    ? []
    : [['leftoversBytes', Math.min(leftovers.removableBytes, others.leftovers)]];

/**
 * By what the runtime uses for unpacked layers, without writable ones: the size of each image is its compressed size, or counts shared layers
 * several times, so sizes of images only divide the total.
 */
function apportionedImages(
  { total, inUse, collectable }: ImageInventory,
  { imageDisk }: ImageFacts,
  layers: number | undefined,
): Parts {
  if (imageDisk === undefined) return unknownImages;
  const unpacked = imageDisk.usedBytes - (layers ?? 0);
  const scale = unpacked > 0 && total.bytes > 0 ? unpacked / total.bytes : 1;
  return {
    classes: [
      ['imagesInUseBytes', inUse.bytes * scale],
      ['imagesUnusedBytes', (total.bytes - inUse.bytes) * scale],
    ],
    collectable: [['imagesUnusedBytes', collectable.bytes * scale]],
  };
}

/** Logs on a file system of their own, such as a partition for /var/log, are none of these. */
function kubeletParts(facts: UsageFacts, ofPods: Readonly<Record<PodClass, number>> | undefined): Parts {
  const { containers, areLogsApart } = facts;
  const { logs, orphans } = containers ?? {};
  const [directories, orphanedLogs] = [bytesIn(orphans?.podDirectories), bytesIn(orphans?.logDirectories)];
  const volumes = ['volumesBytes', ofPods?.volumesBytes] as const;
  if (areLogsApart === true)
    return { classes: [volumes, ['orphansBytes', orphans && directories]], collectable: [] };
  return {
    classes: [
      volumes,
      ['logsBytes', logs === undefined ? ofPods?.logsBytes : Math.max(0, logs.bytes - orphanedLogs)],
      ['orphansBytes', orphans && orphanedLogs + directories],
    ],
    collectable: collectableLogs(logs?.removableBytes, orphanedLogs),
  };
}

/** Orphaned logs are the oldest, so that the policy removes them first. */
function collectableLogs(removable: number | undefined, orphaned: number): Sizes {
  if (removable === undefined) return [['logsBytes', undefined]];
  const orphans = Math.min(removable, orphaned);
  return [
    ['logsBytes', removable - orphans],
    ['orphansBytes', orphans],
  ];
}

/** Nothing for checkpoints on a file system of their own. */
function checkpointParts({ containers }: UsageFacts): Parts {
  const { bytes, removableBytes, isApart = false } = containers?.checkpoints ?? {};
  if (isApart) return { classes: [], collectable: [] };
  return { classes: [['checkpointsBytes', bytes]], collectable: [['checkpointsBytes', removableBytes]] };
}

const bytesIn = (count: { readonly bytes: number } | undefined): number => count?.bytes ?? 0;

/** What the known classes do not use is `other`, if all are known: then whole bytes add up to the used ones. Sizes that are larger than the used bytes together are scaled down. */
function diskUse(name: DiskUse['name'], disk: FileSystemStats, parts: readonly Parts[]): DiskUse {
  const { capacityBytes, availableBytes, freeBytes = availableBytes, inodes = 0, inodesFree = inodes } = disk;
  const usedBytes = Math.max(0, capacityBytes - freeBytes);
  const all = parts.flatMap(({ classes }) => classes);
  const total = sum(known(all).map(([, bytes]) => bytes));
  const scale = total > usedBytes ? usedBytes / total : 1;
  const scaled = (sizes: Sizes) =>
    known(sizes).map(([one, bytes]) => [one, Math.floor(bytes * scale)] as const);
  const classes = scaled(all);
  // Where orphans were not searched, they are few, and count as other.
  const isComplete = all.every(([one, bytes]) => bytes !== undefined || one === 'orphansBytes');
  const other = isComplete
    ? ([['otherBytes', usedBytes - sum(classes.map(([, bytes]) => bytes))]] as const)
    : [];
  const wanted = parts.flatMap(({ collectable }) => collectable);
  const collectable = scaled(wanted);
  return {
    name,
    capacityBytes,
    availableBytes,
    usedBytes,
    inodesPercent: inodes === 0 ? undefined : (100 * (inodes - inodesFree)) / inodes,
    classes: Object.fromEntries([...classes, ...other]),
    collectable: Object.fromEntries(collectable),
    collectableBytes:
      collectable.length < wanted.length ? undefined : sum(collectable.map(([, bytes]) => bytes)),
  };
}

const known = (sizes: Sizes): readonly (readonly [UsageClass, number])[] =>
  sizes.flatMap(([one, bytes]) => (bytes === undefined ? [] : [[one, bytes] as const]));
