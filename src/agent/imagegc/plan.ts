import { isDiskSignal, type DiskSignal } from '../../api/node-pressure.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { isInvalid, type ImageGcPolicy, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import type { ImageKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { ImageEvidence, ImageReason } from '../../gc/reasons/images.ts';
import type { SpaceEvidence } from '../../gc/reasons/space-words.ts';
import { inodeEstimate, spaceNeed, usedPercentIn, type SpaceNeed } from './disk.ts';
import {
  bytesOf,
  type Given,
  type ImageDecision,
  type ImageGcFacts,
  type ImageGcPlan,
  type ImageRemoval,
  type JudgedImage,
} from './facts.ts';
import { dueByAge, maximumAges, oldAtMs } from './ages.ts';
import { distinctImages, holdsOf, imageOf } from './holds.ts';
import { recordAt, repulls } from './records.ts';

/**
 * Decides which images to remove, in which order, and why to keep each of the others: first by the maximum age, then for space, with the
 * arithmetic and the order of the kubelet (pkg/kubelet/images/image_gc_manager.go).
 */
export function planImageGc(facts: ImageGcFacts, { governance, now, pressure }: Given): ImageGcPlan {
  const governed = nodeRule(governance, 'imageGC');
  if (governed.kind === 'keep') return keepAll(facts, governed, now);
  const { policy, rule } = governed;
  const kept: ImageDecision[] = [];
  const eligible: JudgedImage[] = [];
  for (const image of imageFacts(facts, rule, now).toSorted(byIdleSince)) {
    const because = keptBecause(image, facts, { rule, now });
    if (because === undefined) eligible.push(image);
    else kept.push(decide(image, because, policy));
  }
  return withSteps({ facts, policy, rule, now, pressure }, eligible, kept);
}

interface PlanContext {
  readonly rule: ImageGcPolicy;
  readonly now: Date;
}

/** Judges one image by newer facts; undefined = it may be removed. `now` is the plan's: a use since then is not before it (`UsedRecently`). */
export function recheckImage(
  id: string,
  facts: ImageGcFacts,
  context: PlanContext,
): ImageKeepReason | 'Gone' | undefined {
  const [fresh] = imageFacts(facts, context.rule, context.now, id);
  return fresh === undefined ? 'Gone' : keptBecause(fresh, facts, context)?.reason;
}

interface Because<R extends ImageReason> {
  readonly reason: R;
  readonly evidence: ImageEvidence[R];
  /** Unix milliseconds; set if the image only waits for time to pass. */
  readonly eligibleAtMs?: number | undefined;
}

const isRemoval = (reason: ImageReason): boolean =>
  reason === 'Age' || reason === 'Space' || isDiskSignal(reason);

const decide = <R extends ImageReason>(
  target: JudgedImage,
  { reason, evidence, eligibleAtMs }: Because<R>,
  policy: Policy | InvalidPolicy | undefined,
): ImageDecision<R> => ({
  unit: isDiskSignal(reason) ? 'nodepressure' : 'imagegc',
  ...{ verdict: isRemoval(reason) ? 'Remove' : 'Keep', target, reason, policy, evidence },
  eligibleAt: eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs),
  bytes: target.image.sizeBytes,
});

/** Keeps every image for one reason: no rule allows removals on this node. */
function keepAll(
  facts: ImageGcFacts,
  { reason, policy }: Extract<NodeRule<ImageGcPolicy>, { kind: 'keep' }>,
  now: Date,
): ImageGcPlan {
  const invalid = policy !== undefined && isInvalid(policy) ? policy : undefined;
  const evidence = reason === 'InvalidPolicy' ? { invalid } : undefined;
  return {
    ...{ state: 'Idle', crossed: [], ...usageOf(facts), isUncounted: false, inodesOf: () => 0 },
    ...{ wantedBytes: 0, plannedBytes: 0, wantedInodes: 0, plannedInodes: 0 },
    ...{ maxImages: 0, candidates: [], removals: [] },
    kept: imageFacts(facts, undefined, now).map((image) => decide(image, { reason, evidence }, policy)),
  };
}

const usageOf = ({ disk }: ImageGcFacts): Pick<ImageGcPlan, 'usedPercent' | 'usedInodesPercent'> => ({
  usedPercent: usedPercentIn('bytes', disk),
  usedInodesPercent: usedPercentIn('inodes', disk),
});

