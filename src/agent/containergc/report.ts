import {
  lastOfEach,
  type ContainerInventory,
  type LastRemoved,
  type NodePassReport,
  type Offender,
} from '../../api/report/node-pass.ts';
import { noContainers, type PlannedContainers } from '../../api/node-pressure.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { Executed } from '../../gc/execute.ts';
import { counted } from '../../gc/reasons/words.ts';
import type {
  ContainerDecision,
  ContainerGcFacts,
  ContainerGcPlan,
  ContainerGcTarget,
  ContainerRemoval,
} from './facts.ts';
import { logDirectories } from './log-names.ts';
import { orphanInventory } from './orphans.ts';

/** Totals of an executed plan. */
export interface RemovalResults {
  readonly removed: number;
  readonly freedBytes: number;
  readonly failed: number;
  /** Why something could not be decided. */
  readonly unknown: string | undefined;
  /** Why the pass ended early. */
  readonly stopped: string | undefined;
  readonly error: Error | undefined;
}

/** The result of a pass. */
export interface Outcome extends RemovalResults {
  readonly inventory: ContainerInventory | undefined;
  readonly planned: number;
  /** What a pass in mode DryRun would remove. */
  readonly reclaim: PlannedContainers;
}

export const nothingDone: Outcome = {
  inventory: undefined,
  planned: 0,
  reclaim: noContainers,
  removed: 0,
  freedBytes: 0,
  failed: 0,
  unknown: undefined,
  stopped: undefined,
  error: undefined,
};

/** Sums up an executed plan; `clockSkew` explains why removals by age were called off. */
export function resultsOf(
  { outcomes, stopped }: Executed<ContainerRemoval>,
  clockSkew: string | undefined,
): RemovalResults {
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
    unknown: stopped?.unknown === true ? stopped.why : isClockUnsure ? clockSkew : undefined,
    stopped: stopped?.why,
    error: broken ?? failure,
  };
}

/** Something is due whose removal failed in an earlier pass. */
export function pausedError({ kept }: Pick<ContainerGcPlan, 'kept'>): Error | undefined {
  const paused = kept.filter(({ reason }) => reason === 'RemovalFailed').length;
  if (paused === 0) return undefined;
  return new Error(`${counted(paused, 'removal')} failed before; dustpan tries again after a pause`);
}

/** The report of one pass; an error outside of removals counts as one failure. */
export function passReport(outcome: Outcome, at: Date, message: string | undefined): NodePassReport {
  const { removed, freedBytes, failed, error } = outcome;
  const errors = error === undefined ? failed : Math.max(1, failed);
  return { unit: 'containergc', at, result: resultOf(outcome), removed, freedBytes, errors, message };
}

function resultOf({ error, unknown, stopped, planned }: Outcome): NodePassReport['result'] {
  if (error !== undefined) return 'Failed';
  if (unknown !== undefined) return 'Unknown';
  if (stopped !== undefined) return 'Short';
  return planned === 0 ? 'Idle' : 'Succeeded';
}

const maxOffenders = 10;

export const logBytesOf = ({ logs }: Pick<ContainerGcFacts, 'logs'>): number =>
  logs?.entries.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;

/** Sums up the objects of a node and those that the plan removes. */
export function inventoryOf(facts: ContainerGcFacts, plan: ContainerGcPlan): ContainerInventory {
  const { removals, kept } = plan;
  const count = (kind: ContainerGcTarget['kind']): number =>
    removals.filter(({ target }) => target.kind === kind).length;
  return {
    containers: { total: facts.containers?.length ?? 0, removable: count('Container') },
    sandboxes: { total: facts.sandboxes?.length ?? 0, removable: count('Sandbox') },
    logs: {
      bytes: logBytesOf(facts),
      removableBytes: removals.reduce((sum, { target, bytes = 0 }) => sum + (isLog(target) ? bytes : 0), 0),
    },
    orphans: orphanInventory(facts, [...removals, ...kept]),
    offenders: offendersOf(facts, plan),
  };
}

const isLog = ({ kind }: ContainerGcTarget): boolean => kind === 'LogDirectory' || kind === 'LogFile';

/** The largest log directories; in place of one, the current log that is too large and more than half of it. */
function offendersOf(
  { logs }: Pick<ContainerGcFacts, 'logs'>,
  { removals, kept, warnings }: ContainerGcPlan,
): Offender[] {
  if (logs === undefined) return [];
  const decisions: readonly ContainerDecision[] = [...removals, ...kept];
  const reasons = new Map(
    decisions.flatMap(({ target, reason }) =>
      target.kind === 'LogDirectory' ? [[target.path, reason]] : [],
    ),
  );
  return logDirectories(logs)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, maxOffenders)
    .map(({ path, pod, bytes }) => {
      const log = warnings.find(({ evidence }) => evidence.path.startsWith(`${path}/`));
      const place = { name: pod?.name, namespace: pod?.namespace };
      return log !== undefined && 2 * log.evidence.bytes > bytes
        ? { kind: 'LogFile', id: log.evidence.path, ...place, bytes: log.evidence.bytes, reason: log.reason }
        : { kind: 'LogDirectory', id: path, ...place, bytes, reason: reasons.get(path) };
    });
}

/** Adds a removal. */
export function withRemoved(
  before: LastRemoved['others'],
  { target, reason }: ContainerRemoval,
  { policy, freedBytes, now }: { readonly policy: Policy; readonly freedBytes: number; readonly now: Date },
): LastRemoved['others'] {
  const { kind, pod } = target;
  const removed = {
    ...{ kind, id: 'path' in target ? target.path : target.id },
    ...{ name: kind === 'Container' ? target.name : undefined, pod, reason },
    ...{ policy: policy.name, bytes: freedBytes > 0 ? freedBytes : undefined, atMs: now.getTime() },
  };
  return lastOfEach([removed, ...before]);
}
