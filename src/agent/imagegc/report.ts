import type { CountAndBytes, ImageDisk, ImageInventory, NodePassReport } from '../../api/report/node-pass.ts';
import type { Executed } from '../../gc/execute.ts';
import type { ImageReason } from '../../gc/reasons/images.ts';
import { errorLine } from '../../runtime/errors.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { DiskSpace } from './disk.ts';
import { dryShortMessage, invalidCapacityMessage, shortMessage } from './events.ts';
import { bytesOf, type ImageDecision, type ImageGcPlan, type ImageRemoval } from './facts.ts';

/** Totals of an executed plan. */
export interface RemovalResults {
  readonly removed: readonly ImageRemoval[];
  readonly failed: readonly ImageRemoval[];
  readonly freedBytes: number;
  /** Bytes to the low threshold after the last removal. */
  readonly missingBytes: number;
  readonly lastError: string | undefined;
  /** Why the pass ended early. */
  readonly stopped: string | undefined;
  /** Why something could not be decided. */
  readonly unknown: string | undefined;
  /** The failure that ended the pass: the node can no longer be observed. */
  readonly broken: string | undefined;
}

/** Sums up an executed plan; `clockSkew` explains why removals by age were called off. */
export function resultsOf(
  { outcomes, stopped }: Executed<ImageRemoval>,
  missingBytes: number,
  clockSkew: string | undefined,
): RemovalResults {
  const done = outcomes.filter((one) => one.kind === 'done');
  const failed = outcomes.filter((one) => one.kind === 'failed');
  const last = failed.at(-1);
  const isClockUnsure = outcomes.some((one) => one.kind === 'kept' && one.reason === 'ClockUnsure');
  return {
    removed: done.map(({ decision }) => decision),
    failed: failed.map(({ decision }) => decision),
    freedBytes: done.reduce((sum, { freedBytes }) => sum + freedBytes, 0),
    missingBytes,
    lastError: last && errorLine(last.error),
    stopped: stopped?.why,
    unknown: stopped?.unknown === true ? stopped.why : isClockUnsure ? clockSkew : undefined,
    broken: stopped?.error && stopped.why,
  };
}

/** Why the usage of the disk is unknown although the space step needs it. */
export type DiskTrouble =
  { readonly kind: 'no capacity' } | { readonly kind: 'error'; readonly message: string };

interface PassFacts {
  readonly plan: ImageGcPlan;
  /** undefined = the pass was not to remove anything: no policy, or mode DryRun. */
  readonly results: RemovalResults | undefined;
  /** Measured before the pass. */
  readonly disk: DiskSpace | undefined;
  readonly diskTrouble: DiskTrouble | undefined;
  readonly maximumAgeMs: number | undefined;
}

type Result = Pick<NodePassReport, 'result' | 'message'>;

export interface Outcome extends Result {
  /** Every removable image was removed, and usage is still above the low threshold. */
  readonly isExhausted: boolean;
}

/** The result of a pass, in the kubelet's words where it has some (pkg/kubelet/images/image_gc_manager.go). */
export function outcomeOf(pass: PassFacts): Outcome {
  const failure = failureOf(pass);
  return failure === undefined ? resultOf(pass) : ended('Failed', failure);
}

const ended = (result: Outcome['result'], message: string | undefined, isExhausted = false): Outcome => ({
  result,
  message,
  isExhausted,
});

function failureOf({ plan, results, diskTrouble, maximumAgeMs }: PassFacts): string | undefined {
  const failure = results && removalFailure(plan, results, maximumAgeMs);
  if (failure !== undefined || diskTrouble === undefined) return failure;
  return diskTrouble.kind === 'error' ? diskTrouble.message : invalidCapacityMessage;
}

function removalFailure(plan: ImageGcPlan, results: RemovalResults, maximumAgeMs = 0): string | undefined {
  const { failed, lastError = '', missingBytes, freedBytes, broken } = results;
  if (broken !== undefined) return broken;
  if (failed.some(({ reason }) => reason === 'Age'))
    return `wanted to free images older than ${formatDuration(maximumAgeMs)}, encountered errors in image deletion: ${lastError}`;
  if (failed.length === 0 || missingBytes <= 0) return undefined;
  return `wanted to free ${plan.wantedBytes} bytes, but freed ${freedBytes} bytes space with errors in image deletion: ${lastError}`;
}

