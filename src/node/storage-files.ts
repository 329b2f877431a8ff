import { join } from 'node:path';
import type {
  ContainerStorageUsage,
  PodStorageUsage,
  StorageFigure,
  StoragePod,
} from '../api/local-storage.ts';
import type { StorageJob, StorageJobResult } from './storage-jobs.ts';

/** Where a node keeps what its pods write. */
export interface StorageRoots {
  /** `/var/lib/kubelet`. */
  readonly kubelet: string;
  /** `/var/log/pods`. */
  readonly podLogs: string;
}

/** A container that runs; only those count, as with the kubelet. */
export interface RunningLayer {
  readonly name: string;
  /** undefined = the runtime does not know yet. */
  readonly layer: StorageFigure | undefined;
}

/** The UID that a pod's directories and containers carry: of a static pod not that of its mirror. */
export const kubeletUid = ({ uid, configHash }: StoragePod): string => configHash ?? uid;

const isFinished = ({ phase }: StoragePod): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Annotations and names are others' words: what would lead out of the roots is not walked. */
const isOneName = (...names: readonly string[]): boolean =>
  names.every((name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name));

const isMeasurable = (pod: StoragePod): boolean =>
  !isFinished(pod) && isOneName(kubeletUid(pod), pod.name, pod.namespace);

/**
 * The pods that use local storage that can be found: they may still run, and their names are such as the API server allows. One whose annotation
 * claims the UID of another pod is left out: by its spec that one's directories would be counted otherwise.
 */
export function measurablePods(pods: readonly StoragePod[]): readonly StoragePod[] {
  const uids = new Set(pods.map(({ uid }) => uid));
  const claims = ({ uid, configHash = uid }: StoragePod): boolean =>
    configHash !== uid && uids.has(configHash);
  return pods.filter((pod) => isMeasurable(pod) && !claims(pod));
}

const keyOf = (uid: string, part: string): string => `${uid}/${part}`;

/** What to measure of one pod. */
export function jobsOf(pod: StoragePod, { kubelet, podLogs }: StorageRoots): readonly StorageJob[] {
  const uid = kubeletUid(pod);
  const directory = join(kubelet, 'pods', uid);
  const volumes = join(directory, 'volumes');
  const emptyDirs = pod.storage.emptyDirs.filter(({ name }) => isOneName(name));
  return [
    ...emptyDirs.map(({ name, isMemory }): StorageJob => ({
      key: keyOf(uid, `volume/${name}`),
      path: join(volumes, 'kubernetes.io~empty-dir', name),
      kind: isMemory ? 'mount' : 'whole',
    })),
    { key: keyOf(uid, 'configs'), path: join(volumes, 'kubernetes.io~configmap'), kind: 'each' },
    { key: keyOf(uid, 'hosts'), path: join(directory, 'etc-hosts'), kind: 'whole' },
    { key: keyOf(uid, 'logs'), path: join(podLogs, `${pod.namespace}_${pod.name}_${uid}`), kind: 'logs' },
  ];
}

type Known = ReadonlyMap<string, StorageJobResult>;

/** What a pod uses, added up as the kubelet does; what could not be measured is undefined, and so is then the total. */
export function usageOf(pod: StoragePod, running: readonly RunningLayer[], known: Known): PodStorageUsage {
  const uid = kubeletUid(pod);
  const logs = known.get(keyOf(uid, 'logs'));
  const containers = running.map(({ name, layer }) => ({ name, layer, logs: partOf(logs, name) }));
  const volumes = new Map<string, StorageFigure>();
  const counted: (StorageFigure | undefined)[] = [
    podLogs(logs),
    figureOf(known.get(keyOf(uid, 'configs'))),
    figureOf(known.get(keyOf(uid, 'hosts'))),
  ];
  for (const { name, isMemory } of pod.storage.emptyDirs) {
    const result = known.get(keyOf(uid, `volume/${name}`));
    const figure = figureOf(result);
    if (figure !== undefined && result?.walked.kind === 'measured') volumes.set(name, figure);
    if (!isMemory) counted.push(figure);
  }
  return { total: totalOf(counted, containers), volumes, containers };
}

/** As old as its oldest part. A layer that the runtime does not know yet counts as nothing, as with the kubelet. */
function totalOf(
  figures: readonly (StorageFigure | undefined)[],
  containers: readonly ContainerStorageUsage[],
): StorageFigure | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  if (known.length < figures.length) return undefined;
  const parts = containers.flatMap(({ layer, logs }) => [layer, logs]).filter((part) => part !== undefined);
  const all = [...known, ...parts];
  return {
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    atMs: Math.min(...all.map(({ atMs }) => atMs ?? Infinity)),
  };
}

/** What is not there takes nothing. */
function figureOf(result: StorageJobResult | undefined): StorageFigure | undefined {
  if (result === undefined || result.walked.kind === 'unknown') return undefined;
  return { bytes: result.walked.kind === 'measured' ? result.walked.bytes : 0, atMs: result.atMs };
}

/** Those beside the containers' own directories. */
function podLogs(logs: StorageJobResult | undefined): StorageFigure | undefined {
  if (figureOf(logs) === undefined || logs === undefined) return undefined;
  return partOf(logs, '') ?? { bytes: 0, atMs: logs.atMs };
}

function partOf(result: StorageJobResult | undefined, name: string): StorageFigure | undefined {
  const [, bytes] = result?.parts.find(([part]) => part === name) ?? [];
  return bytes === undefined || result === undefined ? undefined : { bytes, atMs: result.atMs };
}
