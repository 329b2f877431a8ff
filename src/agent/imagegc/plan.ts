import type { ImageKeepReason, NodeKeepReason } from '../../api/reasons.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import { spaceStep, usedPercentOf, type SpaceStep } from './disk.ts';
import type {
  Given,
  ImageCandidate,
  ImageGcFacts,
  ImageGcPlan,
  ImageHolds,
  JudgedImage,
  KeptImage,
} from './facts.ts';
import { distinctImages, holdsOf, imageOf } from './holds.ts';
import { recordAt, repulls } from './records.ts';

/**
 * Decides which images go, in which order, and why each of the others stays: the maximum age first, then the space step with upstream's
 * arithmetic and order (upstream.md 2.3, 2.4; DESIGN.md 8).
 */
export function planImageGc(facts: ImageGcFacts, given: Given): ImageGcPlan {
  const judged = judge(facts, given).toSorted(byIdleSince);
  const kept: KeptImage[] = [];
  const eligible: JudgedImage[] = [];
  for (const image of judged) {
    const verdict = verdictOf(image, facts, given);
    if (verdict === undefined) eligible.push(image);
    else kept.push({ ...image, ...verdict });
  }
  const isOld = tooOld(given);
  const aged = eligible.filter(isOld).map((image) => ({ ...image, reason: 'Age' as const }));
  const rest = eligible.filter((image) => !isOld(image));
  return withSpaceStep({ facts, given, aged, rest, kept });
}

/**
 * Asks once more about one image of a plan, with the same `given` and all else read anew: whatever used it since the plan was made keeps it.
 * undefined = it may go.
 */
export function recheckImage(
  id: string,
  facts: ImageGcFacts,
  given: Given,
): ImageKeepReason | 'Gone' | undefined {
  const fresh = judge(facts, given, (image) => image.id === id)[0];
  return fresh === undefined ? 'Gone' : verdictOf(fresh, facts, given)?.reason;
}

/** Nothing may be touched on this node: every image stays, for one reason. */
export function keepAllImages(
  facts: ImageGcFacts,
  { reason, now }: { readonly reason: NodeKeepReason; readonly now: Date },
): ImageGcPlan {
  const kept = judge(facts, { policy: undefined, now }).map((image) => ({
    ...image,
    reason,
    eligibleAtMs: undefined,
  }));
  return {
    ...{ state: 'Idle', usedPercent: usedPercentOf(facts.disk), wantedBytes: 0, plannedBytes: 0 },
    ...{ maxImages: 0, candidates: [], removals: [], kept },
  };
}

/** Gathers what each verdict rests on. */
function judge(
  facts: ImageGcFacts,
  { policy, now }: { readonly policy: Given['policy'] | undefined; readonly now: Date },
  isAsked: (image: RuntimeImage) => boolean = () => true,
): readonly JudgedImage[] {
  const images = distinctImages(facts.listed);
  const holds = holdsOf(images, facts, policy?.keep ?? []);
  const isRepulled = repulls(facts.removed);
  const minimumAgeMs = policy?.minimumAgeMs ?? 0;
  return images.filter(isAsked).map((image) => {
    const record = recordAt(facts.images.get(image.id), now);
    const cameBack = isRepulled(image, record);
    const factor = cameBack && policy?.repullBackoff === true ? 2 : 1;
    return {
      ...{ image, record, holds: holds(image) },
      ...{ minimumAgeMs: minimumAgeMs * factor, isRepulled: cameBack },
    };
  });
}

type Verdict = Pick<KeptImage, 'reason' | 'eligibleAtMs'>;
const because = (reason: ImageKeepReason, eligibleAtMs?: number): Verdict => ({ reason, eligibleAtMs });

/** Why an image stays whatever the disk needs; undefined = it may go. */
function verdictOf(
  { record, holds, minimumAgeMs }: JudgedImage,
  facts: ImageGcFacts,
  { now }: Given,
): Verdict | undefined {
  const reason = holdReason(holds) ?? unknownReason(facts);
  if (reason !== undefined) return because(reason);
  const oldEnoughAtMs = record.firstDetectedMs + minimumAgeMs;
  if (now.getTime() < oldEnoughAtMs) return because('TooYoung', oldEnoughAtMs);
  if (record.lastUsedMs !== undefined && record.lastUsedMs >= now.getTime()) return because('UsedRecently');
  return undefined;
}

/** The first of the reasons that keep an image whatever the disk says. */
function holdReason({ usedBy, boundPod, pinned, keepPattern }: ImageHolds): ImageKeepReason | undefined {
  if (usedBy !== undefined) return 'InUse';
  if (boundPod !== undefined) return 'BoundPod';
  if (pinned) return 'Pinned';
  return keepPattern === undefined ? undefined : 'KeepListed';
}

