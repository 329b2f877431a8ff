import { bounds } from '../runtime/bounds.ts';

/** On a finished pod: its Job has not counted it yet. */
export const jobTrackingFinalizer = 'batch.kubernetes.io/job-tracking';

/** The first few finalizers of a pod, and the Job's wherever it is. */
export function keptFinalizers(all: readonly string[]): readonly string[] {
  const first = all.slice(0, bounds.finalizers);
  const isJobsCut = !first.includes(jobTrackingFinalizer) && all.includes(jobTrackingFinalizer);
  return isJobsCut ? [...first.slice(0, -1), jobTrackingFinalizer] : first;
}
