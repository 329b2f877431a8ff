import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { exitCode, problemLine } from '../../process/exit.ts';
import { formatted, isTemplate } from '../../process/output.ts';
import { progressOf } from '../../process/progress.ts';
import type { System } from '../../process/system.ts';
import { proseWidth } from '../../process/table.ts';
import type { PlanConfig } from './command.ts';
import type { PlanDocument } from '../../evaluation/plan/document.ts';
import { planOf, readFacts } from '../../evaluation/plan/plan.ts';
import { unknownTexts } from '../../evaluation/plan/unknown.ts';
import { createdAtIn, nameText, planTable, type PlanTableOptions } from './table.ts';
import { decisionsInPiece, planJson, planYaml } from './text.ts';

/** Prints what would be removed; resolves with the exit code. Prints nothing before the whole plan is known. */
export async function runPlan(config: PlanConfig, { stdout, stderr }: System): Promise<number> {
  const progress = progressOf(config.progress, stderr);
  try {
    const facts = await readFacts(config, progress);
    progress.phase('planning');
    const plan = planOf(facts, config);
    const isTerminal = process.stdout.isTTY;
    // On a terminal the progress line would mix with the output.
    if (isTerminal) progress.end();
    let printed = 0;
    for (const piece of await textOf(plan, facts, config, { stderr })) {
      stdout(piece);
      if (!isTerminal) progress.step(`printing: ${printed} of ${plan.decisions.length}`);
      printed += decisionsInPiece;
    }
    // The other formats have them.
    if (config.output === 'name' || isTemplate(config.output) || !config.headers)
      for (const text of unknownTexts(plan)) stderr(problemLine(`warning: ${text}`));
    return config.hasExitCode && plan.decisions.some(({ order }) => order !== null)
      ? exitCode.found
      : exitCode.ok;
  } finally {
    progress.end();
  }
}

async function textOf(
  plan: PlanDocument,
  facts: PlanFacts,
  config: PlanConfig,
  { stderr }: Pick<System, 'stderr'>,
): Promise<Iterable<string>> {
  const { output, kept, headers, assumeElapsed } = config;
  switch (output) {
    case 'json':
      return planJson(plan);
    case 'yaml':
      return planYaml(plan, (await import('../../process/yaml-text.ts')).yamlText);
    case 'name':
      return plan.decisions.map((decision) => `${nameText(decision)}\n`);
    case 'table':
    case 'wide':
      return [
        planTable(plan, {
          colours: config.colours,
          kept,
          headers,
          assumeElapsed,
          createdAt: createdAtIn(facts),
          ...screen(output === 'wide'),
        }),
      ];
    default:
      return [await formatted(output, plan, () => '', { stderr, headers })];
  }
}

/** On a terminal, rows are cut to its width, prose wraps there, and few of them are listed; a pipe or a file gets all, as from kubectl. */
function screen(isWide: boolean): Pick<PlanTableOptions, 'width' | 'proseWidth' | 'maxRows' | 'isWide'> {
  const { isTTY, columns } = process.stdout;
  const isCut = isTTY && !isWide;
  return {
    width: isCut ? Math.max(minWidth, columns) : Infinity,
    proseWidth: proseWidth(),
    maxRows: isCut ? screenRows : Infinity,
    isWide,
  };
}

const minWidth = 80;
/** About one screen. */
const screenRows = 20;
