import { imageIndex } from '../../api/image-index.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { AgentState, ImageRecord, RemovedImage } from '../../node/disk/state-format.ts';
import { distinctImages, usedImages } from './holds.ts';

/** An image that comes back within this time of its removal was wanted after all. */
const regretMs = 24 * 60 * 60_000;
/** More removals than this in a day no node makes; the oldest are forgotten. */
const maxRemoved = 1000;

/** So long nobody has looked when an agent was replaced, or its node drained and booted again. */
const unseenMs = 60 * 60_000;

export interface Observation {
  readonly images: readonly RuntimeImage[];
  readonly containers: readonly RuntimeContainer[];
  /** Ids or references that containers have mounted. */
  readonly mounted?: readonly string[];
  readonly now: Date;
  /** By how much more the wall clock moved on since the last observation than time did; 0 or less changes nothing. */
  readonly jumpedMs?: number;
}

interface Observed {
  readonly state: AgentState;
  /** Images that are new in this observation, and that dustpan removed less than 24 h ago. */
  readonly repulled: readonly RuntimeImage[];
}

/**
 * Folds a fresh listing into what is remembered (pkg/kubelet/images/image_gc_manager.go, detectImages): new images appear, vanished ones are forgotten, those in use were used
 * now. No record is ever older than it is known to be: what lies in the future becomes now, what a clock left behind moves on with it.
 */
export function observeImages(
  before: AgentState,
  { images, containers, mounted = [], now, jumpedMs = 0 }: Observation,
): Observed {
  const distinct = distinctImages(images);
  const used = usedImages(imageIndex(distinct), containers, mounted);
  const nowMs = now.getTime();
  const records = distinct.map((image): [string, ImageRecord] => {
    const remembered = before.images.get(image.id);
    const known = recordAt(remembered && moved(remembered, jumpedMs), now);
    return [image.id, used.has(image.id) ? { ...known, lastUsedMs: nowMs } : known];
  });
  const state = { images: new Map(records), removed: remember(before.removed, distinct, nowMs) };
  const isNew = ({ id }: RuntimeImage): boolean => !before.images.has(id);
  const cameBack = repulls(state.removed);
  const fresh = recordAt(undefined, now);
  return { state, repulled: distinct.filter((image) => isNew(image) && cameBack(image, fresh)) };
}

/**
 * What was remembered, as of a start: who used an image while no agent ran is not known, so a long time without one (or with the state of
 * another node, as a disk image brings it) ages nothing.
 */
export function resumeState(state: AgentState, now: Date): AgentState {
  const times = [...state.images.values()].flatMap(({ firstDetectedMs, lastUsedMs = 0 }) => [
    firstDetectedMs,
    lastUsedMs,
  ]);
  const unseen = now.getTime() - Math.max(...times);
  if (times.length === 0 || unseen <= unseenMs) return state;
  const images = [...state.images].map(([id, record]): [string, ImageRecord] => [id, moved(record, unseen)]);
  return { ...state, images: new Map(images) };
}

/** The record as of now: an image without one was first detected now, and times in the future are now. */
export function recordAt(known: ImageRecord | undefined, now: Date): ImageRecord {
  const nowMs = now.getTime();
  return {
    firstDetectedMs: Math.min(known?.firstDetectedMs ?? nowMs, nowMs),
    lastUsedMs: known?.lastUsedMs === undefined ? undefined : Math.min(known.lastUsedMs, nowMs),
  };
}

function moved(known: ImageRecord, jumpedMs: number): ImageRecord {
  if (jumpedMs <= 0) return known;
  const { firstDetectedMs, lastUsedMs } = known;
  return {
    firstDetectedMs: firstDetectedMs + jumpedMs,
    lastUsedMs: lastUsedMs === undefined ? undefined : lastUsedMs + jumpedMs,
  };
}

/** Tells of an image whether it was pulled within 24 h of our removal of it. */
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

/** What a removal may be remembered by: the id, repository digests, and these without the repository. */
const digestsOf = ({ id, digests }: RuntimeImage): readonly string[] => [
  id,
  ...digests,
  ...digests.map((name) => name.slice(name.indexOf('@') + 1)),
];

/** Removals of the last 24 h, and older ones of images that came back and are still here: their minimum age stays doubled. */
function remember(
  removed: readonly RemovedImage[],
  images: readonly RuntimeImage[],
  nowMs: number,
): readonly RemovedImage[] {
  const here = new Set(images.flatMap(digestsOf));
  return removed
    .map(({ digest, atMs }) => ({ digest, atMs: Math.min(atMs, nowMs) }))
    .filter(({ digest, atMs }) => nowMs - atMs <= regretMs || here.has(digest))
    .slice(-maxRemoved);
}

/** What is remembered after an image went: the removal, and no record; should it come back, it is new. */
export function withoutImage(state: AgentState, id: string, now: Date): AgentState {
  const images = new Map(state.images);
  images.delete(id);
  const others = state.removed.filter(({ digest }) => digest !== id);
  return { images, removed: [...others, { digest: id, atMs: now.getTime() }].slice(-maxRemoved) };
}
