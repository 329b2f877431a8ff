import type { CountAndBytes, ImageDisk, ImageInventory, Offender } from '../../api/node-pass.ts';
import type { ImageKeepReason, ImageRemoveReason } from '../../api/reasons.ts';
import type { ImageGcPlan, JudgedImage } from './facts.ts';

const maxOffenders = 10;

type Verdict = JudgedImage & { readonly reason: ImageKeepReason | ImageRemoveReason };

/** Sums up what a pass saw and left: without the images it removed. */
export function inventoryOf(
  { kept, removals }: ImageGcPlan,
  removed: ReadonlySet<string>,
  disk: ImageDisk | undefined,
): ImageInventory {
  const images = [...kept, ...removals].filter(({ image }) => !removed.has(image.id));
  const sum = (isCounted: (image: Verdict) => boolean): CountAndBytes => total(images.filter(isCounted));
  return {
    total: total(images),
    inUse: sum(({ holds }) => holds.usedBy !== undefined || holds.boundPod !== undefined),
    pinned: sum(({ holds }) => holds.pinned),
    kept: sum(({ holds }) => holds.keepPattern !== undefined),
    removable: sum(({ reason }) => mayGo.has(reason)),
    disk,
    offenders: images
      .toSorted((a, b) => b.image.sizeBytes - a.image.sizeBytes)
      .slice(0, maxOffenders)
      .map(offender),
  };
}

/** The verdicts of images that nothing but the state of the disk or a limit keeps. */
const mayGo: ReadonlySet<string> = new Set<Verdict['reason']>([
  'Age',
  'Space',
  'BelowThreshold',
  'TargetMet',
  'PacingLimit',
]);

const total = (images: readonly JudgedImage[]): CountAndBytes => ({
  count: images.length,
  bytes: images.reduce((sum, { image }) => sum + image.sizeBytes, 0),
});

const offender = ({ image, reason }: Verdict): Offender => ({
  kind: 'Image',
  id: image.id,
  name: image.tags[0] ?? image.digests[0],
  namespace: undefined,
  bytes: image.sizeBytes,
  reason,
});
