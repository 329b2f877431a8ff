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

/** A value for each disk signal. */
export const byDiskSignal = <T>(of: (signal: DiskSignal) => T): Readonly<Record<DiskSignal, T>> => ({
  'nodefs.available': of('nodefs.available'),
  'nodefs.inodesFree': of('nodefs.inodesFree'),
  'imagefs.available': of('imagefs.available'),
  'imagefs.inodesFree': of('imagefs.inodesFree'),
});
