import { basename } from 'node:path';
import { readSnapshot } from '../../snapshot/directory.ts';
import { InputError } from '../../snapshot/input-error.ts';
import type { World } from '../../snapshot/world.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import type { PlanConfig, PlanInputs } from './command.ts';
import type { PlanDocument } from './document.ts';
import { decisionsInPiece, planJson } from './json.ts';
import { Progress } from './progress.ts';
import { planTable } from './table.ts';
import { planWorld } from './world.ts';
import type { System } from '../cli/system.ts';

/** Prints what would be removed; resolves with the exit code. Nothing is printed before all of it is known. */
export async function runPlan(config: PlanConfig, { stdout, stderr }: System): Promise<number> {
  const progress = new Progress(process.stderr.isTTY ? stderr : undefined, clock);
  try {
    const world = await worldOf(config, progress);
    progress.phase('planning');
    const { kept, assumeElapsed, now = clock.now() } = config;
    const plan = planWorld(world, { now, kept, assumeElapsed });
    const isSeen = process.stdout.isTTY;
    // On one screen the line would stand among the output.
    if (isSeen) progress.end();
    let printed = 0;
    for (const piece of await textOf(plan, config)) {
      stdout(piece);
      if (!isSeen) progress.step(`printing: ${printed} of ${plan.decisions.length}`);
      printed += decisionsInPiece;
    }
    return exitCode.ok;
  } finally {
    progress.end();
  }
}

async function textOf(plan: PlanDocument, config: PlanConfig): Promise<Iterable<string>> {
  const { output, kept, assumeElapsed } = config;
  switch (output) {
    case 'json':
      return planJson(plan);
    case 'yaml':
      return (await import('./yaml.ts')).planYaml(plan);
    case 'table': {
      const colours = process.stdout.isTTY && config.isColourAllowed;
      return [planTable(plan, { colours, kept, assumeElapsed })];
    }
  }
}

/** The world that a plan is made from, as the flags say; UsageError for what cannot be read as such. */
export async function worldOf(config: PlanInputs, progress: Progress): Promise<World> {
  const { snapshot: directory, policyFiles } = config;
  const onProgress = (file: string, items: number): void => {
    progress.step(`reading ${basename(file)}: ${items}`);
  };
  try {
    if (directory !== undefined) return await readSnapshot({ directory, policyFiles, onProgress });
    const { readCluster } = await import('./live.ts');
    return await readCluster(config, onProgress);
  } catch (err) {
    if (err instanceof InputError) throw new UsageError(err.problems);
    throw err;
  }
}
