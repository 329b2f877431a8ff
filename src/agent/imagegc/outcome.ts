import type { NodePassReport } from '../../api/report/node-pass.ts';
import type { Executed } from '../../gc/execute.ts';
import { errorLine } from '../../runtime/errors.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { DiskSpace } from './disk.ts';
import { dryShortMessage, invalidCapacityMessage, shortMessage } from './events.ts';
import type { ImageGcPlan, ImageRemoval } from './facts.ts';

/** What a pass did to the images it was to remove. */
export interface Acts {
  readonly removed: readonly ImageRemoval[];
  readonly failed: readonly ImageRemoval[];
  readonly freedBytes: number;
  /** To the low threshold, as last known. */
  readonly missingBytes: number;
  readonly lastError: string | undefined;
  /** Why it ended before it was done. */
  readonly stopped: string | undefined;
  /** Why not everything could be decided. */
  readonly unknown: string | undefined;
  /** Why it had to end: the node could not be listed any more. */
  readonly broken: string | undefined;
}

/** Sums up an executed plan; `clocks` = how the clocks differ, where ages were not judged for it. */
export function actsOf(
  { outcomes, stopped }: Executed<ImageRemoval>,
  missingBytes: number,
  clocks: string | undefined,
): Acts {
  const done = outcomes.filter((one) => one.kind === 'done');
  const failed = outcomes.filter((one) => one.kind === 'failed');
  const last = failed.at(-1);
  const isClockUnsure = outcomes.some((one) => one.kind === 'kept' && one.reason === 'ClockUnsure');
  return {
    removed: done.map(({ decision }) => decision),
    failed: failed.map(({ decision }) => decision),
    freedBytes: done.reduce((sum, { freedBytes }) => sum + freedBytes, 0),
    missingBytes,
    lastError: last === undefined ? undefined : errorLine(last.error),
    stopped: stopped?.why,
    unknown: stopped?.unknown === true ? stopped.why : isClockUnsure ? clocks : undefined,
    broken: stopped?.error === undefined ? undefined : stopped.why,
  };
}

/** Why the disk is not known, where the space step needs it. */
export type DiskTrouble =
  { readonly kind: 'no capacity' } | { readonly kind: 'error'; readonly message: string };

interface PassFacts {
  readonly plan: ImageGcPlan;
  /** undefined = nothing was to be touched: no policy, or mode DryRun. */
  readonly acts: Acts | undefined;
  /** As it was before the pass. */
  readonly disk: DiskSpace | undefined;
  readonly diskTrouble: DiskTrouble | undefined;
  readonly maximumAgeMs: number | undefined;
}

export interface Outcome extends Pick<NodePassReport, 'result' | 'message'> {
  /** All that may go is gone, and the target is still not met: the disk is full of something else. */
  readonly isExhausted: boolean;
}

/** How a pass ended, in upstream's words where it has any (pkg/kubelet/images/image_gc_manager.go). */
export function outcomeOf(pass: PassFacts): Outcome {
  const trouble = troubleOf(pass);
  return trouble === undefined ? calmOutcome(pass) : ended('Failed', trouble);
}

const ended = (result: Outcome['result'], message: string | undefined, isExhausted = false): Outcome => ({
  result,
  message,
  isExhausted,
});

function troubleOf({ plan, acts, diskTrouble, maximumAgeMs = 0 }: PassFacts): string | undefined {
  const removal = acts === undefined ? undefined : removalTrouble(plan, acts, maximumAgeMs);
  if (removal !== undefined) return removal;
  if (diskTrouble === undefined) return undefined;
  return diskTrouble.kind === 'error' ? diskTrouble.message : invalidCapacityMessage;
}

function removalTrouble(plan: ImageGcPlan, acts: Acts, maximumAgeMs: number): string | undefined {
  const { failed, lastError = '', missingBytes, freedBytes, broken } = acts;
  if (broken !== undefined) return broken;
  if (failed.some(({ reason }) => reason === 'Age'))
    return `wanted to free images older than ${formatDuration(maximumAgeMs)}, encountered errors in image deletion: ${lastError}`;
  if (failed.length === 0 || missingBytes <= 0) return undefined;
  return `wanted to free ${plan.wantedBytes} bytes, but freed ${freedBytes} bytes space with errors in image deletion: ${lastError}`;
}

function calmOutcome({ plan, acts, disk }: PassFacts): Outcome {
  if (plan.state === 'Unknown') return ended('Unknown', unknownMessage(plan));
  if (acts === undefined) return dryOutcome(plan, disk);
  if (acts.unknown !== undefined) return ended('Unknown', acts.unknown);
  const isShort = plan.wantedBytes > 0 && acts.missingBytes > 0;
  if (isShort) return shortOutcome(plan, acts, disk);
  return ended(acts.removed.length > 0 ? 'Succeeded' : 'Idle', acts.stopped ?? acts.lastError);
}

function shortOutcome(
  plan: ImageGcPlan,
  { removed, freedBytes, stopped }: Acts,
  disk: DiskSpace | undefined,
): Outcome {
  if (stopped !== undefined) return ended('Short', stopped);
  if (removed.length >= plan.maxImages)
    return ended('Short', `maxImagesPerPass: ${plan.maxImages} a pass, more are to go`);
  return ended('Short', shortMessage(disk, { wantedBytes: plan.wantedBytes, freedBytes }), true);
}

function dryOutcome(plan: ImageGcPlan, disk: DiskSpace | undefined): Outcome {
  if (plan.state === 'Short') return ended('Short', dryShortMessage(disk, plan));
  return ended(plan.removals.length > 0 ? 'Succeeded' : 'Idle', undefined);
}

/** The reasons why nothing can be decided, as the images have them. */
function unknownMessage({ kept }: ImageGcPlan): string | undefined {
  const unknown = kept.filter(({ reason }) => /Unknown$|^ClockUnsure$/.test(reason));
  return unknown.length === 0 ? undefined : [...new Set(unknown.map(({ reason }) => reason))].join(', ');
}

/** The ids of the images that were removed. */
export const removedBy = (acts: Acts | undefined): ReadonlySet<string> =>
  new Set(acts?.removed.map(({ target }) => target.id));

/** The report of a pass; trouble with the state file shows where there is no worse. */
export function reportOf(
  acts: Acts | undefined,
  { result, message }: Pick<Outcome, 'result' | 'message'>,
  at: Date,
): NodePassReport {
  return {
    ...{ unit: 'imagegc', at, result, message },
    removed: acts?.removed.length ?? 0,
    freedBytes: acts?.freedBytes ?? 0,
    errors: acts?.failed.length ?? 0,
  };
}
