import type { ImageSpace } from '../../api/image-space.ts';
import type { DiskSignal } from '../../api/node-pressure.ts';
import { formerTag, imageSelection, referenceMatcher } from '../../api/image-reference.ts';
import { podUidOf } from '../../api/pod-ref.ts';
import { hasEnded, type RemoveEntry } from '../../api/policy/policy.ts';
import { patternLists, unmatchedPatterns } from '../../api/policy/unmatched.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import { imageRemoveReasons } from '../../api/reasons.ts';
import type { HeldImages } from '../../gc/hold.ts';
import type { PassResults, NodePassReport } from '../../gc/pass.ts';
import { amountText, counted } from '../../gc/reasons/words.ts';
import type { DiskSpace, ImageDisk } from '../../node/disk/filesystem.ts';
import { errorLine } from '../../runtime/errors.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import { afterAll, dueBecause, isUsed } from './plan.ts';
import { dryShortMessage, invalidCapacityMessage, shortMessage } from './events.ts';
import {
  bytesOf,
  signalOf,
  type ImageDecision,
  type ImageGcFacts,
  type ImageGcPlan,
  type ImageRemoval,
  type SelectedImages,
  type SpaceUnit,
  type CountAndBytes,
  type ImageInventory,
  type ListedImage,
  type PackedBytes,
  type PinState,
} from './facts.ts';
import { reportedPull } from './pulls.ts';
import { bytesOnDisk, freedByAll, packedOnly } from './space.ts';
import type { ReclaimResult } from '../nodepressure/facts.ts';

