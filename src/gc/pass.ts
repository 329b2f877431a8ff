import type {
  NodeGCReportStatusContainersLastRemovedItem,
  NodeGCReportStatusImagesLastRemovedItem,
} from '../api/gen/nodegcreport.gen.ts';
import { isInvalid } from '../api/policy/policy.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Decision, NodeUnit, Outcome, Target, Unit } from './decision.ts';
import { execute, logStop, type Execution, type Stop } from './execute.ts';
import type { FailureMemory } from './failures.ts';
import type { UnitMetrics } from './metrics.ts';

/** Where a unit counts and logs. */
export interface Reporting {
  readonly unit: Unit;
  readonly metrics: UnitMetrics;
  readonly log: Logger;
}

interface Work<D> extends Omit<Execution<D>, 'onOutcome'> {
  /** Whether to leave out this decision when its turn comes; then it has no outcome. Default: none is. */
  readonly isLeftOut?: (next: D) => boolean;
  /** Log fields that identify an object even after its removal; `carryOut` adds the reason and the policy (docs/reference/log.md). */
  readonly fieldsOf: (decision: D) => object;
  /** Remembers the removals that failed; undefined = the unit does so itself. */
  readonly failures?: FailureMemory<D>;
  /** Called after each decision: a long pass is not a hung one. */
  readonly onProgress: () => void;
  readonly onOutcome?: (outcome: Outcome<D>) => void;
  /** A removal that an earlier pass began, and that is completed whatever the mode is now. Default: none is. */
  readonly hasBegun?: (decision: D) => boolean;
  /** A failure that is none: a shutdown has interrupted the removal. Default: every failure is one. */
  readonly isInterrupted?: (error: unknown) => boolean;
}

export interface PassResults<D> {
  readonly outcomes: readonly Outcome<D>[];
  readonly removed: readonly D[];
  readonly failed: readonly Extract<Outcome<D>, { kind: 'failed' }>[];
  readonly freedBytes: number;
  readonly stopped: Stop | undefined;
}

/** A cluster has thousands of pods: a broken server must not fill the log. Of the few failures on a node each has its line, which `why` names. */
const maxDeleteFailureLines = 10;

/**
 * Removes what is due under policies in mode Enforce, in order, each object after its checks; counts and logs each outcome. What is due in mode
 * DryRun is only logged. Never rejects.
 */
export async function carryOut<D extends Decision>(
  due: readonly D[],
  reporting: Reporting,
  work: Work<D>,
  signal: AbortSignal,
): Promise<PassResults<D>> {
  const { log } = reporting;
  const isDue = (one: D): boolean => isEnforced(one) || work.hasBegun?.(one) === true;
  const fieldsOf = (one: D): object => ({
    ...work.fieldsOf(one),
    reason: one.reason,
    policy: one.policy?.name,
  });
  for (const one of due.filter((it) => !isDue(it)))
    log.debug(fieldsOf(one), `would ${verbs[one.verdict].would} ${nouns[one.target.kind]}`);
  let failures = 0;
  const isInterrupted = (one: Outcome<D>): boolean =>
    one.kind === 'failed' && work.isInterrupted?.(one.error) === true;
  const executed = await execute(
    inTurn(due.filter(isDue), work),
    {
      ...work,
      onOutcome: (outcome) => {
        work.onProgress();
        if (isInterrupted(outcome)) return;
        if (outcome.kind === 'failed') failures += 1;
        record(outcome, fieldsOf(outcome.decision), {
          ...reporting,
          isQuiet: outcome.decision.verdict === 'Delete' && failures > maxDeleteFailureLines,
        });
        work.onOutcome?.(outcome);
      },
    },
    signal,
  );
  const { stopped } = executed;
  const outcomes = executed.outcomes.filter((one) => !isInterrupted(one));
  work.failures?.record(outcomes, work.clock.monotonicMs());
  logStop(log, stopped);
  const done = outcomes.filter((one) => one.kind === 'done');
  return {
    outcomes,
    removed: done.map(({ decision }) => decision),
    failed: outcomes.filter((one) => one.kind === 'failed'),
    freedBytes: done.reduce((sum, { freedBytes }) => sum + freedBytes, 0),
    stopped,
  };
}

/** Counts and logs a removal that the runtime has completed after its deadline. How much it freed is unknown. */
export function recordLate(decision: Decision, fields: object, reporting: Reporting): void {
  const named = { ...fields, reason: decision.reason, policy: decision.policy?.name };
  record({ kind: 'done', decision, freedBytes: 0 }, named, { ...reporting, isQuiet: false });
}

