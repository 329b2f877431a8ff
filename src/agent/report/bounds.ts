import { printable } from '../../runtime/text/printable.ts';

/** The bounds of crds/: the API server refuses a report with one value beyond them. */
export const bounds = {
  conditionMessage: 1_024,
  unitMessage: 1_024,
  versionText: 128,
  mountpoint: 1_024,
  offenderId: 1_024,
  offenderName: 512,
  orphanPath: 384,
  orphanUid: 36,
  namespace: 63,
  reason: 64,
  offenders: 10,
  removedImages: 10,
  removedImageId: 128,
  /** As long as any path that the kubelet makes of names in /var/log/pods. */
  removedPath: 512,
  removedImageName: 256,
  containerName: 63,
  storageEntries: 32,
  podName: 253,
  podUid: 128,
  subject: 253,
  gracePeriodSeconds: 604_800,
} as const;

const maxCount = 2 ** 31 - 1;

/** A whole number from 0 to the largest of int32. */
export const count = (value: number): number => whole(value, maxCount);

/** A whole number from 0 to the largest that JSON carries exactly. */
export const bytes = (value: number): number => whole(value, Number.MAX_SAFE_INTEGER);

/** A whole number from 0 to 100. */
export const percent = (value: number): number => whole(value, 100);

function whole(value: number, max: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.trunc(value), 0), max);
}

/** Returns one printable line of at most `max` characters; a longer text ends in an ellipsis. */
export function cut(text: string, max: number): string {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim());
  if (line.length <= max) return line;
  // Cuts between characters, so that none is halved.
  const characters = Array.from(line.slice(0, 2 * max));
  return characters.length <= max && line.length <= 2 * max
    ? characters.join('')
    : `${characters.slice(0, max - 1).join('')}…`;
}
