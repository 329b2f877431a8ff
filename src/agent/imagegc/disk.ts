import type { ImageGcPolicy, Thresholds } from '../../api/policy/policy.ts';
import type { DiskSpace } from '../../node/disk/filesystem.ts';
import type { ImageGcPlan, SpaceUnit } from './facts.ts';

interface Amount {
  readonly total: number;
  readonly free: number;
}

/** Whether the file system reports a plausible capacity; the kubelet has an Event for one that does not. */
export const hasCapacity = (disk: DiskSpace | undefined): disk is DiskSpace =>
  disk !== undefined && isPlausible({ total: disk.capacityBytes, free: disk.availableBytes });

const isPlausible = ({ total, free }: Amount): boolean =>
  Number.isFinite(total) && Number.isFinite(free) && total >= 1 && free >= 0;

/** The bytes or inodes of a disk; undefined = unknown. */
export function amountOf(unit: SpaceUnit, disk: DiskSpace | undefined): Amount | undefined {
  const { capacityBytes, availableBytes, inodes, inodesFree } = disk ?? {};
  const [total, free] = unit === 'bytes' ? [capacityBytes, availableBytes] : [inodes, inodesFree];
  if (!hasCapacity(disk) || total === undefined || free === undefined) return undefined;
  const amount = { total, free };
  return isPlausible(amount) ? amount : undefined;
}

/** The kubelet's integer arithmetic (pkg/kubelet/images/image_gc_manager.go, GarbageCollect). */
export function usedPercentOf(amount: Amount): number {
  const { total, free } = whole(amount);
  return 100 - Number((free * 100n) / total);
}

/** The used share of the bytes or inodes of a disk, in percent; undefined = unknown. */
function usedPercentIn(unit: SpaceUnit, disk: DiskSpace | undefined): number | undefined {
  const amount = amountOf(unit, disk);
  return amount && usedPercentOf(amount);
}

export const usageOf = (
  disk: DiskSpace | undefined,
): Pick<ImageGcPlan, 'isMeasured' | 'usedPercent' | 'usedInodesPercent'> => ({
  isMeasured: disk !== undefined,
  usedPercent: usedPercentIn('bytes', disk),
  usedInodesPercent: usedPercentIn('inodes', disk),
});

/** Bytes or inodes to free until usage is at the low threshold; 0 or less = it is. */
export function amountOverLow(
  amount: Amount,
  { lowThresholdPercent }: Pick<Thresholds, 'lowThresholdPercent'>,
): number {
  const { total, free } = whole(amount);
  return Number((total * BigInt(100 - lowThresholdPercent)) / 100n - free);
}

/** Of the kubelet, and of a policy. */
const defaultThresholds = { highThresholdPercent: 85, kubeletHighThresholdPercent: 85 };

/** The bytes that pulls may take before dustpan or the kubelet removes images for space; undefined = the disk is unknown. */
export function freeForPulls(
  disk: DiskSpace | undefined,
  {
    highThresholdPercent,
    kubeletHighThresholdPercent,
  }: Pick<ImageGcPolicy, 'highThresholdPercent' | 'kubeletHighThresholdPercent'> = defaultThresholds,
): number | undefined {
  const amount = amountOf('bytes', disk);
  const lowThresholdPercent = Math.min(highThresholdPercent, kubeletHighThresholdPercent);
  return amount && -amountOverLow(amount, { lowThresholdPercent });
}

/** Calculates in bigint, because 100 times a large capacity is not a safe integer. More free bytes than the capacity count as an empty disk. */
function whole(amount: Amount): { readonly total: bigint; readonly free: bigint } {
  const total = BigInt(Math.trunc(amount.total));
  const free = BigInt(Math.trunc(amount.free));
  return { total, free: free > total ? total : free };
}

/**
 * Returns a function that estimates how many inodes the removal of images of these bytes frees. The runtime reports no inodes per image, so
 * those of all images are spread by size; 0 = unknown (ADR 48).
 */
