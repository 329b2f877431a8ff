/** The environment that the chart sets for the controller. */
export const controllerEnv = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/** The chart's default suffices for this number of pods. */
const usual = { oldSpaceMiB: 96, pods: 150_000 };

/** The old space in MiB that the chart's values recommend for this number of pods. */
function oldSpaceMiBFor(pods: number): number {
  return usual.oldSpaceMiB + 32 * Math.max(0, Math.ceil((pods - usual.pods) / 100_000));
}

/** The flags that the chart's values recommend for the controller's Node. */
export function nodeFlagsFor(pods: number): string {
  return `--max-semi-space-size=4 --max-old-space-size=${oldSpaceMiBFor(pods)}`;
}
