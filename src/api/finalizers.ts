import { bounds } from '../runtime/bounds.ts';

/** On a finished pod: its Job has not counted it yet. */
export const jobTrackingFinalizer = 'batch.kubernetes.io/job-tracking';

/** `kept` with one more finalizer of a pod: the first few are kept, and the Job's wherever it is. */
export function withFinalizer(kept: string[], one: string): string[] {
  if (kept.length === 0) return [one];
  if (kept.length < bounds.finalizers) kept.push(one);
  else if (one === jobTrackingFinalizer && !kept.includes(one)) kept[kept.length - 1] = one;
  return kept;
}
