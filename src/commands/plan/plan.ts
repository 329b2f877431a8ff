import { basename } from 'node:path';
import { readSnapshot } from '../../snapshot/directory.ts';
import type { OnProgress } from '../../snapshot/files.ts';
import { InputError } from '../../snapshot/input-error.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import { progressOf, type Progress } from '../cli/progress.ts';
import type { System } from '../cli/system.ts';
import { proseWidth } from '../cli/table.ts';
import type { PlanConfig, PlanInputs } from './command.ts';
import { changesBetween } from './changes.ts';
import type { Changes, PlanDocument } from './document.ts';
import { checkNamespace, goneNotes, listedOf, shownPart, shownPods, type PodFilter } from './filter.ts';
import { createdAtIn, nameText, planTable, type PlanTableOptions } from './table.ts';
import { decisionsInPiece, planJson, planYaml } from './text.ts';
import { planUnits } from './units.ts';

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
    for (const piece of await textOf(plan, facts, config)) {
      stdout(piece);
      if (!isTerminal) progress.step(`printing: ${printed} of ${plan.decisions.length}`);
      printed += decisionsInPiece;
    }
    return config.hasExitCode && plan.decisions.some(({ order }) => order !== null)
      ? exitCode.found
      : exitCode.ok;
  } finally {
    progress.end();
  }
}

type PlanOfConfig = Pick<PlanConfig, 'kept' | 'assumeElapsed' | 'filter' | 'now' | 'laterMs'>;
type TimedConfig = PlanOfConfig & { readonly now: Date };

/** Plans the facts; with `--policy`, also compares with the policies in force. */
export function planOf(facts: PlanFacts, config: PlanOfConfig): PlanDocument {
  const { policies = [], replaced } = facts;
  const at = { ...config, now: timeOf(config, facts) };
  const plan = planWith(facts, at);
  if (replaced === undefined) return plan;
  // The comparison is about policies, so the status of one that is replaced counts on neither side.
  const inForce = {
    ...facts,
    policies: replaced,
    replaced: replaced.filter((one) => policies.includes(one)),
  };
  const comparison = replaced.length === 0 ? {} : { changes: changesTo(plan, inForce, at) };
  return { ...plan, proposed: true, ...comparison };
}

const changesTo = (plan: PlanDocument, inForce: PlanFacts, config: TimedConfig): Changes =>
  changesBetween(planWith(inForce, { ...config, kept: false }), plan);

function planWith(facts: PlanFacts, { kept, assumeElapsed, filter, now }: TimedConfig): PlanDocument {
  const isShown = shownPods(filter, facts);
  const whole = planUnits(facts, { now, kept: kept || isShown !== undefined, assumeElapsed });
  if (isShown === undefined) return whole;
  const part = shownPart(whole, isShown, kept);
  const hidden = goneNotes(listedOf(whole.decisions, kept), filter, facts);
  return { ...part, notes: [...part.notes, ...hidden] };
}

/** `--now`, else when the snapshot was taken, else now; or that much later. */
export const timeOf = (
  { now, laterMs }: Pick<PlanConfig, 'now' | 'laterMs'>,
  { takenAt }: Pick<PlanFacts, 'takenAt'>,
): Date => new Date((now ?? takenAt ?? clock.now()).getTime() + laterMs);

async function textOf(plan: PlanDocument, facts: PlanFacts, config: PlanConfig): Promise<Iterable<string>> {
  const { output, kept, assumeElapsed } = config;
  switch (output) {
    case 'json':
      return planJson(plan);
    case 'yaml':
      return planYaml(plan, (await import('../cli/yaml-text.ts')).yamlText);
    case 'name':
      return plan.decisions.map((one) => `${nameText(one)}\n`);
    case 'table':
    case 'wide':
      return [
        planTable(plan, {
          colours: config.colours,
          kept,
          assumeElapsed,
          createdAt: createdAtIn(facts),
          ...screen(output === 'wide'),
        }),
      ];
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

type FactsConfig = PlanInputs & { readonly filter: PodFilter };

/** Reads the snapshot or the cluster that the flags name, with the labels that the filter needs; throws UsageError for unusable input. */
export async function readFacts(config: FactsConfig, progress: Progress): Promise<PlanFacts> {
  const onProgress: OnProgress = (file, items) => {
    progress.step(`reading ${basename(file)}: ${items}`);
  };
  try {
    const facts = await factsFrom(config, onProgress);
    checkNamespace(config.filter, facts);
    return facts;
  } catch (err) {
    if (err instanceof InputError) throw new UsageError(err.problems);
    throw err;
  }
}

async function factsFrom(config: FactsConfig, onProgress: OnProgress): Promise<PlanFacts> {
  const { snapshot: directory, given, filter, now } = config;
  if (directory === undefined) return (await import('./live.ts')).readCluster(config, onProgress);
  const source = { directory, given, selector: filter.selector, onProgress };
  const facts = await readSnapshot({ ...source, now: now === undefined ? clock.now() : undefined });
  const isDated = now !== undefined || facts.takenAt !== undefined;
  return isDated ? facts : { ...facts, notes: [undatedNote(directory), ...facts.notes] };
}

const undatedNote = (directory: string): string =>
  `Snapshot ${directory} does not record when it was taken: the plan counts from the present time. To plan for that time, add --now.`;
