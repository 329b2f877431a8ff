import { isInodes, type DiskSignal } from '../../api/node-pressure.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { failedLast } from '../../gc/failures.ts';
import { holdLeftMs, inForceForMs } from '../../gc/hold.ts';
import type { ImageGcPolicy, Policy } from '../../api/policy/policy.ts';
import type { ImageKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import {
  freeForPulls,
  inodeEstimate,
  noNeed,
  spaceNeed,
  usageOf,
  type ByUnit,
  type SpaceNeed,
} from './disk.ts';
import {
  bytesOf,
  keep,
  remove,
  type Given,
  type Goal,
  type ImageGcFacts,
  type ImageGcPlan,
  type ImageUses,
  type KeptBecause,
  type ImageRemoval,
  type JudgedImage,
  type KeptImage,
} from './facts.ts';
import { dueByAge, isOldAt, maximumAges, oldAtMs } from './ages.ts';
import { distinctImages, usesOf, imageOf, requestsAt, wantedUnknown } from './uses.ts';
import { fitPulls, pendingPulls } from './pulls.ts';
import { recordAt, repulls } from './records.ts';
import { sum } from '../../runtime/sum.ts';
import { bytesOfImage, freedInOrder } from './space.ts';
import type { DiskDemand, ReclaimResult } from '../nodepressure/facts.ts';

/** The rule of the node, with the arguments of the plan. */
interface Ruled extends Pick<Given, 'now'> {
  readonly policy: Policy;
  readonly rule: ImageGcPolicy;
  readonly demands: readonly DiskDemand[];
}

/**
 * Decides which images to remove, in which order, and why to keep each of the others: first those on the remove list, then by the maximum age, then
 * for space, with the arithmetic and the order of the kubelet (pkg/kubelet/images/image_gc_manager.go), then for pulls and for node pressure, in the same
 * order.
 */
export function planImageGc(facts: ImageGcFacts, { governance, now, demands = [] }: Given): ImageGcPlan {
  const governed = nodeRule(governance, 'imageGC');
  if (governed.kind === 'keep') return keepAll(facts, governed, { now, demands });
  const { policy, rule } = governed;
  const kept: KeptImage[] = [];
  const removable: JudgedImage[] = [];
  const hasFailed = ({ id }: JudgedImage): boolean => facts.failedBefore?.has(id) === true;
  for (const image of failedLast(imageFacts(facts, rule, now).toSorted(byIdleSince), hasFailed)) {
    const because = keptBecause(image, facts, now);
    if (because === undefined) removable.push(image);
    else kept.push(keep(image, because, policy));
  }
  const ruled = { policy, rule, now, demands };
  return unlessHeld(planRemovals(facts, ruled, { removable, kept }), removable.length, facts, ruled);
}

/**
 * Keeps the selected images while a large removal by new rules waits; `unused`: the number of images that nothing but the disk usage, their
 * age or a limit keeps. Node pressure waits too, unless the kubelet would act before the end: it removes every unused image, and evicts (ADR 91).
 */
function unlessHeld(
  plan: ImageGcPlan,
  unused: number,
  facts: ImageGcFacts,
  { policy, rule, now, demands }: Ruled,
): ImageGcPlan {
  const { paced = [], others = [] } = Object.groupBy(plan.kept, ({ reason }) =>
    reason === 'PacingLimit' ? 'paced' : 'others',
  );
  const due = plan.removals.length + paced.length;
  const since = inForceForMs(policy, facts.inForce, now);
  const removal = { due, governed: unused, removable: unused, inForceForMs: since };
  const leftMs = holdLeftMs(policy, rule.hold, removal);
  const isUrgent = demands.some(({ kubeletInMs = Infinity }) => kubeletInMs <= (leftMs ?? 0));
  if (leftMs === undefined || isUrgent) return { ...plan, selected: { due, unused, holdLeftMs: undefined } };
  const because = { reason: 'Holding', eligibleAtMs: now.getTime() + leftMs } as const;
  const held = [...plan.removals, ...paced].map(({ target }) => keep(target, because, policy));
  return {
    ...plan,
    selected: { due, unused, holdLeftMs: leftMs },
    candidates: [],
    removals: [],
    reclaim: new Map([...plan.reclaim.keys()].map((signal) => [signal, 'MoreLeft'])),
    kept: [...held, ...others],
  };
}

/** Decides about the images that nothing protects: removals at any disk usage (on the remove list, then by age), then for space, then for node pressure. */
function planRemovals(
  facts: ImageGcFacts,
  { policy, rule, now, demands }: Ruled,
  { removable, kept }: { readonly removable: readonly JudgedImage[]; readonly kept: readonly KeptImage[] },
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
  const isUnknown = unknownBecause(facts) !== undefined;
  const headroom = headroomOf(facts, rule, isUnknown ? 'unknown' : sum(order.map(freedBy)));
  const pullGoals = pullGoalsOf(headroom.wantedBytes - freed.bytes);
  const goals = [...spaceGoals(need), ...pullGoals, ...demandGoals(demands, freed)];
  const hasGoals = goals.length > 0;
  const needed = untilEnough(rest.map(freedBy), goals, inodesOf);
  const others = rest.map((image, i) => {
    const { reason } = needed[i] ?? goals.at(-1) ?? { reason: 'Space' };
    return remove(image, freedBy(image), reason, policy);
  });
  const othersNow = others.slice(0, Math.min(needed.length, maxImages - dueNow.length));
  const removals = [...dueNow, ...othersNow];
  const forSpace = othersNow.filter(({ reason }) => reason === 'Space');
  const hasMoreLeft = isUnknown || removals.length < due.length + needed.length;
  return {
    rule,
    space: facts.space,
    wantedUnknown: wantedUnknown(facts.wanted, rule),
    ...usageOf(facts.disk),
    ...spaceStep(need, forSpace, inodesOf),
    ...(isUnknown && { state: 'Unknown' }),
    inodesOf,
    goals,
    pulls: headroom.pulls,
    maxImages,
    removals,
    reclaim: reclaimOf(demands, amountsOf(bytesOf(removals), inodesOf), { kept, hasMoreLeft }),
    candidates: [...due, ...(hasGoals ? others : [])],
    kept: [
      ...kept.map((image) =>
        hasGoals || isRequested(image.target) ? image : { ...image, eligibleAt: dueByAge(image) },
      ),
      ...due.slice(dueNow.length).map(({ target }) => keep(target, { reason: 'PacingLimit' }, policy)),
      ...rest.slice(othersNow.length).map((image, i) => {
        const isNeeded = othersNow.length + i < needed.length;
        const reason = isNeeded ? 'PacingLimit' : hasGoals ? 'TargetMet' : need.reason;
        return keep(image, { reason, eligibleAtMs: oldAtMs(image) }, policy);
      }),
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
  sum(
    space === undefined
      ? distinctImages(listed).map(({ sizeBytes }) => sizeBytes)
      : space.shares.map(({ bytes }) => bytes),
  );

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

const headroomOf = (
  facts: ImageGcFacts,
  rule: ImageGcPolicy,
  freeable: number | 'unknown',
): ReturnType<typeof fitPulls> =>
  fitPulls(pendingPulls(facts), {
    freeBytes: freeForPulls(facts.disk, rule),
    freeableBytes: rule.pullHeadroom ? freeable : 'off',
  });

const pullGoalsOf = (wanted: number): readonly Goal[] =>
  wanted > 0 ? [{ reason: 'PullHeadroom', unit: 'bytes', wanted, threshold: '' }] : [];

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

/** Judges the image of a removal by newer facts; undefined = it may be removed. `now` is the plan's: a use since then is not before it (`UsedRecently`). */
export function recheckImage(
  { target: { id }, reason }: Pick<ImageRemoval, 'target' | 'reason'>,
  facts: ImageGcFacts,
  { rule, now }: Pick<Ruled, 'rule' | 'now'>,
): ImageKeepReason | 'Gone' | undefined {
  const [fresh] = imageFacts(facts, rule, now, id);
  if (fresh === undefined) return 'Gone';
  const because = keptBecause(fresh, facts, now);
  // It has another name now.
  return because === undefined && reason === 'RemoveListed' && !isRequested(fresh)
    ? 'NotSelected'
    : because?.reason;
}

/** Keeps every image for one reason: no rule allows removals on this node. */
function keepAll(
  facts: ImageGcFacts,
  { reason, policy }: Extract<NodeRule<ImageGcPolicy>, { kind: 'keep' }>,
  { now, demands }: Pick<Ruled, 'now' | 'demands'>,
): ImageGcPlan {
  const images = imageFacts(facts, undefined, now);
  const isNeeded = (image: JudgedImage): boolean => isUsed(image) || image.protectedBy !== undefined;
  const afterNone = images.every(isNeeded) ? 'Exhausted' : 'Ungoverned';
  const left = unknownBecause(facts) === undefined ? afterNone : 'MoreLeft';
  return {
    rule: undefined,
    space: facts.space,
    wantedUnknown: undefined,
    ...usageOf(facts.disk),
    ...spaceStep(noNeed, [], () => 0),
    state: reason === 'NodeUnknown' ? 'Unknown' : 'Idle',
    inodesOf: () => 0,
    goals: [],
    pulls: fitPulls(pendingPulls(facts), {
      freeBytes: freeForPulls(facts.disk),
      freeableBytes: reason === 'NodeUnknown' ? 'unknown' : 'off',
    }).pulls,
    maxImages: 0,
    removals: [],
    reclaim: new Map(demands.map(({ signal }) => [signal, left])),
    candidates: [],
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
  const usesBy = usesOf(images, facts, rule);
  const requestOf = requestsAt(rule?.remove ?? [], now);
  const isRepulled = repulls(facts.removed);
  // An image at its maximum age takes no space that anything needs: one that may be wanted stays.
  const maximumAge = maximumAges(wantedUnknown(facts.wanted, rule) === undefined ? rule : undefined);
  const chosen = id === undefined ? images : images.filter((image) => image.id === id);
  return chosen.map((image) => {
    const record = recordAt(facts.images.get(image.id), now);
    const uses = usesBy(image);
    const requested = requestOf(image);
    const factor = isRepulled(image, record) && rule?.repullBackoff === true ? 2 : 1;
    return {
      kind: 'Image',
      id: image.id,
      name: image.tags[0] ?? image.digests[0],
      image,
      bytes: bytesOfImage(image, facts.space),
      record,
      ...uses,
      protectedBy: protectedBecause({ ...uses, requested }),
      requested,
      minimumAgeMs: (rule?.minimumAgeMs ?? 0) * factor,
      ...maximumAge(image),
    };
  });
}

/** Whether a container or a pod uses it, or may use it. */
export const isUsed = ({ usedBy, boundPod }: JudgedImage): boolean =>
  usedBy !== undefined || boundPod !== undefined;

/** Whether the policy's remove list selects it: the entries match all of its names. */
export const isRequested = ({ requested }: Pick<JudgedImage, 'requested'>): boolean =>
  requested !== undefined && requested.unmatched === undefined;

function protectedBecause({
  pinned,
  keepPattern,
  wanted,
  notSelected,
  requested,
}: ImageUses & Pick<JudgedImage, 'requested'>): KeptBecause | undefined {
  if (pinned) return { reason: 'Pinned' };
  if (keepPattern !== undefined) return { reason: 'KeepListed' };
  if (isRequested({ requested })) return undefined;
  if (wanted !== undefined) return { reason: 'Wanted' };
  return notSelected === undefined ? undefined : { reason: 'NotSelected' };
}

/** Why the image is kept at any disk usage; undefined = it may be removed. */
function keptBecause(
  image: JudgedImage,
  facts: ImageGcFacts,
  now: Date,
): (KeptBecause & { readonly eligibleAtMs?: number }) | undefined {
  const because = usedBecause(image, facts) ?? image.protectedBy ?? unknownBecause(facts, isRequested(image));
  if (because !== undefined) return because;
  const { id, record, minimumAgeMs } = image;
  const nowMs = now.getTime();
  const oldEnoughAtMs = record.firstDetectedMs + minimumAgeMs;
  if (nowMs < oldEnoughAtMs) return { reason: 'TooYoung', eligibleAtMs: oldEnoughAtMs };
  if (record.lastUsedMs !== undefined && record.lastUsedMs >= nowMs) return { reason: 'UsedRecently' };
  const { times = 0, retryInMs = 0 } = facts.failedBefore?.get(id) ?? {};
  return retryInMs > 0 ? { reason: 'RemovalFailed', times, eligibleAtMs: nowMs + retryInMs } : undefined;
}

function usedBecause(
  { image, usedBy, boundPod }: JudgedImage,
  { containers = [] }: ImageGcFacts,
): KeptBecause | undefined {
  if (usedBy !== undefined) return { reason: 'InUse', user: userOf(usedBy, image, containers) };
  return boundPod && { reason: 'BoundPod' };
}

function userOf(
  id: string,
  image: RuntimeImage,
  containers: readonly RuntimeContainer[],
): Extract<KeptBecause, { reason: 'InUse' }>['user'] {
  const user = containers.find((container) => container.id === id);
  if (user === undefined) return undefined;
  const isSure = user.imageId !== '' || image.digests.length > 0 || user.imageRef === image.id;
  return { name: user.name || id, pod: podRefOf(user), state: user.state, isSure };
}

/** Why no image can be removed: facts are missing. Whether an image is wanted is no matter if it is on the remove list. */
function unknownBecause(
  { containers, pods, clockUnsure, wanted }: ImageGcFacts,
  isOnRemoveList = false,
): KeptBecause | undefined {
  if (containers === undefined) return { reason: 'ContainersUnknown', container: undefined };
  // A container whose image is unknown may use any image.
  const container = containers.find((one) => imageOf(one) === '');
  if (container !== undefined) return { reason: 'ContainersUnknown', container };
  if (pods === undefined) return { reason: 'PodsUnknown' };
  if (clockUnsure === true) return { reason: 'ClockUnsure' };
  return wanted?.awaitedForMs !== undefined && !isOnRemoveList ? { reason: 'WantedUnknown' } : undefined;
}

/** The kubelet's order: never used, then by last use, then by first detection; then by id, so that every plan has the same order. */
function byIdleSince(a: JudgedImage, b: JudgedImage): number {
  return (
    (a.record.lastUsedMs ?? -1) - (b.record.lastUsedMs ?? -1) ||
    a.record.firstDetectedMs - b.record.firstDetectedMs ||
    (a.id < b.id ? -1 : 1)
  );
}