export function inodeEstimate(disk: DiskSpace | undefined, imageBytes: number): (bytes: number) => number {
  const amount = amountOf('inodes', disk);
  if (disk === undefined || amount === undefined || imageBytes <= 0) return () => 0;
  const used = Math.max(0, amount.total - amount.free);
  const { inodesUsed = 0 } = disk;
  const ofImages = inodesUsed > 0 ? Math.min(inodesUsed, used) : used;
  return (bytes) => Math.floor((ofImages * bytes) / imageBytes);
}

/** Whether any space step is on. */
export const needsDisk = (rule: ImageGcPolicy): boolean =>
  thresholdsOf('bytes', rule) !== undefined || thresholdsOf('inodes', rule) !== undefined;

/** The thresholds of a policy for bytes or inodes; undefined = off. */
function thresholdsOf(unit: SpaceUnit, rule: ImageGcPolicy): Thresholds | undefined {
  const thresholds = unit === 'bytes' ? rule : rule.inodes;
  return thresholds === undefined || thresholds.highThresholdPercent >= 100 ? undefined : thresholds;
}

export type ByUnit = Readonly<Record<SpaceUnit, number>>;

/** Amounts that the space step has to free. It runs if a high threshold is crossed; otherwise `state` and `reason` explain why not. */
export interface SpaceNeed {
  readonly crossed: readonly SpaceUnit[];
  readonly wanted: ByUnit;
  readonly state: 'Idle' | 'Free' | 'Unknown';
  readonly reason: 'BelowThreshold' | 'TargetMet' | 'DiskUnknown';
  /** The policy has thresholds for inodes, and the file system reports none: the bytes alone decide. */
  readonly isUncounted: boolean;
}

export const noNeed: SpaceNeed = {
  crossed: [],
  wanted: { bytes: 0, inodes: 0 },
  state: 'Idle',
  reason: 'BelowThreshold',
  isUncounted: false,
};

/** Decides whether the space step runs after the removals by age have freed `freedByAge`. */
export function spaceNeed(disk: DiskSpace | undefined, rule: ImageGcPolicy, freedByAge: ByUnit): SpaceNeed {
  const bytes = stepOf(amountOf('bytes', disk), thresholdsOf('bytes', rule), freedByAge.bytes);
  const amount = amountOf('inodes', disk);
  const thresholds = thresholdsOf('inodes', rule);
  const isUncounted = thresholds !== undefined && amount === undefined && disk !== undefined;
  const inodes = stepOf(amount, isUncounted ? undefined : thresholds, freedByAge.inodes);
  const reason = firstOf(bytes.idle, inodes.idle);
  return {
    crossed: [
      ...(bytes.isCrossed ? (['bytes'] as const) : []),
      ...(inodes.isCrossed ? (['inodes'] as const) : []),
    ],
    wanted: { bytes: bytes.wanted, inodes: inodes.wanted },
    state: idleState[reason],
    reason,
    isUncounted,
  };
}

interface Step {
  readonly isCrossed: boolean;
  readonly wanted: number;
  /** Why nothing has to be freed. */
  readonly idle: SpaceNeed['reason'];
}

/** Chooses between bytes and inodes: the unknown or crossed one explains why an image is kept. */
function firstOf(...idle: readonly SpaceNeed['reason'][]): SpaceNeed['reason'] {
  if (idle.includes('DiskUnknown')) return 'DiskUnknown';
  return idle.includes('TargetMet') ? 'TargetMet' : 'BelowThreshold';
}

const idleState = { DiskUnknown: 'Unknown', TargetMet: 'Free', BelowThreshold: 'Idle' } as const;

function stepOf(amount: Amount | undefined, thresholds: Thresholds | undefined, freedByAge: number): Step {
  const idle = (reason: SpaceNeed['reason']): Step => ({ isCrossed: false, wanted: 0, idle: reason });
  if (thresholds === undefined) return idle('BelowThreshold');
  if (amount === undefined) return idle('DiskUnknown');
  if (usedPercentOf(amount) < thresholds.highThresholdPercent) return idle('BelowThreshold');
  const wanted = amountOverLow(amount, thresholds) - freedByAge;
  if (wanted <= 0 && freedByAge > 0) return idle('TargetMet');
  // Rounding can make it 0; the kubelet removes one image even then.
  return { isCrossed: true, wanted: Math.max(0, wanted), idle: 'BelowThreshold' };
}
