import { basename } from 'node:path';
import { readSnapshot } from '../../snapshot/directory.ts';
import { InputError } from '../../snapshot/input-error.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import { Progress } from '../cli/progress.ts';
import type { System } from '../cli/system.ts';
import type { PlanConfig, PlanInputs } from './command.ts';
import type { PlanDocument } from './document.ts';
import { planTable } from './table.ts';
import { decisionsInPiece, planJson, planYaml } from './text.ts';
import { planUnits } from './units.ts';

/** Prints what would be removed; resolves with the exit code. Prints nothing before the whole plan is known. */
export async function runPlan(config: PlanConfig, { stdout, stderr }: System): Promise<number> {
  const progress = new Progress(process.stderr.isTTY ? stderr : undefined, clock);
  try {
    const facts = await readFacts(config, progress);
    progress.phase('planning');
    const { kept, assumeElapsed, now = clock.now() } = config;
    const plan = planUnits(facts, { now, kept, assumeElapsed });
    const isTerminal = process.stdout.isTTY;
    // On a terminal the progress line would mix with the output.
    if (isTerminal) progress.end();
    let printed = 0;
    for (const piece of await textOf(plan, config)) {
      stdout(piece);
      if (!isTerminal) progress.step(`printing: ${printed} of ${plan.decisions.length}`);
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
      return planYaml(plan, (await import('../cli/yaml-text.ts')).yamlText);
    case 'table': {
      const colours = process.stdout.isTTY && config.isColourAllowed;
      return [planTable(plan, { colours, kept, assumeElapsed })];
    }
  }
}

/** Reads the snapshot or the cluster that the flags name; throws UsageError for unusable input. */
export async function readFacts(config: PlanInputs, progress: Progress): Promise<PlanFacts> {
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