/** Collects the facts that decide about each image, or about the one with this id. */
function imageFacts(
  facts: ImageGcFacts,
  rule: ImageGcPolicy | undefined,
  now: Date,
  id?: string,
): readonly JudgedImage[] {
  const images = distinctImages(facts.listed);
  const holds = holdsOf(images, facts, rule?.keep ?? []);
  const isRepulled = repulls(facts.removed);
  const maximumAge = maximumAges(rule);
  const chosen = id === undefined ? images : images.filter((image) => image.id === id);
  return chosen.map((image) => {
    const record = recordAt(facts.images.get(image.id), now);
    const factor = isRepulled(image, record) && rule?.repullBackoff === true ? 2 : 1;
    return {
      ...{ kind: 'Image', id: image.id, name: image.tags[0] ?? image.digests[0] },
      ...{ image, record, holds: holds(image), minimumAgeMs: (rule?.minimumAgeMs ?? 0) * factor },
      ...maximumAge(image),
    };
  });
}

/** Why the image is kept at any disk usage; undefined = it may be removed. */
function keptBecause(
  image: JudgedImage,
  facts: ImageGcFacts,
  { rule, now }: PlanContext,
): Because<ImageKeepReason> | undefined {
  const because = heldBecause(image, facts, rule) ?? unknownBecause(facts);
  if (because !== undefined) return because;
  const { record, minimumAgeMs } = image;
  const { firstDetectedMs, lastUsedMs } = record;
  const oldEnoughAtMs = firstDetectedMs + minimumAgeMs;
  if (now.getTime() < oldEnoughAtMs) {
    const evidence = { firstDetectedMs, minimumAgeMs, policyMinimumAgeMs: rule.minimumAgeMs };
    return { reason: 'TooYoung', evidence, eligibleAtMs: oldEnoughAtMs };
  }
  if (lastUsedMs !== undefined && lastUsedMs >= now.getTime()) return bare('UsedRecently');
  return undefined;
}

type Bare = 'UsedRecently' | 'ContainersUnknown' | 'PodsUnknown' | 'ClockUnsure';
const bare = (reason: Bare): Because<Bare> => ({ reason, evidence: undefined });

function heldBecause(
  { image, holds }: JudgedImage,
  { containers = [] }: ImageGcFacts,
  { keep }: ImageGcPolicy,
): Because<'InUse' | 'BoundPod' | 'Pinned' | 'KeepListed'> | undefined {
  const { usedBy, boundPod, pinned, keepPattern } = holds;
  if (usedBy !== undefined) return { reason: 'InUse', evidence: userOf(usedBy, image, containers) };
  if (boundPod !== undefined) return { reason: 'BoundPod', evidence: boundPod };
  if (pinned) return { reason: 'Pinned', evidence: { isByRuntime: image.pinned } };
  if (keepPattern === undefined) return undefined;
  return { reason: 'KeepListed', evidence: { pattern: keepPattern, index: keep.indexOf(keepPattern) } };
}

function userOf(
  id: string,
  image: RuntimeImage,
  containers: readonly RuntimeContainer[],
): ImageEvidence['InUse'] {
  const user = containers.find((container) => container.id === id);
  if (user === undefined) return { container: undefined };
  const isSure = user.imageId !== '' || image.digests.length > 0 || user.imageRef === image.id;
  return { container: { isSure, name: user.name || id, pod: podRefOf(user), state: user.state } };
}

/** Why no image can be removed: facts are missing. */
function unknownBecause({ containers, pods, clockUnsure }: ImageGcFacts): Because<Bare> | undefined {
  // A container whose image is unknown may use any image.
  if (containers === undefined || containers.some((container) => imageOf(container) === ''))
    return bare('ContainersUnknown');
  if (pods === undefined) return bare('PodsUnknown');
  return clockUnsure === true ? bare('ClockUnsure') : undefined;
}

/** The kubelet's order: never used, then by last use, then by first detection; then by id, so that every plan has the same order. */
function byIdleSince(a: JudgedImage, b: JudgedImage): number {
  return (
    (a.record.lastUsedMs ?? -1) - (b.record.lastUsedMs ?? -1) ||
    a.record.firstDetectedMs - b.record.firstDetectedMs ||
    (a.id < b.id ? -1 : 1)
  );
}

interface Steps extends PlanContext {
  readonly facts: ImageGcFacts;
  readonly policy: Policy;
  readonly pressure: DiskSignal | undefined;
}

