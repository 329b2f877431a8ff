/** What the chart sets for malloc, NAME=VALUE separated by spaces. */
export const controllerEnv = 'MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072';

/** Up to how many pods which old space is enough, as the chart's values say; the last one is for all beyond. */
const oldSpaces: readonly { readonly pods: number; readonly mb: number }[] = [
  { pods: 150_000, mb: 96 },
  { pods: Infinity, mb: 160 },
];

/** The old space in MiB that is recommended for so many pods. */
export function oldSpaceMbFor(pods: number): number {
  const fitting = oldSpaces.find((one) => pods <= one.pods);
  if (!fitting) throw new Error(`no old space for ${pods} pods`);
  return fitting.mb;
}

/** The flags for the controller's Node with such an old space. */
export function nodeArgs(oldSpaceMb: number): string {
  return `--max-semi-space-size=1 --max-old-space-size=${oldSpaceMb}`;
}
