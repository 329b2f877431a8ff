import type { ImageKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainerStats } from '../../cri/runtime.ts';
import { hasCapacity, type DiskSpace } from './disk.ts';
import type { JudgedImage, KeptImage } from './facts.ts';

/** What holds the image file system, in bytes; images as the runtime counts them. */
export interface DiskAttribution {
  readonly usedBytes: number;
  readonly capacityBytes: number;
  /** Images that stay, by the reason why, largest first. */
  readonly images: readonly {
    readonly reason: ImageKeepReason;
    readonly count: number;
    readonly bytes: number;
  }[];
  /** undefined = not known. */
  readonly writableLayerBytes: number | undefined;
  readonly logBytes: number | undefined;
  /** What none of these explains. */
  readonly restBytes: number;
}

export interface Attributable {
  readonly kept: readonly KeptImage[];
  readonly disk: DiskSpace | undefined;
  readonly stats: readonly RuntimeContainerStats[] | undefined;
  readonly logBytes: number | undefined;
}

/** Tells what the disk is full of, when image GC cannot help (ideas.md 2.5); undefined while the disk is not known. */
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

const imageBytes = (images: readonly JudgedImage[]): number =>
  images.reduce((sum, { image }) => sum + image.sizeBytes, 0);

function byReason(kept: readonly KeptImage[]): DiskAttribution['images'] {
  const reasons = [...new Set(kept.map(({ reason }) => reason))];
  return reasons
    .map((reason) => {
      const images = kept.filter((image) => image.reason === reason);
      return { reason, count: images.length, bytes: imageBytes(images) };
    })
    .toSorted((a, b) => b.bytes - a.bytes);
}