/** Decides about the images that nothing holds: removals by age, then for space. */
function withSteps(
  { facts, policy, rule, now, pressure }: Steps,
  eligible: readonly JudgedImage[],
  kept: readonly ImageDecision[],
): ImageGcPlan {
  const { maxImagesPerPass: maxImages = Infinity } = rule;
  const isOld = (image: JudgedImage): boolean => now.getTime() > (oldAtMs(image) ?? Infinity);
  const old = eligible.filter(isOld);
  const aged = old.map((image) => decide(image, agedBecause(image), policy));
  const agedNow = aged.slice(0, maxImages);
  const inodesOf = inodeEstimate(facts.disk, imageBytes(facts));
  const freedByAge = bytesOf(agedNow);
  const need = spaceNeed(facts.disk, rule, { bytes: freedByAge, inodes: inodesOf(freedByAge) });
  const rest = eligible.filter((image) => !isOld(image));
  const space = spaceEvidence(facts, rule, need);
  const forSpace = rest.map((image, i) => {
    const place = agedNow.length + i + 1;
    const evidence = { ...image.record, ...space, place, hasAged: agedNow.length > 0 };
    return decide(image, { reason: pressure ?? 'Space', evidence }, policy);
  });
  const isNeeded = need.crossed.length > 0;
  const needed = isNeeded ? untilEnough(forSpace, need.wanted, inodesOf) : [];
  const spaceNow = needed.slice(0, maxImages - agedNow.length);
  const keptUntilOld = (because: (image: JudgedImage) => Because<ImageKeepReason>) => (image: JudgedImage) =>
    decide(image, { ...because(image), eligibleAtMs: oldAtMs(image) }, policy);
  const paced = { reason: 'PacingLimit', evidence: { maxImagesPerPass: maxImages } } as const;
  return {
    ...summary(facts, need, { removals: spaceNow, inodesOf }),
    maxImages,
    candidates: [...aged, ...(isNeeded ? forSpace : [])],
    removals: [...agedNow, ...spaceNow],
    kept: [
      ...(isNeeded ? kept : kept.map((one) => ({ ...one, eligibleAt: dueByAge(one) }))),
      ...old.slice(agedNow.length).map((image) => decide(image, paced, policy)),
      ...rest.slice(spaceNow.length, needed.length).map(keptUntilOld(() => paced)),
      ...rest
        .slice(needed.length)
        .map(keptUntilOld(({ ageEntry }) => idleBecause(need, { ...space, ageEntry }))),
    ],
  };
}

const agedBecause = ({ record, ageEntry, maximumAgeMs = Infinity }: JudgedImage): Because<'Age'> => ({
  reason: 'Age',
  evidence: { ...record, maximumAgeMs, ageEntry },
});

/** Bytes of all images, each once. */
const imageBytes = ({ listed }: ImageGcFacts): number =>
  distinctImages(listed).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** The usage, the thresholds and the target that the sentences about the space step need. */
function spaceEvidence(
  facts: ImageGcFacts,
  rule: ImageGcPolicy,
  { crossed, wanted }: SpaceNeed,
): SpaceEvidence {
  const { highThresholdPercent, lowThresholdPercent, inodes } = rule;
  const { usedPercent, usedInodesPercent } = usageOf(facts);
  return {
    ...{ usedPercent, highThresholdPercent, lowThresholdPercent, crossed },
    inodes: inodes && { usedPercent: usedInodesPercent, ...inodes },
    ...{ wantedBytes: wanted.bytes, wantedInodes: wanted.inodes },
  };
}

/** Why removable images are kept: the disk does not need the space. */
function idleBecause(
  { crossed, reason: idle }: SpaceNeed,
  evidence: ImageEvidence['TargetMet'],
): Because<'TargetMet' | 'BelowThreshold' | 'DiskUnknown'> {
  const reason = crossed.length > 0 ? 'TargetMet' : idle;
  return reason === 'DiskUnknown' ? { reason, evidence: undefined } : { reason, evidence };
}

interface Removing {
  readonly removals: readonly ImageRemoval[];
  readonly inodesOf: ImageGcPlan['inodesOf'];
}

function summary(
  facts: ImageGcFacts,
  { crossed, wanted, state: idleState, isUncounted }: SpaceNeed,
  { removals, inodesOf }: Removing,
): Omit<ImageGcPlan, 'maxImages' | 'candidates' | 'removals' | 'kept'> {
  const plannedBytes = bytesOf(removals);
  const plannedInodes = inodesOf(plannedBytes);
  const isShort = plannedBytes < wanted.bytes || plannedInodes < wanted.inodes || removals.length === 0;
  const state = crossed.length === 0 ? idleState : isShort ? 'Short' : 'Free';
  return {
    state: unknownBecause(facts) === undefined ? state : 'Unknown',
    ...{ crossed, ...usageOf(facts), isUncounted, inodesOf },
    ...{ wantedBytes: wanted.bytes, plannedBytes, wantedInodes: wanted.inodes, plannedInodes },
  };
}

/** The first candidates that free enough, at least one: the kubelet compares the sum after a removal. */
function untilEnough(
  candidates: readonly ImageRemoval[],
  wanted: SpaceNeed['wanted'],
  inodesOf: ImageGcPlan['inodesOf'],
): readonly ImageRemoval[] {
  let sum = 0;
  const last = candidates.findIndex(({ bytes = 0 }) => {
    sum += bytes;
    return sum >= wanted.bytes && inodesOf(sum) >= wanted.inodes;
  });
  return last < 0 ? candidates : candidates.slice(0, last + 1);
}
