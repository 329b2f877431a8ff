import type { NodeRule } from '../../api/policy/node-governance.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';
import { inForceAt, type InForce } from '../../gc/hold.ts';
import { imageIndex } from '../../api/image-index.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { LastRemoved } from '../../gc/pass.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { AgentState, ImageRecord, RemovedImage } from '../../node/disk/state-format.ts';
import { distinctImages, usedImages } from './uses.ts';

/** An image that is pulled again within this time was removed too early. */
const regretMs = 24 * 60 * 60_000;
/** More than any node removes in a day; the oldest are dropped. */
const maxRemoved = 1000;

/** A replaced agent, a drained and rebooted node, or a runtime that is restarted is back within this time. */
const toleratedMs = 60 * 60_000;

export interface Observation {
  readonly images: readonly RuntimeImage[];
  readonly containers: readonly RuntimeContainer[];
  /** Ids or references of mounted images. */
  readonly mounted?: readonly string[];
  readonly now: Date;
  /** Jump of the wall clock since the last observation; 0 or less changes nothing. */
  readonly jumpedMs?: number;
}

interface Observed {
  readonly state: AgentState;
  /** Images that are new since the last observation and that dustpan removed less than 24 h ago. */
  readonly repulled: readonly RuntimeImage[];
}

/**
 * Folds a fresh listing into the image records, as the kubelet does (pkg/kubelet/images/image_gc_manager.go, detectImages): adds new images,
 * drops those that are gone, sets the last use of those in use to now. No image counts as older than it is: a time in the future becomes now, and
 * the times move with a jump of the clock.
 */
export function observeImages(
  before: AgentState,
  { images, containers, mounted = [], now, jumpedMs = 0 }: Observation,
): Observed {
  const distinct = distinctImages(images);
  const used = usedImages(imageIndex(distinct), containers, mounted);
  const nowMs = now.getTime();
  const records = distinct.map((image): [string, ImageRecord] => {
    const former = before.images.get(image.id);
    const known = recordAt(former && moved(former, jumpedMs), now);
    return [image.id, used.has(image.id) ? { ...known, lastUsedMs: nowMs } : known];
  });
  const state = {
    ...before,
    images: new Map(records),
    removed: remaining(before.removed, distinct, { nowMs, jumpedMs }),
    inForce: before.inForce && movedInForce(before.inForce, jumpedMs),
  };
  const isNew = ({ id }: RuntimeImage): boolean => !before.images.has(id);
  const isRepulled = repulls(state.removed);
  const fresh = recordAt(undefined, now);
  return { state, repulled: distinct.filter((image) => isNew(image) && isRepulled(image, fresh)) };
}

/**
 * The state after a start of the agent. Uses of images are unknown for the time in which no agent ran, so no image ages in a longer one (or with the
 * state of another node, copied in a disk image), and no hold ends.
 */
export function resumeState(state: AgentState, now: Date): AgentState {
  const times = [...state.images.values()].flatMap(({ firstDetectedMs, lastUsedMs = 0 }) => [
    firstDetectedMs,
    lastUsedMs,
  ]);
  return times.length === 0 ? state : afterGap(state, now.getTime() - Math.max(...times));
}

/** The state after a time without an observation: images do not age in a longer one than is tolerated, and no hold ends. `periodMs`: between two passes. */
export function afterGap(state: AgentState, gapMs: number, periodMs = 0): AgentState {
  if (gapMs <= Math.max(toleratedMs, 2 * periodMs)) return state;
  const images = [...state.images].map(([id, record]): [string, ImageRecord] => [id, moved(record, gapMs)]);
  return { ...state, images: new Map(images), inForce: state.inForce && movedInForce(state.inForce, gapMs) };
}

/** Records the rules in force. While the policy is unknown, or in mode DryRun, the record remains: it is of other rules then, or of the same. */
export function observeInForce(state: AgentState, rule: NodeRule<ImageGcPolicy>, now: Date): AgentState {
  if (rule.kind === 'keep' || rule.policy.mode === 'DryRun') return state;
  return { ...state, inForce: inForceAt(rule.policy, state.inForce, now) };
}

/** The record at this time: an image without one was first detected now, and a time in the future becomes now. */
export function recordAt(known: ImageRecord | undefined, now: Date): ImageRecord {
  const nowMs = now.getTime();
  return {
    firstDetectedMs: Math.min(known?.firstDetectedMs ?? nowMs, nowMs),
    lastUsedMs: known?.lastUsedMs === undefined ? undefined : Math.min(known.lastUsedMs, nowMs),
  };
}

const movedInForce = (inForce: InForce, ms: number): InForce => ({
  ...inForce,
  since: new Date(inForce.since.getTime() + ms),
});

function moved(known: ImageRecord, jumpedMs: number): ImageRecord {
  if (jumpedMs <= 0) return known;
  const { firstDetectedMs, lastUsedMs } = known;
  return {
    firstDetectedMs: firstDetectedMs + jumpedMs,
    lastUsedMs: lastUsedMs === undefined ? undefined : lastUsedMs + jumpedMs,
  };
}

/** Returns a function that checks whether an image was pulled again within 24 h of its removal by dustpan. */
export function repulls(
  removed: readonly RemovedImage[],
): (image: RuntimeImage, record: ImageRecord) => boolean {
  const removals = new Map<string, number[]>();
  for (const { digest, atMs } of removed) removals.set(digest, [...(removals.get(digest) ?? []), atMs]);
  return (image, { firstDetectedMs }) =>
    removals.size > 0 &&
    digestsOf(image).some((digest) =>
      removals.get(digest)?.some((atMs) => atMs <= firstDetectedMs && firstDetectedMs - atMs <= regretMs),
    );
}

/** The keys of a recorded removal: the id, the repository digests, and these without the repository. */
const digestsOf = ({ id, digests }: RuntimeImage): readonly string[] => [
  id,
  ...digests,
  ...digests.map((name) => name.slice(name.indexOf('@') + 1)),
];

/** Removals of the last 24 h, and older ones of images that were pulled again and are listed: their minimum age remains doubled. */
function remaining(
  removed: readonly RemovedImage[],
  images: readonly RuntimeImage[],
  { nowMs, jumpedMs }: { readonly nowMs: number; readonly jumpedMs: number },
): readonly RemovedImage[] {
  const here = new Set(images.flatMap(digestsOf));
  return removed
    .map((one) => ({ ...one, atMs: Math.min(one.atMs + Math.max(jumpedMs, 0), nowMs) }))
    .filter(({ digest, atMs }) => nowMs - atMs <= regretMs || here.has(digest))
    .slice(-maxRemoved);
}

/** The state after the removal of an image: no record, so that the image is new if it is pulled again. */
export function withoutImage(
  state: AgentState,
  id: string,
  what: NonNullable<RemovedImage['what']>,
  now: Date,
): AgentState {
  const images = new Map(state.images);
  images.delete(id);
  const others = state.removed.filter(({ digest }) => digest !== id);
  return {
    ...state,
    images,
    removed: [...others, { digest: id, atMs: now.getTime(), what }].slice(-maxRemoved),
  };
}

const maxReported = 10;

export const lastRemoved = (state: AgentState | undefined): LastRemoved['images'] =>
  (state?.removed ?? [])
    .toReversed()
    .flatMap(({ digest: id, atMs, what }) =>
      what === undefined ? [] : [{ id, ...what, time: metaTime(new Date(atMs)) }],
    )
    .slice(0, maxReported);
