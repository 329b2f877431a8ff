import type { ContainerInventory, NodePassReport, Offender } from '../../api/node-pass.ts';
import type { ContainerGcFacts, ContainerGcObject, ContainerGcPlan, Decision } from './facts.ts';
import { logDirectories } from './log-directories.ts';

/** How one pass ended. */
export interface Outcome {
  readonly inventory: ContainerInventory | undefined;
  readonly planned: number;
  readonly removed: number;
  readonly freedBytes: number;
  readonly failed: number;
  /** Why nothing, or not everything, could be decided. */
  readonly undecided: string | undefined;
  /** Why the pass ended before it was done. */
  readonly halted: string | undefined;
  readonly error: Error | undefined;
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

/** The report of one pass; an error that is no removal's counts as one. */
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

/** What was seen, and what of it would go; without a plan nothing would. */
export function inventoryOf(
  facts: Omit<ContainerGcFacts, 'sightings'>,
  { removals, kept }: ContainerGcPlan = nothingPlanned,
): ContainerInventory {
  const count = (kind: ContainerGcObject['kind']): number =>
    removals.filter(({ object }) => object.kind === kind).length;
  return {
    containers: { total: facts.containers?.length ?? 0, removable: count('container') },
    sandboxes: { total: facts.sandboxes?.length ?? 0, removable: count('sandbox') },
    logs: {
      bytes: facts.logs?.entries.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0,
      removableBytes: removals.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    },
    offenders: offendersOf(facts, [...removals, ...kept]),
  };
}

function offendersOf({ logs }: Pick<ContainerGcFacts, 'logs'>, decisions: readonly Decision[]): Offender[] {
  if (logs === undefined) return [];
  const reasons = new Map(
    decisions.flatMap(({ object, reason }) =>
      object.kind === 'logDirectory' ? [[object.path, reason]] : [],
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
