import {
  isSameFileSystem,
  unknownDevices,
  type DiskDevices,
  type FileSystemFacts,
} from '../../api/file-system.ts';
import type {
  ClaimUsage,
  ContainerStorageUsage,
  PodStorageUsage,
  StorageMeasurement,
  StorageUsage,
} from '../../api/local-storage.ts';
import { asList, asObject, asObjects, asText } from '../../kube/codec/json.ts';
import { count, fileSystemOf, largestCount, partsOf, signalsOf, timeOf, uncountedOf } from './node-stats.ts';

const noVolumes: ReadonlyMap<string, StorageMeasurement> = new Map();

/** The usage of one pod as the kubelet reports it: a value may be impossible. */
export interface ReportedPod {
  /** The kubelet's: for a static pod the `configHash` of its mirror. */
  readonly uid: string;
  /** `namespace/name`. */
  readonly name: string;
  readonly usage: PodStorageUsage;
  readonly claims: readonly ClaimUsage[];
}

interface Reported {
  /** The field `node` of a kubelet's `/stats/summary`. */
  readonly node: unknown;
  readonly pods: readonly ReportedPod[];
}

/** Reads the local storage usage from a kubelet's `/stats/summary`. A field that is missing or of another type counts as not measured. */
export function storageUsageOf(summary: unknown, nowMs: number, devices = unknownDevices): StorageUsage {
  const { node, pods } = asObject(summary);
  return usageOf({ node, pods: asList(pods).flatMap(reportedPod) }, nowMs, devices);
}

/**
 * The same from its parts. The usage of a pod with an impossible value (negative, or above 2^63) is unknown; a volume with one is left out alone, because it
 * may be on another server. A value that is larger than its file system counts as the size of it: the kubelet counts an extent that files share in each of them.
 */
export function usageOf({ node, pods }: Reported, nowMs: number, devices: DiskDevices): StorageUsage {
  const layout = diskLayoutOf(node, devices);
  const room = roomOf(node, layout);
  const known = new Map<string, PodStorageUsage>();
  const impossible = [...impossibleOfNode(node)];
  for (const { uid, name, usage } of pods) {
    const part = impossiblePart(usage);
    if (part === undefined) known.set(uid, withinRoom(usage, room));
    else impossible.push(`pod ${name} (${part})`);
  }
  return {
    atMs: nowMs,
    ...layout,
    signals: signalsOf(node, nowMs, devices),
    uncounted: uncountedOf(node),
    pods: known,
    claims: pods.flatMap(({ claims }) => claims),
    impossible,
  };
}

export function impossibleOfNode(node: unknown): readonly string[] {
  const { fs, memory, imageFs, containerFs } = partsOf(node);
  const places: readonly (readonly [string, unknown])[] = [
    ['file system of the kubelet', fs],
    ['file system of images', imageFs],
    ['file system of containers', containerFs],
  ];
  const { availableBytes, workingSetBytes } = memory;
  return [
    ...places.flatMap(([name, stats]) => {
      const reported = asObject(stats);
      const known = fileSystemOf(stats);
      return (['capacityBytes', 'availableBytes', 'inodes', 'inodesFree'] as const)
        .filter((field) => typeof reported[field] === 'number' && known[field] === undefined)
        .map((field) => `${name} (${field}${reported[field] === 0 ? ' is 0' : ''})`);
    }),
    ...Object.entries({ availableBytes, workingSetBytes })
      .filter(([, value]) => typeof value === 'number' && count(value) === undefined)
      .map(([field]) => `memory (${field})`),
  ];
}

type DiskLayout = Pick<StorageUsage, 'dedicatedImageFs' | 'splitContainerFs'>;

/** Reads which file systems a node has, as the kubelet distinguishes them (pkg/kubelet/stats/provider.go, HasDedicatedImageFs and HasDedicatedContainerFs). */
export function diskLayoutOf(node: unknown, devices: DiskDevices): DiskLayout {
  const { fs, imageFs, containerFs } = partsOf(node);
  const images = { ...fileSystemOf(imageFs), device: devices.imageFs };
  const containers = { ...fileSystemOf(containerFs), device: devices.containerFs };
  const splitContainerFs = areKnown(images, containers) && !isSameFileSystem(images, containers);
  const nodeFs = { ...fileSystemOf(fs), device: devices.kubeletRoot };
  // If it is unknown, layers do not count for a container's limit: no pod is evicted by a guess.
  return { dedicatedImageFs: splitContainerFs || !isSameFileSystem(nodeFs, images), splitContainerFs };
}

const areKnown = (...both: readonly FileSystemFacts[]): boolean =>
  both.every(({ device }) => device !== undefined) ||
  both.every(({ capacityBytes }) => capacityBytes !== undefined);

interface Room {
  readonly bytes: number;
  readonly inodes: number;
}

type Rooms = Readonly<Record<'logs' | 'layers' | 'volumes' | 'total', Room>>;

