import {
  largestOf,
  storageParts,
  usageOfPod,
  type LargestPart,
  type PodStorageUsage,
  type StorageMeasurement,
  type StoragePart,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';
import { isCritical } from '../../api/critical-pod.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { isInodes, type DiskSignal } from '../../api/node-pressure.ts';
import { declaredTotal } from '../../api/declared-storage.ts';
import { isFresh, type MaxAges } from '../localstorage/pods.ts';
import type { SignalState } from './facts.ts';

export interface PodShare {
  /** Bytes or inodes; a value that is not known counts as 0. */
  readonly used: number;
  /** Parts whose values are not known. */
  readonly unmeasured: readonly string[];
  readonly largest: LargestPart | undefined;
  /** Unix milliseconds of its oldest measurement; Infinity = it has none. */
  readonly measuredAtMs: number;
  /** Bytes; nobody requests inodes. */
  readonly request: number;
  readonly priority: number;
}

/** The file systems of a node, as the kubelet distinguishes them. */
export type DiskLayout = Pick<StorageUsage, 'dedicatedImageFs' | 'splitContainerFs'>;

/** Usage as the kubelet counts it for its rank (pkg/kubelet/eviction/helpers.go, buildSignalToRankFunc). If a file system holds only images, pods use nothing of it. */
function partsOn(
  signal: DiskSignal,
  { dedicatedImageFs, splitContainerFs }: DiskLayout,
): readonly StoragePart['kind'][] {
  if (!dedicatedImageFs) return ['layers', 'logs', 'volumes'];
  const isNodeFs = signal.startsWith('nodefs.');
  if (splitContainerFs) return isNodeFs ? ['layers', 'logs', 'volumes'] : [];
  return isNodeFs ? ['logs', 'volumes'] : ['layers'];
}

/** The file system, and the measurements that count. */
interface ShareOn {
  readonly signal: DiskSignal;
  readonly nodeUsage: DiskLayout & Pick<StorageUsage, 'atMs'>;
  readonly now: Date;
  readonly maxAges: MaxAges;
}

/** Usage of the signal's file system by the pod. A part whose measurement is too old is not measured. */
export function shareOf(
  { storage, priority = 0 }: StoragePod,
  usage: PodStorageUsage,
  { signal, nodeUsage, now, maxAges }: ShareOn,
): PodShare {
  const kinds = new Set(partsOn(signal, nodeUsage));
  const unit = isInodes(signal) ? 'inodes' : 'bytes';
  const timeOf = ({ atMs = nodeUsage.atMs }: StorageMeasurement): number => atMs;
  const parts = storageParts(storage, usage)
    .filter(({ kind }) => kinds.has(kind))
    .map(({ kind, name, measured }): StoragePart => {
      const isCurrent = measured !== undefined && isFresh(timeOf(measured), now, maxAges.usageMs);
      return { kind, name, measured: isCurrent ? measured : undefined };
    });
  const times = parts.flatMap(({ measured }) => (measured === undefined ? [] : [timeOf(measured)]));
  return {
    measuredAtMs: Math.min(...times),
    used: parts.reduce((sum, { measured }) => sum + (measured?.[unit] ?? 0), 0),
    unmeasured: parts.flatMap(({ name, measured }) => (measured?.[unit] === undefined ? [name] : [])),
    largest: largestOf(parts, unit),
    request: unit === 'inodes' ? 0 : (declaredTotal(storage, 'request')?.bytes ?? 0),
    priority,
  };
}

/** The kubelet's order (pkg/kubelet/eviction/helpers.go, rankDiskPressureFunc): pods over their request, then by lower priority, then by larger usage over the request. */
export function byRank(a: PodShare, b: PodShare): number {
  const [left, right] = [a.used - a.request, b.used - b.request];
  return Number(right > 0) - Number(left > 0) || a.priority - b.priority || right - left;
}

/**
 * The places, from 1 on, in which the kubelet would evict at this signal, by UID; undefined = the usage of a pod is not known. Critical and
 * finished pods have none.
 */
export function evictionPlaces(
  pods: readonly StoragePod[],
  context: Omit<ShareOn, 'nodeUsage'> & { readonly nodeUsage: StorageUsage },
): ReadonlyMap<string, number> | undefined {
  const candidates = pods.filter((pod) => !isCritical(pod) && !isFinished(pod));
  const users = candidates.flatMap((pod) => {
    const used = usageOfPod(context.nodeUsage, pod);
    const share = used && shareOf(pod, used, context);
    return share?.unmeasured.length === 0 ? [{ pod, share }] : [];
  });
  if (users.length < candidates.length) return undefined;
  const ranked = users.toSorted((a, b) => byRank(a.share, b.share));
  return new Map(ranked.map(({ pod }, i) => [pod.uid, i + 1]));
}

const smallBytes = 64 * 1024 ** 2;

/** Whether the eviction of a pod frees next to nothing: less than 1 % of what is missing, and less than 64 MiB. The kubelet evicts such pods too, last. */
export const isSmall = (
  used: number,
  { reading: { signal }, wanted }: Pick<SignalState, 'reading' | 'wanted'>,
): boolean => used * 100 < wanted && (isInodes(signal) || used < smallBytes);
