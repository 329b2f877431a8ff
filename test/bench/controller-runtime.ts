/** What the chart sets for malloc, NAME=VALUE separated by spaces. */
export const controllerEnv = 'MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072';

/** The chart's own, enough for so many pods with room for a busy hour: 100 000 pods take about 30 MB of heap. */
const usual = { oldSpaceMb: 96, pods: 150_000 };

/** The old space in MiB that is recommended for so many pods, as the chart's values say. */
export function oldSpaceMbFor(pods: number): number {
  return usual.oldSpaceMb + 32 * Math.max(0, Math.ceil((pods - usual.pods) / 100_000));
}

/** Whatever the number of pods. */
export const semiSpaceFlag = '--max-semi-space-size=4';

/** The flags for the controller's Node with such an old space. */
export function nodeArgs(oldSpaceMb: number): string {
  return `${semiSpaceFlag} --max-old-space-size=${oldSpaceMb}`;
}
