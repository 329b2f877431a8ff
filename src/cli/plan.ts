import { readSnapshot } from '../snapshot/directory.ts';
import { InputError } from '../snapshot/input-error.ts';
import type { World } from '../snapshot/world.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { exitCode, UsageError } from './exit.ts';
import { formatted } from './output.ts';
import type { PlanConfig } from './plan-config.ts';
import { planJson } from './plan-json.ts';
import { Progress } from './plan-progress.ts';
import { planTable } from './plan-table.ts';
import { planWorld } from './plan-world.ts';
import type { System } from './system.ts';

/** Prints what would be removed; resolves with the exit code. Nothing is printed before all of it is known. */
export async function runPlan(config: PlanConfig, { stdout, stderr }: System): Promise<number> {
  const progress = new Progress(process.stderr.isTTY ? stderr : undefined, clock);
  const world = await worldOf(config, progress).finally(() => {
    progress.end();
  });
  const { kept, assumeElapsed, now = clock.now() } = config;
  const plan = planWorld(world, { now, kept, assumeElapsed });
  if (config.output === 'json') {
    for (const piece of planJson(plan)) stdout(piece);
    return exitCode.ok;
  }
  const colours = process.stdout.isTTY && config.isColourAllowed;
  stdout(await formatted(config.output, plan, () => planTable(plan, { colours })));
  return exitCode.ok;
}

async function worldOf(config: PlanConfig, progress: Progress): Promise<World> {
  const { snapshot: directory, policyFiles } = config;
  const onProgress = (file: string, items: number): void => {
    progress.step(`reading ${file}: ${items}`);
  };
  try {
    if (directory !== undefined) return await readSnapshot({ directory, policyFiles, onProgress });
    const { readCluster } = await import('./plan-live.ts');
    return await readCluster(config, onProgress);
  } catch (err) {
    if (err instanceof InputError) throw new UsageError([err.message]);
    throw err;
  }
}
