import type { CountAndBytes, ImageDisk, ImageInventory, Offender } from '../../api/report/node-pass.ts';
import type { ImageReason } from '../../gc/reasons/images.ts';
import type { ImageDecision, ImageGcPlan } from './facts.ts';

const maxOffenders = 10;

/** Sums up what a pass saw and left: without the images it removed. */
export function inventoryOf(
  { kept, removals }: ImageGcPlan,
  removed: ReadonlySet<string>,
  disk: ImageDisk | undefined,
): ImageInventory {
  const images = [...kept, ...removals].filter(({ target }) => !removed.has(target.id));
  const sum = (isCounted: (image: ImageDecision) => boolean): CountAndBytes =>
    total(images.filter(isCounted));
  return {
    total: total(images),
    inUse: sum(({ target: { holds } }) => holds.usedBy !== undefined || holds.boundPod !== undefined),
    pinned: sum(({ target }) => target.holds.pinned),
    kept: sum(({ target }) => target.holds.keepPattern !== undefined),
    removable: sum(({ reason }) => mayGo.has(reason)),
    disk,
    offenders: images
      .toSorted((a, b) => b.target.image.sizeBytes - a.target.image.sizeBytes)
      .slice(0, maxOffenders)
      .map(offender),
  };
}

/** The verdicts of images that nothing but the state of the disk or a limit keeps. */
const mayGo: ReadonlySet<string> = new Set<ImageReason>([
  'Age',
  'Space',
  'BelowThreshold',
  'TargetMet',
  'PacingLimit',
]);

const total = (images: readonly ImageDecision[]): CountAndBytes => ({
  count: images.length,
  bytes: images.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
});

const offender = ({ target: { id, name, image }, reason }: ImageDecision): Offender => ({
  kind: 'Image',
  id,
  name,
  namespace: undefined,
  bytes: image.sizeBytes,
  reason,
});
