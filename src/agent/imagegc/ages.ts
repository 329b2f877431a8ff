import { firstPattern } from '../../api/image-reference.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import type { ImageDecision, JudgedImage } from './facts.ts';

type MaximumAge = Pick<JudgedImage, 'maximumAgeMs' | 'ageEntry'>;

/** Returns a function that finds the maximum age of an image: that of the first entry that matches it, else the general one. */
export function maximumAges({ maximumAgeMs, maximumAgeByImage = [] }: Partial<ImageGcPolicy> = {}): (
  image: RuntimeImage,
) => MaximumAge {
  const entryOf = firstPattern(maximumAgeByImage.map(({ image }) => image));
  return (image) => {
    const index = entryOf(image);
    const entry = maximumAgeByImage[index];
    if (entry === undefined) return { maximumAgeMs, ageEntry: undefined };
    return {
      maximumAgeMs: entry.maximumAgeMs,
      ageEntry: { index, pattern: entry.image, maximumAgeMs: entry.maximumAgeMs },
    };
  };
}

/** When it was last used or, if never, detected; Unix milliseconds. */
const idleSinceMs = ({ record }: JudgedImage): number => record.lastUsedMs ?? record.firstDetectedMs;

/** When it reaches the maximum age, Unix milliseconds; undefined = never. */
export const oldAtMs = (image: JudgedImage): number | undefined =>
  image.maximumAgeMs === undefined ? undefined : idleSinceMs(image) + image.maximumAgeMs;

/** Whether it has passed its maximum age. */
export const isOldAt = (image: JudgedImage, now: Date): boolean =>
  now.getTime() > (oldAtMs(image) ?? Infinity);

/** When a kept image is due if the disk needs no space: it is old enough for the policy, and has reached its maximum age. */
export function dueByAge({ target, eligibleAt }: ImageDecision): Date | undefined {
  const oldAt = oldAtMs(target);
  if (eligibleAt === undefined || oldAt === undefined) return undefined;
  return new Date(Math.max(eligibleAt.getTime(), oldAt));
}
