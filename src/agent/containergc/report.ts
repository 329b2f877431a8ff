import type { ContainerInventory, NodePassReport, Offender } from '../../api/report/node-pass.ts';
import type { Executed } from '../../gc/execute.ts';
import type { ContainerDecision, ContainerGcPlan, ContainerGcTarget, ContainerRemoval } from './decisions.ts';
import type { ContainerGcFacts } from './facts.ts';
import { logDirectories } from './log-directories.ts';

/** What became of the removals of a pass. */
export interface Acts {
  readonly removed: number;
  readonly freedBytes: number;
  readonly failed: number;
  /** Why not everything could be decided. */
  readonly undecided: string | undefined;
  /** Why the pass ended before it was done. */
  readonly halted: string | undefined;
  readonly error: Error | undefined;
}

/** How one pass ended. */
export interface Outcome extends Acts {
  readonly inventory: ContainerInventory | undefined;
  readonly planned: number;
}

export const nothingDone: Outcome = {
  inventory: undefined,
  planned: 0,
  removed: 0,
  freedBytes: 0,
  failed: 0,
  undecided: undefined,
  halted: undefined,
  error: undefined,
};

/** Sums up an executed plan; `clocks` = how the clocks differ, where ages were not judged for it. */
export function actsOf({ outcomes, stopped }: Executed<ContainerRemoval>, clocks: string | undefined): Acts {
  const done = outcomes.filter((one) => one.kind === 'done');
  const failed = outcomes.filter((one) => one.kind === 'failed');
  const isClockUnsure = outcomes.some((one) => one.kind === 'kept' && one.reason === 'ClockUnsure');
  const [first] = failed;
  const failure =
    first &&
    new Error(
      `removing containers, sandboxes and logs: ${failed.length} of ${failed.length + done.length} failed`,
      { cause: first.error },
    );
  const broken = stopped?.error && new Error('checking before a removal', { cause: stopped.error });
  return {
    removed: done.length,
    freedBytes: done.reduce((sum, { freedBytes }) => sum + freedBytes, 0),
    failed: failed.length,
    undecided: stopped?.unknown === true ? stopped.why : isClockUnsure ? clocks : undefined,
    halted: stopped?.why,
    error: broken ?? failure,
  };
}

/** The report of one pass; an error outside of removals counts as one. */
export function passReport(outcome: Outcome, at: Date, message: string | undefined): NodePassReport {
  const { removed, freedBytes, failed, error } = outcome;
  const errors = error === undefined ? failed : Math.max(1, failed);
  return { unit: 'containergc', at, result: resultOf(outcome), removed, freedBytes, errors, message };
}

function resultOf({ error, undecided, halted, planned }: Outcome): NodePassReport['result'] {
  if (error !== undefined) return 'Failed';
  if (undecided !== undefined) return 'Unknown';
  if (halted !== undefined) return 'Short';
  return planned === 0 ? 'Idle' : 'Succeeded';
}

const offendersShown = 10;
const nothingPlanned: ContainerGcPlan = { removals: [], kept: [] };

/** Sums up what a pass saw, and what of it would be removed: nothing without a plan. */
export function inventoryOf(
  facts: Omit<ContainerGcFacts, 'sightings'>,
  { removals, kept }: ContainerGcPlan = nothingPlanned,
): ContainerInventory {
  const count = (kind: ContainerGcTarget['kind']): number =>
    removals.filter(({ target }) => target.kind === kind).length;
  return {
    containers: { total: facts.containers?.length ?? 0, removable: count('Container') },
    sandboxes: { total: facts.sandboxes?.length ?? 0, removable: count('Sandbox') },
    logs: {
      bytes: facts.logs?.entries.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0,
      removableBytes: removals.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    },
    offenders: offendersOf(facts, [...removals, ...kept]),
  };
}

function offendersOf(
  { logs }: Pick<ContainerGcFacts, 'logs'>,
  decisions: readonly ContainerDecision[],
): Offender[] {
  if (logs === undefined) return [];
  const reasons = new Map(
    decisions.flatMap(({ target, reason }) =>
      target.kind === 'LogDirectory' ? [[target.path, reason]] : [],
    ),
  );
  return logDirectories(logs)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, offendersShown)
    .map(({ path, pod, bytes }) => ({
      kind: 'LogDirectory',
      id: path,
      name: pod?.name,
      namespace: pod?.namespace,
      bytes,
      reason: reasons.get(path),
    }));
}
