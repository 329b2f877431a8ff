/** Whether a pod has finished: its containers will not run again, and it no longer uses an image or volume. */
export const isFinished = ({ phase }: { readonly phase?: string }): boolean =>
  phase === 'Succeeded' || phase === 'Failed';

/** A pod whose grace period ends within this time may free disk space soon. */
const endingMs = 120_000;
/** After its grace period a pod gets this long to disappear. */
const endedMs = 30_000;

/** Whether a terminating pod is about to end, so that no other needs to be evicted for node pressure before. `deletionAtMs`: the end of its grace period. */
export function isEndingSoon(
  { phase = '', deletionAtMs }: { readonly phase?: string; readonly deletionAtMs: number | undefined },
  now: Date,
): boolean {
  if (deletionAtMs === undefined || isFinished({ phase })) return false;
  const leftMs = deletionAtMs - now.getTime();
  return leftMs <= endingMs && leftMs >= -endedMs;
}