/** Why no image at all can be decided about. */
function unknownReason({
  containers,
  pods,
  clockUnsure,
}: Pick<ImageGcFacts, 'containers' | 'pods' | 'clockUnsure'>): ImageKeepReason | undefined {
  // A container whose image nobody tells may be using any of them.
  if (containers === undefined || containers.some((container) => imageOf(container) === ''))
    return 'ContainersUnknown';
  if (pods === undefined) return 'PodsUnknown';
  return clockUnsure === true ? 'ClockUnsure' : undefined;
}

/** Since when nothing has used it, Unix milliseconds. */
const idleSinceMs = ({ record }: JudgedImage): number => record.lastUsedMs ?? record.firstDetectedMs;

function tooOld({ policy: { maximumAgeMs = Infinity }, now }: Given): (image: JudgedImage) => boolean {
  return (image) => now.getTime() - idleSinceMs(image) > maximumAgeMs;
}

/** Upstream's order: never used first, then last used, then first detected; by id where that is equal, so that a plan can be told twice. */
function byIdleSince(a: JudgedImage, b: JudgedImage): number {
  return (
    compare(a.record.lastUsedMs ?? -1, b.record.lastUsedMs ?? -1) ||
    compare(a.record.firstDetectedMs, b.record.firstDetectedMs) ||
    (a.image.id < b.image.id ? -1 : 1)
  );
}

const compare = (a: number, b: number): number => a - b;

interface Sorted {
  readonly facts: ImageGcFacts;
  readonly given: Given;
  readonly aged: readonly ImageCandidate[];
  readonly rest: readonly JudgedImage[];
  readonly kept: readonly KeptImage[];
}

function withSpaceStep({ facts, given, aged, rest, kept }: Sorted): ImageGcPlan {
  const { maximumAgeMs, maxImagesPerPass: maxImages = Infinity } = given.policy;
  const agedNow = aged.slice(0, maxImages);
  const space = spaceStep(facts.disk, given.policy, bytesOf(agedNow));
  const unused = rest.map((image): ImageCandidate => ({ ...image, reason: 'Space' }));
  const wanted = space.kind === 'needed' ? untilEnough(unused, space.wantedBytes) : [];
  const spaceNow = wanted.slice(0, maxImages - agedNow.length);
  const later = (reason: ImageKeepReason) => (image: JudgedImage) => ({
    ...image,
    ...because(reason, maximumAgeMs === undefined ? undefined : idleSinceMs(image) + maximumAgeMs),
  });
  const idleReason = space.kind === 'needed' ? 'TargetMet' : space.reason;
  return {
    ...summary(facts, space, spaceNow),
    maxImages,
    candidates: [...aged, ...(space.kind === 'needed' ? unused : [])],
    removals: [...agedNow, ...spaceNow],
    kept: [
      ...kept,
      ...aged.slice(agedNow.length).map((image) => ({ ...image, ...because('PacingLimit') })),
      ...wanted.slice(spaceNow.length).map(later('PacingLimit')),
      ...unused.slice(wanted.length).map(later(idleReason)),
    ],
  };
}

function summary(
  facts: ImageGcFacts,
  space: SpaceStep,
  removals: readonly ImageCandidate[],
): Pick<ImageGcPlan, 'state' | 'usedPercent' | 'wantedBytes' | 'plannedBytes'> {
  const plannedBytes = bytesOf(removals);
  const wantedBytes = space.kind === 'needed' ? space.wantedBytes : 0;
  const shortOrFree = plannedBytes < wantedBytes || removals.length === 0 ? 'Short' : 'Free';
  const state = space.kind === 'needed' ? shortOrFree : space.state;
  return {
    state: unknownReason(facts) === undefined ? state : 'Unknown',
    usedPercent: usedPercentOf(facts.disk),
    wantedBytes,
    plannedBytes,
  };
}

/** As many from the front as it takes, at least one: upstream looks at the sum after a removal. */
function untilEnough(candidates: readonly ImageCandidate[], wantedBytes: number): readonly ImageCandidate[] {
  let sum = 0;
  const last = candidates.findIndex(({ image }) => (sum += image.sizeBytes) >= wantedBytes);
  return last < 0 ? candidates : candidates.slice(0, last + 1);
}

const bytesOf = (images: readonly JudgedImage[]): number =>
  images.reduce((sum, { image }) => sum + image.sizeBytes, 0);
