import { shortSizeText } from '../../runtime/text/size-text.ts';
import { longSpanText } from '../../process/table.ts';
import { diskParts, type Curve, type DiskPart, type UsageBar } from './usage.ts';

/** The name of each part of a disk, in the legend and in texts. */
export const partNames: Readonly<Record<DiskPart, string>> = {
  imagesInUse: 'images in use',
  imagesUnused: 'unused images',
  layers: 'writable layers',
  volumes: 'volumes',
  logs: 'logs',
  orphans: 'orphans',
  other: 'other',
  unknown: 'unknown',
  reserved: 'reserved',
  free: 'free',
};

/** Only the parts that one of the disks has, in the order of the bars. */
export const usedParts = (disks: readonly UsageBar[]): readonly DiskPart[] => {
  const used = new Set(disks.flatMap(({ parts }) => parts.map(({ part }) => part)));
  return diskParts.filter((part) => used.has(part));
};

/** Such as `imagefs`, or `imagefs, stale`. */
export const diskName = ({ name, stale }: UsageBar): string => (stale ? `${name}, stale` : name);

export const percentText = (percent: number): string => `${Math.round(percent)} %`;

/** Empty for a growth that is unknown, or that is none. */
export const growthText = (bytesPerHour: number | undefined): string =>
  bytesPerHour === undefined ? '' : `${shortSizeText(bytesPerHour)}/h`;

/** When a disk is full at its present growth. */
export const fullText = (ms: number): string => (ms === 0 ? 'now' : `in ${longSpanText(ms)}`);

/** When a disk is full if everything collectable is removed. */
export function afterText(after: Curve['afterCollection']): string {
  if (after === undefined) return 'unknown';
  return after.fullInMs === Infinity ? 'never' : fullText(after.fullInMs);
}
