import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { failedLast } from '../../gc/failures.ts';
import { isInvalid, type ImageGcPolicy } from '../../api/policy/policy.ts';
import type { ImageKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { ImageEvidence } from '../../gc/reasons/images.ts';
import { usageOf } from './disk.ts';
import {
  decide,
  type Because,
  type Given,
  type ImageDecision,
  type ImageGcFacts,
  type ImageGcPlan,
  type JudgedImage,
} from './facts.ts';
import { maximumAges } from './ages.ts';
import { distinctImages, holdsOf, imageOf } from './holds.ts';
import { unlessHeld } from './hold.ts';
import { recordAt, repulls } from './records.ts';
import { planSteps, type Steps } from './steps.ts';

/**
 * Decides which images to remove, in which order, and why to keep each of the others: first by the maximum age, then for space, with the
 * arithmetic and the order of the kubelet (pkg/kubelet/images/image_gc_manager.go), then for node pressure, in the same order.
 */
export function planImageGc(facts: ImageGcFacts, { governance, now, demands = [] }: Given): ImageGcPlan {
  const governed = nodeRule(governance, 'imageGC');
  if (governed.kind === 'keep') return keepAll(facts, governed, { now, demands });
  const { policy, rule } = governed;
  const kept: ImageDecision[] = [];
  const eligible: JudgedImage[] = [];
  const hasFailed = ({ id }: JudgedImage): boolean => facts.failedBefore?.has(id) === true;
  for (const image of failedLast(imageFacts(facts, rule, now).toSorted(byIdleSince), hasFailed)) {
    const because = keptBecause(image, facts, { rule, now });
    if (because === undefined) eligible.push(image);
    else kept.push(decide(image, because, policy));
  }
  const isUnknown = unknownBecause(facts) !== undefined;
  const steps = { facts, isUnknown, policy, rule, now, demands };
  return unlessHeld(planSteps(steps, eligible, kept), eligible.length, { ...steps, facts });
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

/** Keeps every image for one reason: no rule allows removals on this node. */
function keepAll(
  facts: ImageGcFacts,
  { reason, policy }: Extract<NodeRule<ImageGcPolicy>, { kind: 'keep' }>,
  { now, demands }: Pick<Steps, 'now' | 'demands'>,
): ImageGcPlan {
  const invalid = policy !== undefined && isInvalid(policy) ? policy : undefined;
  const evidence = reason === 'InvalidPolicy' ? { invalid } : undefined;
  return {
    ...{ state: 'Idle', crossed: [], ...usageOf(facts.disk), isUncounted: false, inodesOf: () => 0 },
    ...{ wantedBytes: 0, plannedBytes: 0, wantedInodes: 0, plannedInodes: 0 },
    ...{ maxImages: 0, candidates: [], removals: [], goals: [] },
    reclaim: new Map(demands.map(({ signal }) => [signal, 'Exhausted'])),
    kept: imageFacts(facts, undefined, now).map((image) => decide(image, { reason, evidence }, policy)),
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
  const { times = 0, retryInMs = 0 } = facts.failedBefore?.get(image.id) ?? {};
  if (retryInMs <= 0) return undefined;
  return { reason: 'RemovalFailed', evidence: { times }, eligibleAtMs: now.getTime() + retryInMs };
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
