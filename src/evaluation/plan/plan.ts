import { basename } from 'node:path';
import { UsageError } from '../../process/exit.ts';
import type { Progress } from '../../process/progress.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { readSnapshot } from '../../snapshot/directory.ts';
import type { OnProgress } from '../../snapshot/files.ts';
import { InputError } from '../../snapshot/input-error.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { changesBetween } from './changes.ts';
import type { PlanDocument } from './document.ts';
import type { FactsInputs, PlanInputs } from './inputs.ts';
import { checkNamespace, goneNotes, listedOf, shownPart, shownPods, type PodFilter } from './filter.ts';
import { planUnits } from './units.ts';
import { unknownDifference, unknownIn } from './unknown.ts';

interface PlanOfConfig extends Pick<PlanInputs, 'assumeElapsed' | 'now' | 'laterMs'> {
  readonly kept: boolean;
  readonly filter: PodFilter;
}

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
    replaced: replaced.filter((policy) => policies.includes(policy)),
  };
  if (replaced.length === 0) return { ...plan, proposed: true };
  const before = planWith(inForce, { ...at, kept: false });
  const unknown = unknownDifference(
    { policies: replaced, unknown: before.unknown },
    { policies, unknown: plan.unknown },
  );
  return { ...plan, proposed: true, changes: { ...changesBetween(before, plan), unknown } };
}

function planWith(facts: PlanFacts, { kept, assumeElapsed, filter, now }: TimedConfig): PlanDocument {
  const isShown = shownPods(filter, facts);
  const whole = planUnits(facts, { now, kept: kept || isShown !== undefined, assumeElapsed });
  if (isShown === undefined) return whole;
  const part = shownPart(whole, isShown, kept);
  const hidden = goneNotes(listedOf(whole.decisions, kept), filter, facts);
  return { ...part, unknown: unknownIn(facts, true), notes: [...part.notes, ...hidden] };
}

/** `--now`, else when the snapshot was taken, else now; or that much later. */
export const timeOf = (
  { now, laterMs }: Pick<PlanInputs, 'now' | 'laterMs'>,
  { takenAt }: Pick<PlanFacts, 'takenAt'>,
): Date => new Date((now ?? takenAt ?? clock.now()).getTime() + laterMs);

/** Reads the snapshot or the cluster that the flags name, with the labels that the filter needs; throws UsageError for unusable input. */
export async function readFacts(config: FactsInputs, progress: Progress): Promise<PlanFacts> {
  const onProgress: OnProgress = (file, items) => progress.step(`reading ${basename(file)}: ${items}`);
  try {
    const facts = await factsFrom(config, onProgress);
    checkNamespace(config.filter, facts);
    return facts;
  } catch (err) {
    if (err instanceof InputError) throw new UsageError(err.problems);
    throw err;
  }
}

async function factsFrom(config: FactsInputs, onProgress: OnProgress): Promise<PlanFacts> {
  const { snapshot: directory, given, filter, now } = config;
  if (directory === undefined) return (await import('./live.ts')).readCluster(config, onProgress);
  const source = { directory, given, selector: filter.selector, onProgress };
  const facts = await readSnapshot({ ...source, now: now === undefined ? clock.now() : undefined });
  const isDated = now !== undefined || facts.takenAt !== undefined;
  return isDated ? facts : { ...facts, notes: [undatedNote(directory), ...facts.notes] };
}

const undatedNote = (directory: string): string =>
  `Snapshot ${directory} does not record when it was taken: the plan counts from the present time. To plan for that time, add --now.`;