/** Logs and volumes are on the file system of the kubelet, a volume perhaps in memory. */
function roomOf(node: unknown, { dedicatedImageFs, splitContainerFs }: DiskLayout): Rooms {
  const { fs, memory, imageFs, containerFs } = partsOf(node);
  const logs = roomIn(fileSystemOf(fs));
  const layers = dedicatedImageFs ? roomIn(fileSystemOf(splitContainerFs ? containerFs : imageFs)) : logs;
  const { availableBytes, workingSetBytes } = memory;
  const memoryBytes = (count(availableBytes) ?? 0) + (count(workingSetBytes) ?? 0);
  return {
    logs,
    layers,
    volumes: {
      bytes: Math.max(logs.bytes, memoryBytes),
      inodes: Math.max(logs.inodes, memoryBytes / pageBytes),
    },
    total: dedicatedImageFs ? together(logs, layers) : logs,
  };
}

const together = (a: Room, b: Room): Room => ({
  bytes: Math.min(a.bytes + b.bytes, largestCount),
  inodes: Math.min(a.inodes + b.inodes, largestCount),
});

/** A file in memory uses at least a page. */
const pageBytes = 4096;

/** A capacity of 0 is not known: some file systems count no inodes. */
const roomIn = ({ capacityBytes = 0, inodes = 0 }: FileSystemFacts): Room => ({
  bytes: capacityBytes === 0 ? largestCount : capacityBytes,
  inodes: inodes === 0 ? largestCount : inodes,
});

/** Names the first part of a pod whose value cannot be; undefined = none. */
function impossiblePart({ total, containers }: PodStorageUsage): string | undefined {
  const parts: readonly (readonly [string, StorageMeasurement | undefined])[] = [
    ...containers.flatMap(({ name, layer, logs }) => [
      [`writable layer of container ${name}`, layer] as const,
      [`logs of container ${name}`, logs] as const,
    ]),
    ['total', total],
  ];
  return parts.find(([, measured]) => measured !== undefined && !isPossible(measured))?.[0];
}

const isPossible = ({ bytes, inodes = 0 }: StorageMeasurement): boolean =>
  count(bytes) !== undefined && count(inodes) !== undefined;

function withinRoom(usage: PodStorageUsage, rooms: Rooms): PodStorageUsage {
  const { total, containers, volumes } = usage;
  const impossibleVolumes = [...volumes].filter(([, volume]) => !isPossible(volume)).map(([name]) => name);
  const possible = [...volumes].filter(([name]) => !impossibleVolumes.includes(name));
  return {
    ...usage,
    total: total && atMost(total, rooms.total),
    volumes: new Map(possible.map(([name, volume]) => [name, atMost(volume, rooms.volumes)])),
    containers: containers.map(({ name, layer, logs }) => ({
      name,
      layer: layer && atMost(layer, rooms.layers),
      logs: logs && atMost(logs, rooms.logs),
    })),
    ...(impossibleVolumes.length > 0 && { impossibleVolumes }),
  };
}

const atMost = (measured: StorageMeasurement, room: Room): StorageMeasurement => {
  const { bytes, inodes, atMs } = measured;
  if (bytes <= room.bytes && (inodes ?? 0) <= room.inodes) return measured;
  return {
    bytes: Math.min(bytes, room.bytes),
    inodes: inodes === undefined ? undefined : Math.min(inodes, room.inodes),
    atMs,
  };
};

/** Reads one entry of the field `pods`; returns nothing for one without a UID. */
export function reportedPod(pod: unknown): readonly ReportedPod[] {
  const { podRef, containers, volume, memory, 'ephemeral-storage': total } = asObject(pod);
  const { uid, namespace, name } = asObject(podRef);
  if (typeof uid !== 'string' || uid === '') return [];
  const usage = {
    total: sizeOf(total),
    volumes: volumesOf(volume),
    containers: asList(containers).flatMap(containerOf),
    memoryBytes: count(asObject(memory)['workingSetBytes']),
  };
  return [
    { uid, name: `${asText(namespace)}/${asText(name)}`, usage, claims: claimsOf(volume, asText(name)) },
  ];
}

/** The kubelet reports a block volume as one of which nothing is used and nothing is available. */
const claimsOf = (volumes: unknown, pod: string): readonly ClaimUsage[] =>
  asObjects(volumes).flatMap(({ pvcRef, usedBytes, time, ...stats }): ClaimUsage[] => {
    const { namespace, name } = asObject(pvcRef);
    const { capacityBytes, availableBytes, inodes = 0, inodesFree } = fileSystemOf(stats);
    const used = count(usedBytes);
    if (typeof namespace !== 'string' || typeof name !== 'string') return [];
    if (capacityBytes === undefined || availableBytes === undefined || used === undefined) return [];
    if (used > capacityBytes || used + availableBytes === 0) return [];
    const known = inodes > 0 && inodesFree !== undefined;
    return [
      {
        namespace,
        name,
        pod,
        usedBytes: used,
        capacityBytes,
        availableBytes,
        inodes: known ? { total: inodes, free: inodesFree } : undefined,
        atMs: timeOf(time),
      },
    ];
  });

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

/** Values as the kubelet reports them. */
function sizeOf(stats: unknown): StorageMeasurement | undefined {
  const { usedBytes, inodesUsed, time } = asObject(stats);
  if (typeof usedBytes !== 'number') return undefined;
  const inodes = typeof inodesUsed === 'number' ? inodesUsed : undefined;
  return { bytes: usedBytes, inodes, atMs: timeOf(time) };
}
