/** Minutes and seed of a run; `DUSTPAN_STRESS_MINUTES` and `DUSTPAN_STRESS_SEED` replace the defaults. */
export function settings({ minutes }: { readonly minutes: number }): { minutes: number; seed: number } {
  const { DUSTPAN_STRESS_MINUTES: otherMinutes, DUSTPAN_STRESS_SEED: otherSeed } = process.env;
  return { minutes: Number(otherMinutes ?? minutes), seed: Number(otherSeed ?? 1) };
}

/** Shows the progress of a run at once. */
export const printed = (line: string): void => void process.stderr.write(`stress: ${line}\n`);
