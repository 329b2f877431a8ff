import { firstPattern, imageSelection } from '../../api/image-reference.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import type { ImageDecision, JudgedImage } from './facts.ts';

type MaximumAge = Pick<JudgedImage, 'maximumAgeMs' | 'ageEntry'>;

/**
 * Returns a function that finds the maximum age of an image: the longest of its names, because a removal removes all of them. The first entry that matches
 * a name sets its age, else the general one applies.
 */
export function maximumAges({ maximumAgeMs, maximumAgeByImage = [] }: Partial<ImageGcPolicy> = {}): (
  image: RuntimeImage,
) => MaximumAge {
  const patterns = maximumAgeByImage.map(({ image }) => image);
  const [selectionOf, patternOf] = [imageSelection(patterns), firstPattern(patterns)];
  const ageOf = (index: number): MaximumAge => {
    const entry = maximumAgeByImage[index];
    if (entry === undefined) return { maximumAgeMs, ageEntry: undefined };
    const { image: pattern, maximumAgeMs: ownMs } = entry;
    return { maximumAgeMs: ownMs, ageEntry: { index, pattern, maximumAgeMs: ownMs } };
  };
  return (image) => {
    const indexes = selectionOf(image).names.map(({ index }) => index);
    // `*` selects no image without names, but may keep one for longer.
    const ofAnyName = indexes.includes(-1) ? [patternOf(image)] : [];
    return [...indexes, ...ofAnyName]
      .map(ageOf)
      .reduce((longest, age) => (isLonger(age, longest) ? age : longest));
  };
}

const isLonger = (a: MaximumAge, b: MaximumAge): boolean =>
  (a.maximumAgeMs ?? Infinity) > (b.maximumAgeMs ?? Infinity);

/** When it was last used or, if never, detected; Unix milliseconds. */
const idleSinceMs = ({ record }: JudgedImage): number => record.lastUsedMs ?? record.firstDetectedMs;

/** When it reaches the maximum age, Unix milliseconds; undefined = never. */
export const oldAtMs = (image: JudgedImage): number | undefined =>
  image.maximumAgeMs === undefined ? undefined : idleSinceMs(image) + image.maximumAgeMs;

export const isOldAt = (image: JudgedImage, now: Date): boolean =>
  now.getTime() > (oldAtMs(image) ?? Infinity);

/** When a kept image is due if the disk needs no space: it is old enough for the policy, and has reached its maximum age. */
export function dueByAge({ target, eligibleAt }: ImageDecision): Date | undefined {
  const oldAt = oldAtMs(target);
  if (eligibleAt === undefined || oldAt === undefined) return undefined;
  return new Date(Math.max(eligibleAt.getTime(), oldAt));
}