function resultOf({ plan, results, disk }: PassFacts): Outcome {
  if (plan.state === 'Unknown') return ended('Unknown', unknownMessage(plan));
  if (results === undefined) return dryRunResult(plan, disk);
  if (results.unknown !== undefined) return ended('Unknown', results.unknown);
  if (plan.wantedBytes > 0 && results.missingBytes > 0) return shortResult(plan, results, disk);
  return ended(results.removed.length > 0 ? 'Succeeded' : 'Idle', results.stopped ?? results.lastError);
}

/** The reasons why nothing can be decided. */
function unknownMessage({ kept }: ImageGcPlan): string | undefined {
  const reasons = new Set(kept.map(({ reason }) => reason).filter((it) => /Unknown$|^ClockUnsure$/.test(it)));
  return reasons.size === 0 ? undefined : [...reasons].join(', ');
}

function dryRunResult(plan: ImageGcPlan, disk: DiskSpace | undefined): Outcome {
  if (plan.state === 'Short') return ended('Short', dryShortMessage(disk, plan));
  return ended(plan.removals.length > 0 ? 'Succeeded' : 'Idle', undefined);
}

function shortResult(
  plan: ImageGcPlan,
  { removed, freedBytes, stopped }: RemovalResults,
  disk: DiskSpace | undefined,
): Outcome {
  if (stopped !== undefined) return ended('Short', stopped);
  if (removed.length >= plan.maxImages)
    return ended('Short', `maxImagesPerPass: ${plan.maxImages}, more images are due`);
  return ended('Short', shortMessage(disk, { wantedBytes: plan.wantedBytes, freedBytes }), true);
}

export function passReport(
  results: RemovalResults | undefined,
  { result, message }: Result,
  at: Date,
): NodePassReport {
  return {
    ...{ unit: 'imagegc', at, result, message },
    removed: results?.removed.length ?? 0,
    freedBytes: results?.freedBytes ?? 0,
    errors: results?.failed.length ?? 0,
  };
}

/** Ids of the removed images. */
export const removedBy = (results: RemovalResults | undefined): ReadonlySet<string> =>
  new Set(results?.removed.map(({ target }) => target.id));

const maxOffenders = 10;

/** Sums up the images that are left after a pass. */
export function inventoryOf(
  { kept, removals }: ImageGcPlan,
  removed: ReadonlySet<string>,
  disk: ImageDisk | undefined,
): ImageInventory {
  const images = [...kept, ...removals].filter(({ target }) => !removed.has(target.id));
  const sum = (isCounted: (image: ImageDecision) => boolean): CountAndBytes =>
    total(images.filter(isCounted));
  return {
    total: total(images),
    inUse: sum(({ target: { holds } }) => holds.usedBy !== undefined || holds.boundPod !== undefined),
    pinned: sum(({ target }) => target.holds.pinned),
    kept: sum(({ target }) => target.holds.keepPattern !== undefined),
    removable: sum(({ reason }) => removableReasons.has(reason)),
    disk,
    offenders: images
      .toSorted((a, b) => b.target.image.sizeBytes - a.target.image.sizeBytes)
      .slice(0, maxOffenders)
      .map(({ target: { id, name, image }, reason }) => ({
        ...{ kind: 'Image', id, name, namespace: undefined },
        ...{ bytes: image.sizeBytes, reason },
      })),
  };
}

/** Reasons of images that only the disk usage or a limit keeps. */
const removableReasons: ReadonlySet<string> = new Set<ImageReason>([
  ...(['Age', 'Space', 'BelowThreshold', 'TargetMet', 'PacingLimit'] as const),
]);

const total = (images: readonly ImageDecision[]): CountAndBytes => ({
  count: images.length,
  bytes: bytesOf(images),
});
