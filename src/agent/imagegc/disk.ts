import type { ImageDisk } from '../../api/report/node-pass.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';

export type DiskSpace = Pick<ImageDisk, 'capacityBytes' | 'availableBytes'>;

type Thresholds = Pick<ImageGcPolicy, 'highThresholdPercent' | 'lowThresholdPercent'>;

/** Whether the file system reports a plausible capacity; the kubelet has an Event for one that does not. */
export const hasCapacity = (disk: DiskSpace | undefined): disk is DiskSpace =>
  disk !== undefined &&
  Number.isFinite(disk.capacityBytes) &&
  Number.isFinite(disk.availableBytes) &&
  disk.capacityBytes >= 1 &&
  disk.availableBytes >= 0;

/** The kubelet's integer arithmetic (pkg/kubelet/images/image_gc_manager.go, GarbageCollect); undefined = unknown. */
export function usedPercentOf(disk: DiskSpace | undefined): number | undefined {
  if (!hasCapacity(disk)) return undefined;
  const { capacity, available } = whole(disk);
  return 100 - Number((available * 100n) / capacity);
}

/** Bytes to free until usage is at the low threshold; 0 or less = it is. */
export function bytesOverLow(
  disk: DiskSpace,
  { lowThresholdPercent }: Pick<Thresholds, 'lowThresholdPercent'>,
): number {
  const { capacity, available } = whole(disk);
  return Number((capacity * BigInt(100 - lowThresholdPercent)) / 100n - available);
}

/** As bigint, because 100 times a large capacity is not a safe integer. More available bytes than the capacity count as an empty disk. */
function whole({ capacityBytes, availableBytes }: DiskSpace): { capacity: bigint; available: bigint } {
  const capacity = BigInt(Math.trunc(capacityBytes));
  const available = BigInt(Math.trunc(availableBytes));
  return { capacity, available: available > capacity ? capacity : available };
}

export type SpaceStep =
  | { readonly kind: 'needed'; readonly wantedBytes: number }
  | {
      readonly kind: 'not needed';
      readonly state: 'Idle' | 'Free' | 'Unknown';
      readonly reason: 'BelowThreshold' | 'TargetMet' | 'DiskUnknown';
    };

/** Decides whether the space step runs after the removals by age have freed `freedByAge`, and how many bytes it has to free. */
export function spaceStep(
  disk: DiskSpace | undefined,
  thresholds: Thresholds,
  freedByAge: number,
): SpaceStep {
  const { highThresholdPercent: high } = thresholds;
  if (high >= 100) return { kind: 'not needed', state: 'Idle', reason: 'BelowThreshold' };
  const usedPercent = usedPercentOf(disk);
  if (!hasCapacity(disk) || usedPercent === undefined)
    return { kind: 'not needed', state: 'Unknown', reason: 'DiskUnknown' };
  if (usedPercent < high) return { kind: 'not needed', state: 'Idle', reason: 'BelowThreshold' };
  const wantedBytes = bytesOverLow(disk, thresholds) - freedByAge;
  if (wantedBytes <= 0 && freedByAge > 0) return { kind: 'not needed', state: 'Free', reason: 'TargetMet' };
  // Rounding can make it 0; the kubelet removes one image even then.
  return { kind: 'needed', wantedBytes: Math.max(0, wantedBytes) };
}
