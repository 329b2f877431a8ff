import { bounds } from '../runtime/bounds.ts';

/** A finished pod has this finalizer until its Job has counted it. */
export const jobTrackingFinalizer = 'batch.kubernetes.io/job-tracking';

/** Returns the first few finalizers of a pod, always including the Job's. */
export function keptFinalizers(all: readonly string[]): readonly string[] {
  const first = all.slice(0, bounds.finalizers);
  const isJobsCut = !first.includes(jobTrackingFinalizer) && all.includes(jobTrackingFinalizer);
  return isJobsCut ? [...first.slice(0, -1), jobTrackingFinalizer] : first;
}
