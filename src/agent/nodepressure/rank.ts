import type {
  PodStorageUsage,
  StorageMeasurement,
  StoragePod,
  StorageUsage,
} from '../../api/local-storage.ts';
import { isInodes, type DiskSignal, type SignalState } from '../../api/node-pressure.ts';
import { declaredTotal } from '../../api/declared-storage.ts';

/** Usage of a file system by one pod. */
export interface PodShare {
  /** Bytes or inodes; a value that is not known counts as 0. */
  readonly used: number;
  /** All values are known. */
  readonly isComplete: boolean;
  /** Bytes; nobody requests inodes. */
  readonly request: number;
  readonly priority: number;
}

/** The file systems of a node, as the kubelet distinguishes them. */
export type DiskLayout = Pick<StorageUsage, 'dedicatedImageFs' | 'splitContainerFs'>;

/** Parts of a pod that use a file system. */
type Part = 'layers' | 'logs' | 'volumes';

/** Usage as the kubelet counts it for its rank (pkg/kubelet/eviction/helpers.go, buildSignalToRankFunc). If a file system holds only images, pods use nothing of it. */
function partsOn(signal: DiskSignal, { dedicatedImageFs, splitContainerFs }: DiskLayout): readonly Part[] {
  if (!dedicatedImageFs) return ['layers', 'logs', 'volumes'];
  const isNodeFs = signal.startsWith('nodefs.');
  if (splitContainerFs) return isNodeFs ? ['layers', 'logs', 'volumes'] : [];
  return isNodeFs ? ['logs', 'volumes'] : ['layers'];
}

/** Usage of the signal's file system by the pod. */
export function shareOf(
  { storage, priority = 0 }: StoragePod,
  usage: PodStorageUsage,
  on: { readonly signal: DiskSignal; readonly layout: DiskLayout },
): PodShare {
  const parts = new Set(partsOn(on.signal, on.layout));
  const onDisk = storage.emptyDirs.filter(({ isMemory }) => !isMemory);
  const measured: readonly (StorageMeasurement | undefined)[] = [
    ...usage.containers.flatMap(({ layer, logs }) => [
      parts.has('layers') ? layer : undefined,
      parts.has('logs') ? logs : undefined,
    ]),
    ...(parts.has('volumes') ? onDisk.map(({ name }) => usage.volumes.get(name)) : []),
  ];
  const amounts = measured.map((one) => (isInodes(on.signal) ? one?.inodes : one?.bytes));
  return {
    used: amounts.reduce<number>((sum, amount = 0) => sum + amount, 0),
    isComplete: !amounts.includes(undefined),
    request: isInodes(on.signal) ? 0 : (declaredTotal(storage, 'request')?.bytes ?? 0),
    priority,
  };
}

/** The kubelet's order (pkg/kubelet/eviction/helpers.go, rankDiskPressureFunc): pods over their request, then by lower priority, then by larger usage over the request. */
export function byRank(a: PodShare, b: PodShare): number {
  const [left, right] = [a.used - a.request, b.used - b.request];
  return Number(right > 0) - Number(left > 0) || a.priority - b.priority || right - left;
}

const smallBytes = 64 * 1024 ** 2;

/** Whether the eviction of a pod frees next to nothing: less than 1 % of what is missing, and less than 64 MiB. The kubelet evicts such pods too, last. */
export const isSmall = (
  used: number,
  { reading: { signal }, wanted }: Pick<SignalState, 'reading' | 'wanted'>,
): boolean => used * 100 < wanted && (isInodes(signal) || used < smallBytes);
