import type { FailedBefore } from '../../gc/failures.ts';
import type { ImageGcFacts, JudgedImage } from './facts.ts';

/** Puts the images whose removal has failed last, so that they do not hold up the others. */
export function failedLast(
  images: readonly JudgedImage[],
  { failedBefore = new Map() }: Pick<ImageGcFacts, 'failedBefore'>,
): readonly JudgedImage[] {
  const hasFailed = ({ id }: JudgedImage): boolean => failedBefore.has(id);
  return [...images.filter((image) => !hasFailed(image)), ...images.filter(hasFailed)];
}

/** The failures of an image that is not tried again yet; undefined = it may be tried now. */
export function postponed(
  { id }: JudgedImage,
  { failedBefore }: Pick<ImageGcFacts, 'failedBefore'>,
): FailedBefore | undefined {
  const failed = failedBefore?.get(id);
  return failed !== undefined && failed.retryInMs > 0 ? failed : undefined;
}
