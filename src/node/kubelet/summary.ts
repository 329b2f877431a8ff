import type {
  ContainerStorageUsage,
  PodStorageUsage,
  StorageFigure,
  StorageUsage,
} from '../../api/local-storage.ts';

type Json = Readonly<Record<string, unknown>>;

const nothing: Json = Object.freeze({});
const noVolumes: ReadonlyMap<string, StorageFigure> = new Map();

/**
 * What a kubelet's `/stats/summary` says of local storage, by the UIDs that the kubelet has: of a static pod that is its mirror's
 * `configHash`. What is missing or of another type was not told; a summary without pods tells of none.
 */
export function storageUsageOf(summary: unknown, nowMs: number): StorageUsage {
  const { node, pods } = object(summary);
  return {
    atMs: nowMs,
    dedicatedImageFs: isImageFsDedicated(node),
    pods: new Map(list(pods).flatMap(podUsageOf)),
  };
}

/** Of the field `node`. Where it does not say, layers do not count against a container's limit: nothing goes by a guess. */
export function isImageFsDedicated(node: unknown): boolean {
  const { fs, runtime } = object(node);
  const nodeBytes = bytesOf(object(fs)['capacityBytes']);
  const imageBytes = bytesOf(object(object(runtime)['imageFs'])['capacityBytes']);
  return nodeBytes === undefined || nodeBytes !== imageBytes;
}

/** One entry of the field `pods`; nothing for one without a UID. */
export function podUsageOf(pod: unknown): readonly (readonly [uid: string, usage: PodStorageUsage])[] {
  const { podRef, containers, volume, 'ephemeral-storage': total } = object(pod);
  const { uid } = object(podRef);
  if (typeof uid !== 'string' || uid === '') return [];
  const usage = {
    total: figureOf(total),
    volumes: volumesOf(volume),
    containers: list(containers).flatMap(containerOf),
  };
  return [[uid, usage]];
}

/** Volumes of claims are no local storage of the pod. */
function volumesOf(volumes: unknown): ReadonlyMap<string, StorageFigure> {
  const found = list(volumes).flatMap((volume): (readonly [string, StorageFigure])[] => {
    const { name, pvcRef } = object(volume);
    const figure = figureOf(volume);
    return typeof name !== 'string' || pvcRef !== undefined || figure === undefined ? [] : [[name, figure]];
  });
  return found.length === 0 ? noVolumes : new Map(found);
}

function containerOf(container: unknown): readonly ContainerStorageUsage[] {
  const { name, rootfs, logs } = object(container);
  if (typeof name !== 'string') return [];
  return [{ name, layer: figureOf(rootfs), logs: figureOf(logs) }];
}

function figureOf(stats: unknown): StorageFigure | undefined {
  const { usedBytes, time } = object(stats);
  const bytes = bytesOf(usedBytes);
  return bytes === undefined ? undefined : { bytes, atMs: timeOf(time) };
}

/** Go writes the zero time as the year 1: nobody has measured. */
function timeOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return ms > 0 ? ms : undefined;
}

const bytesOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const object = (value: unknown): Json => (isObject(value) ? value : nothing);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
