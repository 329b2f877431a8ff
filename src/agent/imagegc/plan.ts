import { isInodes, type DiskSignal } from '../../api/node-pressure.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { failedLast } from '../../gc/failures.ts';
import { holdLeftMs, inForceForMs } from '../../gc/hold.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';
import type { ImageKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import { inodeEstimate, spaceNeed, usageOf, type ByUnit, type SpaceNeed } from './disk.ts';
import {
  bytesOf,
  keep,
  remove,
  type Given,
  type Goal,
  type Governed,
  type ImageDecision,
  type ImageGcFacts,
  type ImageGcPlan,
  type ImageHolds,
  type ImageKept,
  type ImageRemoval,
  type JudgedImage,
  type KeptImage,
} from './facts.ts';
import { dueByAge, isOldAt, maximumAges, oldAtMs } from './ages.ts';
import { distinctImages, holdsOf, imageOf, requestsAt } from './holds.ts';
import { recordAt, repulls } from './records.ts';
import { freedInOrder } from './space.ts';
import type { DiskDemand, ReclaimResult } from '../nodepressure/facts.ts';

/**
 * Decides which images to remove, in which order, and why to keep each of the others: first those on the remove list, then by the maximum age, then
 * for space, with the arithmetic and the order of the kubelet (pkg/kubelet/images/image_gc_manager.go), then for node pressure, in the same order.
 */
export function planImageGc(facts: ImageGcFacts, { governance, now, demands = [] }: Given): ImageGcPlan {
  const governed = nodeRule(governance, 'imageGC');
  if (governed.kind === 'keep') return keepAll(facts, governed, { now, demands });
  const { policy, rule } = governed;
  const kept: KeptImage[] = [];
  const removable: JudgedImage[] = [];
  const hasFailed = ({ id }: JudgedImage): boolean => facts.failedBefore?.has(id) === true;
  for (const image of failedLast(imageFacts(facts, rule, now).toSorted(byIdleSince), hasFailed)) {
    const why = keptBecause(image, facts, { rule, now });
    if (why === undefined) removable.push(image);
    else kept.push(keep(image, why, policy));
  }
  const given = { policy, rule, now, demands };
  return unlessHeld(planRemovals(facts, given, { removable, kept }), removable.length, facts, given);
}

/**
 * Keeps the selected images while a large removal by new rules waits; `unused`: the number of images that nothing but the disk usage, their
 * age or a limit keeps. Node pressure waits too, unless the kubelet would act before the end: it removes every unused image, and evicts (ADR 91).
 */
function unlessHeld(
  plan: ImageGcPlan,
  unused: number,
  facts: ImageGcFacts,
  { policy, rule, now, demands }: Governed,
): ImageGcPlan {
  const paced = plan.kept.filter(isPaced);
  const due = plan.removals.length + paced.length;
  const since = inForceForMs(policy, facts.inForce, now);
  const removal = { due, governed: unused, removable: unused, inForceForMs: since };
  const leftMs = holdLeftMs(policy, rule.hold, removal);
  const isUrgent = demands.some(({ kubeletInMs = Infinity }) => kubeletInMs <= (leftMs ?? 0));
  if (leftMs === undefined || isUrgent) return { ...plan, selected: { due, unused, holdLeftMs: undefined } };
  const why = { reason: 'Holding', eligibleAtMs: now.getTime() + leftMs } as const;
  const held = [...plan.removals, ...paced].map(({ target }) => keep(target, why, policy));
  return {
    ...plan,
    selected: { due, unused, holdLeftMs: leftMs },
    candidates: [],
    removals: [],
    reclaim: new Map([...plan.reclaim.keys()].map((signal) => [signal, 'MoreLeft'])),
    kept: [...held, ...plan.kept.filter((one) => !isPaced(one))],
  };
}

const isPaced = ({ reason }: ImageDecision): boolean => reason === 'PacingLimit';

interface Judged {
  readonly removable: readonly JudgedImage[];
  readonly kept: readonly KeptImage[];
}

/** Decides about the images that nothing holds: removals at any disk usage (on the remove list, then by age), then for space, then for node pressure. */
function planRemovals(
  facts: ImageGcFacts,
  { policy, rule, now, demands }: Governed,
  { removable, kept }: Judged,
): ImageGcPlan {
  const { maxImagesPerPass: maxImages = Infinity } = rule;
  const inodesOf = inodeEstimate(facts.disk, imageBytes(facts));
  const byReason = Map.groupBy(removable, (image) => dueBecause(image, now));
  const rest = byReason.get(undefined) ?? [];
  const order = [...dueReasons, undefined].flatMap((reason) => byReason.get(reason) ?? []);
  const freedBy = bytesFreed(order, facts);
  const due = dueReasons.flatMap((reason) =>
    (byReason.get(reason) ?? []).map((image) => remove(image, freedBy(image), reason, policy)),
  );
  const dueNow = due.slice(0, maxImages);
  const freed = amountsOf(bytesOf(dueNow), inodesOf);
  const need = spaceNeed(facts.disk, rule, freed);
  const goals = [...spaceGoals(need), ...demandGoals(demands, freed)];
  const needed = untilEnough(rest.map(freedBy), goals, inodesOf);
  const others = rest.map((image, i) => {
    const { reason } = needed[i] ?? goals.at(-1) ?? { reason: 'Space' };
    return remove(image, freedBy(image), reason, policy);
  });
  const othersNow = others.slice(0, Math.min(needed.length, maxImages - dueNow.length));
  const removals = [...dueNow, ...othersNow];
  const isUnknown = unknownBecause(facts) !== undefined;
  const isPaced = removals.length < due.length + needed.length;
  const keepUntilOld = (image: JudgedImage, reason: 'PacingLimit' | SpaceNeed['reason']): KeptImage =>
    keep(image, { reason, eligibleAtMs: oldAtMs(image) }, policy);
  return {
    rule,
    ...usageOf(facts.disk),
    ...spaceStep(
      need,
      othersNow.filter(({ reason }) => reason === 'Space'),
      inodesOf,
    ),
    ...(isUnknown && { state: 'Unknown' }),
    inodesOf,
    goals,
    maxImages,
    removals,
    reclaim: reclaimOf(demands, amountsOf(bytesOf(removals), inodesOf), {
      kept,
      hasMoreLeft: isPaced || isUnknown,
    }),
    candidates: [...due, ...(goals.length > 0 ? others : [])],
    kept: [
      ...(goals.length > 0
        ? kept
        : kept.map((one) => (isRequested(one.target) ? one : { ...one, eligibleAt: dueByAge(one) }))),
      ...due.slice(dueNow.length).map(({ target }) => keep(target, { reason: 'PacingLimit' }, policy)),
      ...rest.slice(othersNow.length, needed.length).map((image) => keepUntilOld(image, 'PacingLimit')),
      ...rest
        .slice(needed.length)
        .map((image) => keepUntilOld(image, goals.length > 0 ? 'TargetMet' : need.reason)),
    ],
  };
}

/** Reasons to remove an image at any disk usage, in the order of removal. */
const dueReasons = ['RemoveListed', 'Age'] as const;

/** Why an image that nothing keeps is removed at any disk usage; undefined = it is not. */
export function dueBecause(image: JudgedImage, now: Date): (typeof dueReasons)[number] | undefined {
  if (isRequested(image)) return 'RemoveListed';
  return isOldAt(image, now) ? 'Age' : undefined;
}

const imageBytes = ({ listed, space }: Pick<ImageGcFacts, 'listed' | 'space'>): number =>
  space === undefined
    ? distinctImages(listed).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    : space.shares.reduce((sum, { bytes }) => sum + bytes, 0);

/** What the removal of each image frees if they are removed in this order. */
function bytesFreed(
  order: readonly JudgedImage[],
  { space }: Pick<ImageGcFacts, 'space'>,
): (image: JudgedImage) => number {
  if (space === undefined) return ({ bytes }) => bytes;
  const freed = freedInOrder(
    space.shares,
    order.map(({ id }) => id),
  );
  return ({ id, bytes }) => (space.images.has(id) ? (freed.get(id) ?? 0) : bytes);
}

const amountsOf = (bytes: number, inodesOf: ImageGcPlan['inodesOf']): ByUnit => ({
  bytes,
  inodes: inodesOf(bytes),
});

const spaceGoals = ({ crossed, wanted }: SpaceNeed): readonly Goal[] =>
  crossed.map((unit) => ({ reason: 'Space', unit, wanted: wanted[unit], threshold: '' }));

const unitOf = ({ signal }: DiskDemand): Goal['unit'] => (isInodes(signal) ? 'inodes' : 'bytes');

const demandGoals = (demands: readonly DiskDemand[], freedByAge: ByUnit): readonly Goal[] =>
  demands.map((demand) => {
    const { signal: reason, threshold, wanted } = demand;
    const unit = unitOf(demand);
    return { reason, threshold, unit, wanted: Math.max(0, wanted - freedByAge[unit]) };
  });

/** The goal that each of the first images is removed for, until all are met; the space step removes at least one: the kubelet compares the sum after a removal. */
function untilEnough(
  freedByEach: readonly number[],
  goals: readonly Goal[],
  inodesOf: ImageGcPlan['inodesOf'],
): readonly Goal[] {
  const needed: Goal[] = [];
  let sum = 0;
  for (const bytes of freedByEach) {
    const freed = amountsOf(sum, inodesOf);
    const goal = goals.find(
      ({ reason, unit, wanted }) => freed[unit] < wanted || (reason === 'Space' && needed.length === 0),
    );
    if (goal === undefined) break;
    needed.push(goal);
    sum += bytes;
  }
  return needed;
}

/** What the removals leave of each demand. */
const reclaimOf = (
  demands: readonly DiskDemand[],
  freed: ByUnit,
  { kept, hasMoreLeft }: { readonly kept: readonly KeptImage[]; readonly hasMoreLeft: boolean },
): ImageGcPlan['reclaim'] =>
  new Map(
    demands.map((demand): [DiskSignal, ReclaimResult] => {
      if (freed[unitOf(demand)] >= demand.wanted) return [demand.signal, 'Enough'];
      return [demand.signal, hasMoreLeft ? 'MoreLeft' : afterAll(kept)];
    }),
  );

/** What is left when nothing more can be removed. */
export const afterAll = (kept: readonly Pick<KeptImage, 'reason'>[]): 'Ungoverned' | 'Exhausted' =>
  kept.some(({ reason }) => reason === 'NotSelected') ? 'Ungoverned' : 'Exhausted';

/** The space step, with the images that it removes. */
function spaceStep(
  { crossed, wanted, state: idleState, isUncounted }: SpaceNeed,
  removals: readonly ImageRemoval[],
  inodesOf: ImageGcPlan['inodesOf'],
) {
  const plannedBytes = bytesOf(removals);
  const plannedInodes = inodesOf(plannedBytes);
  const isShort = plannedBytes < wanted.bytes || plannedInodes < wanted.inodes || removals.length === 0;
  const state = crossed.length === 0 ? idleState : isShort ? 'Short' : 'Free';
  return {
    state,
    crossed,
    isUncounted,
    wantedBytes: wanted.bytes,
    plannedBytes,
    wantedInodes: wanted.inodes,
    plannedInodes,
  } as const;
}

type PlanContext = Pick<Governed, 'rule' | 'now'>;

/** Judges the image of a removal by newer facts; undefined = it may be removed. `now` is the plan's: a use since then is not before it (`UsedRecently`). */
export function recheckImage(
  { target: { id }, reason }: Pick<ImageRemoval, 'target' | 'reason'>,
  facts: ImageGcFacts,
  context: PlanContext,
): ImageKeepReason | 'Gone' | undefined {
  const [fresh] = imageFacts(facts, context.rule, context.now, id);
  if (fresh === undefined) return 'Gone';
  const why = keptBecause(fresh, facts, context);
  // It has another name now.
  return why === undefined && reason === 'RemoveListed' && !isRequested(fresh) ? 'NotSelected' : why?.reason;
}

/** Keeps every image for one reason: no rule allows removals on this node. */
function keepAll(
  facts: ImageGcFacts,
  { reason, policy }: Extract<NodeRule<ImageGcPolicy>, { kind: 'keep' }>,
  { now, demands }: Pick<Governed, 'now' | 'demands'>,
): ImageGcPlan {
  const images = imageFacts(facts, undefined, now);
  const isHeld = (image: JudgedImage): boolean => heldBecause(image, facts) !== undefined;
  const afterNone = images.every(isHeld) ? 'Exhausted' : 'Ungoverned';
  const left = unknownBecause(facts) === undefined ? afterNone : 'MoreLeft';
  return {
    rule: undefined,
    state: reason === 'NodeUnknown' ? 'Unknown' : 'Idle',
    crossed: [],
    ...usageOf(facts.disk),
    isUncounted: false,
    inodesOf: () => 0,
    wantedBytes: 0,
    plannedBytes: 0,
    wantedInodes: 0,
    plannedInodes: 0,
    maxImages: 0,
    candidates: [],
    removals: [],
    goals: [],
    reclaim: new Map(demands.map(({ signal }) => [signal, left])),
    kept: images.map((image) => keep(image, { reason }, policy)),
  };
}

/** Collects the facts that decide about each image, or about the one with this id. */
function imageFacts(
  facts: ImageGcFacts,
  rule: ImageGcPolicy | undefined,
  now: Date,
  id?: string,
): readonly JudgedImage[] {
  const images = distinctImages(facts.listed);
  const holds = holdsOf(images, facts, rule);
  const requestOf = requestsAt(rule?.remove ?? [], now);
  const isRepulled = repulls(facts.removed);
  const maximumAge = maximumAges(rule);
  const chosen = id === undefined ? images : images.filter((image) => image.id === id);
  return chosen.map((image) => {
    const record = recordAt(facts.images.get(image.id), now);
    const held = holds(image);
    const requested = requestOf(image);
    const factor = isRepulled(image, record) && rule?.repullBackoff === true ? 2 : 1;
    return {
      kind: 'Image',
      id: image.id,
      name: image.tags[0] ?? image.digests[0],
      image,
      bytes: bytesOnDisk(image, facts),
      record,
      holds: held,
      protectedBy: protectedBecause(held, requested),
      requested,
      minimumAgeMs: (rule?.minimumAgeMs ?? 0) * factor,
      ...maximumAge(image),
    };
  });
}

function bytesOnDisk({ id, sizeBytes }: RuntimeImage, { space }: ImageGcFacts): number {
  const known = space?.images.get(id);
  return known === undefined ? sizeBytes : known.unique + known.shared;
}

/** Whether the policy's remove list selects it: the entries match all of its names. */
const isRequested = ({ requested }: Pick<JudgedImage, 'requested'>): boolean =>
  requested !== undefined && requested.unmatched === undefined;

function protectedBecause(
  { pinned, keepPattern, notSelected }: ImageHolds,
  requested: JudgedImage['requested'],
): ImageKept | undefined {
  if (pinned) return { reason: 'Pinned' };
  if (keepPattern !== undefined) return { reason: 'KeepListed' };
  return notSelected === undefined || isRequested({ requested }) ? undefined : { reason: 'NotSelected' };
}

type KeptUntil = ImageKept & { readonly eligibleAtMs?: number };

/** Why the image is kept at any disk usage; undefined = it may be removed. */
function keptBecause(image: JudgedImage, facts: ImageGcFacts, { now }: PlanContext): KeptUntil | undefined {
  const why = heldBecause(image, facts) ?? unknownBecause(facts);
  if (why !== undefined) return why;
  const { record, minimumAgeMs } = image;
  const oldEnoughAtMs = record.firstDetectedMs + minimumAgeMs;
  if (now.getTime() < oldEnoughAtMs) return { reason: 'TooYoung', eligibleAtMs: oldEnoughAtMs };
  if (record.lastUsedMs !== undefined && record.lastUsedMs >= now.getTime())
    return { reason: 'UsedRecently' };
  return failedBecause(image, facts, now);
}

function failedBecause(
  { id }: JudgedImage,
  { failedBefore }: ImageGcFacts,
  now: Date,
): KeptUntil | undefined {
  const { times = 0, retryInMs = 0 } = failedBefore?.get(id) ?? {};
  return retryInMs <= 0
    ? undefined
    : { reason: 'RemovalFailed', times, eligibleAtMs: now.getTime() + retryInMs };
}

function heldBecause(
  { image, holds, protectedBy }: JudgedImage,
  { containers = [] }: ImageGcFacts,
): ImageKept | undefined {
  const { usedBy, boundPod } = holds;
  if (usedBy !== undefined) return { reason: 'InUse', user: userOf(usedBy, image, containers) };
  return boundPod === undefined ? protectedBy : { reason: 'BoundPod' };
}

function userOf(
  id: string,
  image: RuntimeImage,
  containers: readonly RuntimeContainer[],
): Extract<ImageKept, { reason: 'InUse' }>['user'] {
  const user = containers.find((container) => container.id === id);
  if (user === undefined) return undefined;
  const isSure = user.imageId !== '' || image.digests.length > 0 || user.imageRef === image.id;
  return { name: user.name || id, pod: podRefOf(user), state: user.state, isSure };
}

/** Why no image can be removed: facts are missing. */
function unknownBecause({ containers, pods, clockUnsure }: ImageGcFacts): ImageKept | undefined {
  if (containers === undefined) return { reason: 'ContainersUnknown', container: undefined };
  // A container whose image is unknown may use any image.
  const container = containers.find((one) => imageOf(one) === '');
  if (container !== undefined) return { reason: 'ContainersUnknown', container };
  if (pods === undefined) return { reason: 'PodsUnknown' };
  return clockUnsure === true ? { reason: 'ClockUnsure' } : undefined;
}

/** The kubelet's order: never used, then by last use, then by first detection; then by id, so that every plan has the same order. */
function byIdleSince(a: JudgedImage, b: JudgedImage): number {
  return (
    (a.record.lastUsedMs ?? -1) - (b.record.lastUsedMs ?? -1) ||
    a.record.firstDetectedMs - b.record.firstDetectedMs ||
    (a.id < b.id ? -1 : 1)
  );
}
