import { parseQuantity } from '../runtime/text/quantity.ts';

/** The file systems of the signals of disks. */
export type DiskName = 'nodefs' | 'imagefs';

/** The signals of disks: only they are relieved, and only for them a pod is evicted. */
export const diskSignals = [
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
] as const;
export type DiskSignal = (typeof diskSignals)[number];

/** The signals that a policy has thresholds for, with upstream's names (pkg/kubelet/eviction/api/types.go). */
export const thresholdSignals = [...diskSignals, 'memory.available'] as const;
export type ThresholdSignal = (typeof thresholdSignals)[number];

/** All signals that a node may report. The kubelet takes the thresholds of containerfs from nodefs or imagefs. */
export const nodeSignals = [...thresholdSignals, 'containerfs.available', 'containerfs.inodesFree'] as const;
export type NodeSignal = (typeof nodeSignals)[number];

/** One measured signal: bytes, or inodes. */
export interface SignalReading {
  readonly signal: NodeSignal;
  readonly available: number;
  readonly capacity: number;
  /** Unix milliseconds. */
  readonly measuredAtMs: number;
  /** The device of its file system; undefined = unknown, or of memory. */
  readonly device?: number | undefined;
}

/** Amount that a disk is short of. */
export interface DiskDemand {
  readonly signal: DiskSignal;
  /** The threshold that is crossed, as the policy has it. */
  readonly threshold: string;
  /** Amount that must become available, bytes or inodes. */
  readonly wanted: number;
  /** Milliseconds until the kubelet's own threshold is crossed at the present growth; 0 = it is. undefined = it is not approached, or unknown. */
  readonly kubeletInMs?: number | undefined;
}

/** A pass over containers or images that frees a disk. */
export interface Relief extends DiskDemand {
  /** Measures the disk again: amount that is still missing; 0 or less = none. */
  readonly missing: (signal: AbortSignal) => Promise<number>;
}

/** What a pass over containers would remove; nothing where it has removed it. */
export interface PlannedContainers {
  /** Ids of containers. */
  readonly ids: ReadonlySet<string>;
  /** Bytes of their logs and of the other files that the pass would remove; the sizes of their writable layers are unknown. */
  readonly bytes: number;
}

export const noContainers: PlannedContainers = { ids: new Set(), bytes: 0 };

/** What a reclaim of images and containers has left. Enough: the demand is met. MoreLeft: the next pass may remove more. Ungoverned: nothing can be removed, but images that only the policy's selection keeps: it has no rule for images, or its `only` leaves them out. Exhausted: nothing can be removed. The demand is not met by either. */
export type ReclaimResult = 'Enough' | 'MoreLeft' | 'Ungoverned' | 'Exhausted';

/** A quantity, or a part of the capacity. */
export type Amount =
  | { readonly kind: 'percent'; readonly percent: number; readonly text: string }
  | { readonly kind: 'quantity'; readonly value: number; readonly text: string };

/** Parses a percentage or a quantity; undefined = none, or one that the kubelet ignores: 0 % and 100 % (pkg/kubelet/eviction/helpers.go). */
export function parseAmount(text: string): Amount | undefined {
  if (text.endsWith('%')) {
    const percent = Number(text.slice(0, -1));
    return percent > 0 && percent < 100 ? { kind: 'percent', percent, text } : undefined;
  }
  const value = parseQuantity(text);
  return value !== undefined && value > 0 ? { kind: 'quantity', value, text } : undefined;
}

/** The amount in the unit of the capacity, rounded down as upstream does (pkg/kubelet/eviction/api/types.go, GetThresholdQuantity). */
export const amountOf = (amount: Amount, capacity: number): number =>
  amount.kind === 'quantity' ? amount.value : Math.floor((capacity * amount.percent) / 100);

/** Keyed by signal; a signal without an entry has no threshold. */
export type SignalThresholds = ReadonlyMap<ThresholdSignal, Amount>;

export const isInodes = (signal: NodeSignal): boolean => signal.endsWith('.inodesFree');

export const diskOf = (signal: DiskSignal): DiskName =>
  signal.startsWith('imagefs.') ? 'imagefs' : 'nodefs';

export const isDiskSignal = (signal: string): signal is DiskSignal =>
  diskSignals.some((one) => one === signal);

/** A threshold as the policy or the kubelet's configuration has it. */
export interface Limit {
  /** Bytes or inodes, as the signal. */
  readonly value: number;
  readonly text: string;
  /** The time until it is crossed at the present growth, 0 = it is; undefined = it is not approached. */
  readonly secondsLeft: number | undefined;
}

/** One signal in one pass. */
export interface SignalState {
  readonly reading: SignalReading & { readonly signal: ThresholdSignal };
  readonly ours: Limit | undefined;
  readonly kubelets: Limit | undefined;
  /** Amount per minute by which less becomes available; undefined = unknown, or not less. */
  readonly growthPerMinute: number | undefined;
  /** The largest total that the device has had: that of an emptier disk may be larger again. */
  readonly largestCapacity: number;
  /** When our threshold was crossed; undefined = it is not. It remains crossed until the minimum reclaim is available too. */
  readonly crossedSinceMs: number | undefined;
  /** Our threshold is crossed, or was within the transition period. */
  readonly isUnderPressure: boolean;
  /** Amount that must become available to end the pressure; 0 = none. */
  readonly wanted: number;
}

/** A value for each disk signal. */
export const byDiskSignal = <T>(of: (signal: DiskSignal) => T): Readonly<Record<DiskSignal, T>> => ({
  'nodefs.available': of('nodefs.available'),
  'nodefs.inodesFree': of('nodefs.inodesFree'),
  'imagefs.available': of('imagefs.available'),
  'imagefs.inodesFree': of('imagefs.inodesFree'),
});