function* inTurn<D>(due: readonly D[], { isLeftOut }: Pick<Work<D>, 'isLeftOut'>): Generator<D> {
  for (const one of due) if (isLeftOut?.(one) !== true) yield one;
}

const isEnforced = ({ policy }: Decision): boolean =>
  policy !== undefined && !isInvalid(policy) && policy.mode === 'Enforce';

interface Recording extends Reporting {
  /** Logs a failure only at level debug. */
  readonly isQuiet: boolean;
}

function record(
  outcome: Outcome<Decision>,
  fields: object,
  { unit, metrics, log, isQuiet }: Recording,
): void {
  const { reason, verdict, target } = outcome.decision;
  const [noun, { removed, removing, gone }] = [nouns[target.kind], verbs[verdict]];
  switch (outcome.kind) {
    case 'done':
      metrics.removed.inc({ unit, reason });
      metrics.freedBytes.inc({ unit }, outcome.freedBytes);
      log.info(
        verdict === 'Delete' ? fields : { ...fields, freedBytes: outcome.freedBytes },
        `${removed} ${noun}`,
      );
      return;
    case 'kept':
      metrics.skipped.inc({ unit, reason: outcome.reason });
      log.debug({ ...fields, kept: outcome.reason }, `keeping ${noun} after live check`);
      return;
    case 'gone':
      log.debug(fields, `${noun} ${gone}`);
      return;
    case 'failed':
      metrics.failed.inc({ unit, reason });
      log[isQuiet ? 'debug' : 'warn'](
        { ...fields, err: errorLine(outcome.error) },
        `${removing} ${noun} failed`,
      );
  }
}

const remove = { would: 'remove', removed: 'removed', removing: 'removing', gone: 'is already gone' };
const verbs: Readonly<Record<Decision['verdict'], typeof remove>> = {
  Delete: {
    would: 'delete',
    removed: 'deleted',
    removing: 'deleting',
    gone: 'is already gone',
  },
  Remove: remove,
  Evict: { would: 'evict', removed: 'evicted', removing: 'evicting', gone: 'is already gone' },
  // Neither is carried out.
  Warn: remove,
  Keep: remove,
};

const nouns: Readonly<Record<Target['kind'], string>> = {
  Pod: 'pod',
  Node: 'node',
  Image: 'image',
  Container: 'container',
  Sandbox: 'sandbox',
  LogDirectory: 'log directory',
  LogLink: 'log link',
  LogFile: 'log file',
  PodCgroup: 'orphaned control group',
  PodDirectory: 'orphaned pod directory',
  Checkpoint: 'checkpoint',
  Leftover: 'leftover of containerd',
};

/** Why something could not be decided: the check right before a removal lacked a fact, or the clocks differ; undefined = everything was. */
export function undecidedBecause(
  { outcomes, stopped }: Pick<PassResults<Decision>, 'outcomes' | 'stopped'>,
  clockSkew: string | undefined,
): string | undefined {
  if (stopped?.unknown === true) return stopped.why;
  return outcomes.some((one) => one.kind === 'kept' && one.reason === 'ClockUnsure') ? clockSkew : undefined;
}

/** The facts of one pass of one unit, for the report. */
export interface NodePassReport {
  readonly unit: NodeUnit;
  readonly at: Date;
  /**
   * Idle: nothing was due. Succeeded: everything due is done (in DryRun: counted). Short: everything possible is done, but more was needed.
   * Failed: an error occurred. Unknown: the unit could not decide.
   */
  readonly result: 'Idle' | 'Succeeded' | 'Short' | 'Failed' | 'Unknown';
  readonly removed: number;
  /** Measured where possible, else nominal. */
  readonly freedBytes: number;
  /** Number of failed removals. */
  readonly errors: number;
  /** The last error, in one line. */
  readonly message: string | undefined;
}

/** The objects that an agent removed last, newest first. A pass that cannot observe the node changes neither list. */
export interface LastRemoved {
  /** At most ten, of the last day. */
  readonly images: readonly NodeGCReportStatusImagesLastRemovedItem[];
  /** Since the agent started, those of `lastOfEach`; the report continues the list of the agent before. */
  readonly others: readonly NodeGCReportStatusContainersLastRemovedItem[];
}

/** The report of one pass of a unit of the agent; `results` undefined = the pass was not to remove anything. */
export const passReport = (
  { unit, at, result, message }: Pick<NodePassReport, 'unit' | 'at' | 'result' | 'message'>,
  results: Pick<PassResults<unknown>, 'removed' | 'failed' | 'freedBytes'> | undefined,
): NodePassReport => ({
  unit,
  at,
  result,
  message,
  removed: results?.removed.length ?? 0,
  freedBytes: results?.freedBytes ?? 0,
  errors: results?.failed.length ?? 0,
});