export interface RemovalResults extends PassResults<ImageRemoval> {
  /** Measured after the last removal; undefined = unknown. */
  readonly disk: ImageDisk | undefined;
  /** Measured; estimated where that failed. */
  readonly freedInodes: number;
  /** Amounts still to free after the last removal: to reach the low thresholds, and for the demand of node pressure; 0 or less = none. */
  readonly missing: Readonly<Record<SpaceUnit | 'demand', number>>;
  /** Why something could not be decided. */
  readonly unknown: string | undefined;
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
  readonly now: Date;
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

function failureOf({ plan, results, diskTrouble, now }: PassFacts): string | undefined {
  const failure = results && removalFailure(plan, results, now);
  if (failure !== undefined || diskTrouble === undefined) return failure;
  return diskTrouble.kind === 'error' ? diskTrouble.message : invalidCapacityMessage;
}

function removalFailure(plan: ImageGcPlan, results: RemovalResults, now: Date): string | undefined {
  const { failed, stopped } = results;
  if (stopped?.error !== undefined) return stopped.why;
  const lastError = lastErrorOf(results);
  if (failed.some(({ decision }) => decision.reason === 'RemoveListed'))
    return `wanted to remove images on the remove list, encountered errors in image deletion: ${lastError}`;
  const aged = failed.find(({ decision }) => decision.reason === 'Age');
  if (aged !== undefined)
    return `wanted to free images older than ${formatDuration(aged.decision.target.maximumAgeMs ?? 0)}, encountered errors in image deletion: ${lastError}`;
  if (failed.length === 0 || !isMissing(results)) return postponedFailure(plan, results, now);
  return `wanted to free ${freedTexts(plan, results)} with errors in image deletion: ${lastError}`;
}

function lastErrorOf({ failed }: RemovalResults): string | undefined {
  const last = failed.at(-1);
  return last && errorLine(last.error);
}

/** Images that are due, and whose removal failed in an earlier pass. */
function postponedFailure(
  { kept, selected }: ImageGcPlan,
  results: RemovalResults,
  now: Date,
): string | undefined {
  // Nothing is due while a large removal waits.
  if (selected?.holdLeftMs !== undefined) return undefined;
  const postponed = kept.filter(({ reason }) => reason === 'RemovalFailed');
  const isDue = isMissing(results) || postponed.some(({ target }) => dueBecause(target, now) !== undefined);
  if (postponed.length === 0 || !isDue) return undefined;
  return `the runtime refuses to remove ${counted(postponed.length, 'image')}; dustpan tries again after a pause`;
}

const isSpaceMissing = ({ missing }: RemovalResults): boolean => missing.bytes > 0 || missing.inodes > 0;
const isMissing = (results: RemovalResults): boolean => isSpaceMissing(results) || results.missing.demand > 0;

/** The kubelet's words for bytes, the same for inodes. */
function freedTexts({ goals }: ImageGcPlan, { freedBytes, freedInodes }: RemovalResults): string {
  const freed = { bytes: `${freedBytes} bytes space`, inodes: `${freedInodes} inodes` };
  return goals.map(({ unit, wanted }) => `${wanted} ${unit}, but freed ${freed[unit]}`).join(', and ');
}

function resultOf({ plan, results, disk }: PassFacts): Outcome {
  if (plan.state === 'Unknown') return ended('Unknown', unknownMessage(plan));
  if (results === undefined) return dryRunResult(plan, disk);
  if (plan.selected?.holdLeftMs !== undefined) return ended('Idle', heldMessage(plan.selected));
  if (results.unknown !== undefined) return ended('Unknown', results.unknown);
  if (isMissed(plan, results)) return shortResult(plan, results, disk);
  const message = results.stopped?.why ?? lastErrorOf(results) ?? uncountedMessage(plan);
  return ended(results.removed.length > 0 ? 'Succeeded' : 'Idle', message);
}

/** A pass that the shutdown ends has missed nothing. */
const isMissed = ({ goals }: ImageGcPlan, results: RemovalResults): boolean =>
  goals.some(({ wanted }) => wanted > 0) && isMissing(results) && results.stopped?.isShutdown !== true;

function unknownMessage({ kept, wantedUnknown }: ImageGcPlan): string | undefined {
  const reasons = new Set(kept.map(({ reason }) => reason).filter((it) => /Unknown$|^ClockUnsure$/.test(it)));
  const texts = [...reasons].map((it) => (it === 'WantedUnknown' ? `${it} (${wantedUnknown})` : it));
  return texts.length === 0 ? undefined : texts.join(', ');
}

function dryRunResult(plan: ImageGcPlan, disk: DiskSpace | undefined): Outcome {
  if (plan.state === 'Short') return ended('Short', dryShortMessage(disk, plan) + onlyText(plan));
  if ([...plan.reclaim.values()].some((result) => result !== 'Enough')) {
    const bytes = bytesOf(plan.removals);
    return ended('Short', demandMessage(plan, { bytes, inodes: plan.inodesOf(bytes) }));
  }
  return ended(plan.removals.length > 0 ? 'Succeeded' : 'Idle', uncountedMessage(plan));
}

const heldMessage = ({ due, unused }: SelectedImages): string =>
  `the removal of ${due} of ${unused} unused images waits: the rules of the policy are new`;

const uncountedMessage = ({ isUncounted }: ImageGcPlan): string | undefined =>
  isUncounted ? 'the image file system reports no inodes: nodes.imageGC.inodes removes no image' : undefined;

function shortResult(plan: ImageGcPlan, results: RemovalResults, disk: DiskSpace | undefined): Outcome {
  const { removed, freedBytes, freedInodes, stopped } = results;
  if (stopped !== undefined) return ended('Short', stopped.why);
  if (removed.length >= plan.maxImages)
    return ended('Short', `maxImagesPerPass is ${plan.maxImages}: more images are due`);
  const freed = { bytes: freedBytes, inodes: freedInodes };
  if (isSpaceMissing(results)) return ended('Short', shortMessage(disk, plan, freed) + onlyText(plan), true);
  return ended('Short', demandMessage(plan, freed));
}

/** The demand of node pressure that removing every unused image would not meet. */
function demandMessage(plan: ImageGcPlan, freed: Readonly<Record<SpaceUnit, number>>): string {
  const sentences = plan.goals
    .flatMap((goal) => {
      const { unit, wanted } = goal;
      const signal = signalOf(goal);
      return signal === undefined
        ? []
        : `Removing unused images frees ${amountText(signal, freed[unit])} of the ${amountText(signal, wanted)} wanted for ${signal}.`;
    })
    .join(' ');
  return sentences + onlyText(plan);
}

/** Names nodes.imageGC.only where it keeps images that could be removed. */
function onlyText({ kept, space }: ImageGcPlan): string {
  const images = kept.filter(({ reason }) => reason === 'NotSelected');
  if (images.length === 0) return '';
  return ` nodes.imageGC.only keeps ${counted(images.length, 'unused image')}, ${sizeText(bytesOnDisk(images, space))} (NotSelected).`;
}

/** What a pass for a demand of node pressure has left; in mode DryRun, what the planned removals would leave. */
export function reclaimResult(
  { plan, results }: Pick<PassFacts, 'plan' | 'results'>,
  signal: DiskSignal,
): ReclaimResult {
  const planned = plan.reclaim.get(signal) ?? 'MoreLeft';
  if (plan.selected?.holdLeftMs !== undefined) return planned;
  if (results === undefined || plan.state === 'Unknown') return planned;
  if (results.missing.demand <= 0) return 'Enough';
  const isOver =
    results.stopped === undefined && results.unknown === undefined && results.removed.length < plan.maxImages;
  return isOver ? afterAll(plan.kept) : 'MoreLeft';
}

function heldImages({ selected }: ImageGcPlan, now: Date): HeldImages | undefined {
  if (selected?.holdLeftMs === undefined) return undefined;
  const { due, unused, holdLeftMs } = selected;
  return { due, unused, until: new Date(now.getTime() + holdLeftMs) };
}

export const removedBy = (results: RemovalResults | undefined): ReadonlySet<string> =>
  new Set(results?.removed.map(({ target }) => target.id));

const maxOffenders = 5;
const maxListed = 64;

/** Sums up the images that are left after a pass. */
export function inventoryOf(
  plan: ImageGcPlan,
  results: RemovalResults | undefined,
  disk: ImageDisk | undefined,
  { now, policy, pins, matched, isSpaceUnknown = false, ...users }: InventoryFacts,
): ImageInventory {
  const { kept, removals, space } = plan;
  const removed = removedBy(results);
  const all = [...kept, ...removals];
  const images = all.filter(({ target }) => !removed.has(target.id));
  const largest = images.toSorted((a, b) => b.target.bytes - a.target.bytes);
  const sizeOf = (some: readonly ImageDecision[]): CountAndBytes => ({
    count: some.length,
    bytes: bytesOnDisk(some, space),
  });
  const sum = (isCounted: (image: ImageDecision) => boolean): CountAndBytes =>
    sizeOf(images.filter(isCounted));
  const sumFreed = (isCounted: (image: ImageDecision) => boolean): CountAndBytes => {
    const some = images.filter(isCounted);
    return { count: some.length, bytes: freedByAll(some, space, removed) };
  };
  const isCollectable = ({ target }: ImageDecision): boolean =>
    !isUsed(target) && target.protectedBy === undefined;
  return {
    total: sizeOf(images),
    inUse: sum(({ target }) => isUsed(target)),
    pinned: sum(({ target }) => target.pinned || target.pinnedFor !== undefined),
    pins,
    wantedUnknown: plan.wantedUnknown,
    kept: sum(isKeptByPolicy),
    removable: sumFreed(({ reason }) => removableReasons.has(reason)),
    collectable: sumFreed(isCollectable),
    others: space?.others,
    pulls: plan.pulls.length === 0 ? undefined : reportedPulls(plan, results),
    unlisted: largest.length > maxListed ? sizeOf(largest.slice(maxListed)) : undefined,
    packed:
      space === undefined ? withoutSpace(isSpaceUnknown) : packedBytes(images, space, removed, isCollectable),
    listed: largest.slice(0, maxListed).map((one) => listedOf(one, space)),
    disk,
    held: heldImages(plan, now),
    removeList: removeProgress(plan.rule?.remove ?? [], all, { ...users, now, removed, matched }),
    unmatched: unmatchedEntries(plan, policy, all),
    offenders: largest.slice(0, maxOffenders).map(({ target: { id, name, bytes }, reason }) => ({
      kind: 'Image',
      id,
      name,
      namespace: undefined,
      bytes,
      reason,
    })),
  };
}

const withoutSpace = (isUnknown: boolean): 'unknown' | 'unsupported' =>
  isUnknown ? 'unknown' : 'unsupported';

/** An image of which the runtime has no bytes has no packed copy. */
function packedBytes(
  images: readonly ImageDecision[],
  space: ImageSpace,
  removed: ReadonlySet<string>,
  isCollectable: (image: ImageDecision) => boolean,
): PackedBytes {
  const [packed, known] = [packedOnly(space), images.filter(({ target }) => space.images.has(target.id))];
  return {
    total: bytesOnDisk(known, packed),
    inUse: bytesOnDisk(
      known.filter(({ target }) => isUsed(target)),
      packed,
    ),
    collectable: freedByAll(known.filter(isCollectable), packed, removed),
  };
}

/** In mode DryRun and during a hold the images that would make room are kept. */
function reportedPulls({ pulls, selected }: ImageGcPlan, results: RemovalResults | undefined) {
  const keepsAll = results === undefined || selected?.holdLeftMs !== undefined;
  return pulls.map((pull) =>
    reportedPull(keepsAll && pull.fit === 'Freeing' ? { ...pull, fit: 'Off' } : pull),
  );
}

/** What uses images: undefined = unknown. */
type ImageUsers = Pick<ImageGcFacts, 'containers' | 'pods'>;

interface InventoryFacts extends ImageUsers {
  readonly now: Date;
  /** The bytes on the disk could not be read. */
  readonly isSpaceUnknown?: boolean;
  readonly policy: NodeGovernance['policy'];
  readonly pins: PinState;
  /** Patterns of nodes.imageGC.remove that matched an image in an earlier pass. */
  readonly matched: ReadonlySet<string>;
}

interface RemoveFacts extends Omit<InventoryFacts, 'policy' | 'pins' | 'isSpaceUnknown'> {
  /** The ids of the images that the pass has removed. */
  readonly removed: ReadonlySet<string>;
}

/** Counts the images that are left of each entry; one that several entries match counts for each. */
function removeProgress(
  entries: readonly RemoveEntry[],
  images: readonly ImageDecision[],
  { now, removed, matched, ...users }: RemoveFacts,
): ImageInventory['removeList'] {
  const active = entries.filter((entry) => !hasEnded(entry, now));
  if (active.length === 0) return undefined;
  const isLeft = ({ target }: ImageDecision): boolean => !removed.has(target.id);
  return active.map(({ image }) => {
    const selectionOf = imageSelection([image]);
    const bySelection = Map.groupBy(images, ({ target }) => selectionOf(target.image).index >= 0);
    const [selected = [], others = []] = [bySelection.get(true), bySelection.get(false)];
    const left = selected.filter(isLeft);
    const inUse = left.filter(({ target }) => isUsed(target)).length;
    const [mayBe, isNamed] = [formerTag(image), referenceMatcher(image)];
    const untagged = others.filter((one) => isLeft(one) && mayBe(one.target.image));
    const usedAs = untagged.filter(({ target }) => referencesOf(target.usedBy, users).some(isNamed));
    return {
      image,
      matched: matched.has(image) || selected.length + usedAs.length > 0,
      inUse: inUse + usedAs.length,
      kept: left.length - inUse,
      untagged: untagged.length - usedAs.length,
    };
  });
}

/** The images that the pod of a container names: one of them is that of the container. */
function referencesOf(id: string | undefined, { containers = [], pods = [] }: ImageUsers): readonly string[] {
  const container = containers.find((one) => one.id === id);
  const uid = container && podUidOf(container);
  return pods.find((pod) => pod.uid === uid || (uid !== undefined && pod.configHash === uid))?.images ?? [];
}

/** Compared with the images before the removals of the pass: what selects them is not misspelt. */
function unmatchedEntries(
  { rule }: ImageGcPlan,
  policy: NodeGovernance['policy'],
  images: readonly ImageDecision[],
): ImageInventory['unmatched'] {
  if (rule === undefined || policy === undefined) return undefined;
  const lists = patternLists(rule);
  const unmatched = unmatchedPatterns(
    rule,
    images.map(({ target }) => target.image),
  );
  const indexesIn = (list: keyof typeof lists): number[] => {
    const patterns = new Set(unmatched[list]);
    return lists[list].flatMap((pattern, index) => (patterns.has(pattern) ? [index] : []));
  };
  const { uid, generation } = policy;
  return {
    policy: { uid, generation },
    keep: indexesIn('keep'),
    only: indexesIn('only'),
    maximumAgeByImage: indexesIn('maximumAgeByImage'),
  };
}

/** Whether the policy protects it, by `keep`, `pinWanted` or `only`. */
const isKeptByPolicy = ({ target: { keepPattern, protectedBy } }: ImageDecision): boolean =>
  keepPattern !== undefined || protectedBy?.reason === 'Wanted' || protectedBy?.reason === 'NotSelected';

const listedOf = ({ target }: ImageDecision, space: ImageGcFacts['space']): ListedImage => {
  const { id, name, bytes, record, protectedBy } = target;
  const inUse = isUsed(target);
  const { unique, packed, inexactBecause } = space?.images.get(id) ?? {};
  return {
    id,
    name,
    bytes,
    uniqueBytes: unique,
    packedBytes: packed,
    inexactBecause,
    inUse,
    isKept: protectedBy !== undefined,
    unusedSince: inUse ? undefined : metaTime(new Date(record.lastUsedMs ?? record.firstDetectedMs)),
  };
};

/** Reasons of images that only the disk usage or a limit keeps. */
const removableReasons: ReadonlySet<string> = new Set<ImageDecision['reason']>([
  ...imageRemoveReasons,
  'BelowThreshold',
  'TargetMet',
  'Holding',
  'PacingLimit',
  'RemovalFailed',
]);
