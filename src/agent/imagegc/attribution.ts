import type { ImageReason } from '../../gc/reasons/images.ts';
import type { RuntimeContainerStats } from '../../cri/runtime.ts';
import { hasCapacity, type DiskSpace } from './disk.ts';
import type { ImageDecision } from './facts.ts';

/** What holds the image file system, in bytes; images as the runtime counts them. */
export interface DiskAttribution {
  readonly usedBytes: number;
  readonly capacityBytes: number;
  /** Images that stay, by the reason why, largest first. */
  readonly images: readonly {
    readonly reason: ImageReason;
    readonly count: number;
    readonly bytes: number;
  }[];
  /** undefined = not known. */
  readonly writableLayerBytes: number | undefined;
  readonly logBytes: number | undefined;
  /** What none of these explains. */
  readonly restBytes: number;
}

interface Attributable {
  readonly kept: readonly ImageDecision[];
  readonly disk: DiskSpace | undefined;
  readonly stats: readonly RuntimeContainerStats[] | undefined;
  readonly logBytes: number | undefined;
}

/** Tells what the disk is full of, when image GC cannot help; undefined while the disk is not known. */
export function attributeDisk({ kept, disk, stats, logBytes }: Attributable): DiskAttribution | undefined {
  if (!hasCapacity(disk)) return undefined;
  const { capacityBytes, availableBytes } = disk;
  const usedBytes = Math.max(0, capacityBytes - availableBytes);
  const writableLayerBytes = stats?.reduce((sum, layer) => sum + (layer.writableLayerBytes ?? 0), 0);
  const explained = imageBytes(kept) + (writableLayerBytes ?? 0) + (logBytes ?? 0);
  return {
    ...{ usedBytes, capacityBytes, images: byReason(kept), writableLayerBytes, logBytes },
    restBytes: Math.max(0, usedBytes - explained),
  };
}

const imageBytes = (images: readonly ImageDecision[]): number =>
  images.reduce((sum, { bytes = 0 }) => sum + bytes, 0);

function byReason(kept: readonly ImageDecision[]): DiskAttribution['images'] {
  const reasons = [...new Set(kept.map(({ reason }) => reason))];
  return reasons
    .map((reason) => {
      const images = kept.filter((image) => image.reason === reason);
      return { reason, count: images.length, bytes: imageBytes(images) };
    })
    .toSorted((a, b) => b.bytes - a.bytes);
}
