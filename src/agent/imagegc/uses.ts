import { isFinished } from '../../api/pod-phase.ts';
import { imageIndex, type ImageIndex } from '../../api/image-index.ts';
import {
  firstPattern,
  imageSelection,
  parseImageReference,
  type ImageReference,
} from '../../api/image-reference.ts';
import type { NodePod } from '../../api/node-pod.ts';
import { hasEnded, type ImageGcPolicy, type RemoveEntry } from '../../api/policy/policy.ts';
import type { WantedImages } from '../../api/wanted-images.ts';
import { oncePer } from '../../runtime/once-per.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { ImageGcFacts, ImageUses, RemoveRequest } from './facts.ts';

/**
 * Merges the entries with one id, in the order of the list: the names of all of them; a pin on one entry protects the image. Once for each list: a pass and
 * each re-check read theirs several times.
 */
export const distinctImages = oncePer((listed: readonly RuntimeImage[]): readonly RuntimeImage[] => {
  const byId = new Map<string, RuntimeImage>();
  for (const image of listed) {
    const known = byId.get(image.id);
    byId.set(image.id, known === undefined ? image : merged(known, image));
  }
  return [...byId.values()];
});

const merged = (a: RuntimeImage, b: RuntimeImage): RuntimeImage => ({
  ...a,
  tags: [...new Set([...a.tags, ...b.tags])],
  digests: [...new Set([...a.digests, ...b.digests])],
  sizeBytes: Math.max(a.sizeBytes, b.sizeBytes),
  pinned: a.pinned || b.pinned,
});

/** Returns a function that finds what uses an image, and what else protects it at any disk usage. */
export function usesOf(
  images: readonly RuntimeImage[],
  {
    containers = [],
    pods = [],
    mounted = [],
    sandboxImage = '',
    space,
    wanted,
  }: Pick<ImageGcFacts, 'containers' | 'pods' | 'mounted' | 'sandboxImage' | 'space' | 'wanted'>,
  rule: Pick<ImageGcPolicy, 'keep' | 'only' | 'pinWanted'> | undefined,
): (image: RuntimeImage) => ImageUses {
  const { keep = [], only = [] } = rule ?? {};
  const index = imageIndex(images);
  const usedBy = usedImages(index, containers, mounted);
  const boundPods = boundImages(index, pods);
  const patternOf = firstPattern(keep);
  const selectionOf = imageSelection(only);
  const workloads = rule?.pinWanted === true ? wantedImages(index, wanted) : undefined;
  const isUnknown = wantedUnknown(wanted, rule) !== undefined;
  const wantedBy = (id: string): ImageUses['wanted'] => {
    const workload = workloads?.get(id);
    return workload !== undefined || (isUnknown && space?.ownPins.has(id) === true)
      ? { workload }
      : undefined;
  };
  const ofSandboxes = new Set(index.idsOf(sandboxImage));
  // Without this image no pod can start if the registry is unreachable. If the runtime does not report it, its usual name decides.
  const isCalledSandbox = (image: RuntimeImage): boolean => ofSandboxes.size === 0 && isCalledPause(image);
  const isSandbox = ({ id }: RuntimeImage): boolean =>
    ofSandboxes.has(id) || space?.sandboxImages.has(id) === true;
  return (image) => ({
    usedBy: usedBy.get(image.id),
    boundPod: boundPods.get(image.id),
    // What dustpan has pinned itself is kept by the policy, or by nothing.
    pinned:
      (image.pinned && space?.ownPins.has(image.id) !== true) || isSandbox(image) || isCalledSandbox(image),
    pinnedFor: space?.ownPins.get(image.id),
    isSandbox: isSandbox(image),
    isCalledSandbox: isCalledSandbox(image) && !isSandbox(image),
    keepPattern: keep[patternOf(image)],
    wanted: wantedBy(image.id),
    notSelected: only.length === 0 ? undefined : selectionOf(image).unmatched,
  });
}

/** Why images may be wanted that are not known to be; undefined = there are none, or the rule has no pinWanted. */
export const wantedUnknown = (
  wanted: ImageGcFacts['wanted'],
  rule: Pick<ImageGcPolicy, 'pinWanted'> | undefined,
): string | undefined =>
  rule?.pinWanted !== true
    ? undefined
    : wanted === undefined
      ? 'their list was not read'
      : wanted.unknownBecause;

/** A workload by the id of each image that it wants. */
function wantedImages(
  index: ImageIndex,
  { images }: Pick<WantedImages, 'images'> = { images: [] },
): ReadonlyMap<string, string> {
  return new Map(
    images.toReversed().flatMap(({ image, workload }) => index.idsOf(image).map((id) => [id, workload])),
  );
}

/** Returns a function that finds the entry of the policy's remove list for an image. */
export function requestsAt(
  entries: readonly RemoveEntry[],
  now: Date,
): (image: RuntimeImage) => RemoveRequest | undefined {
  const active = entries.map((entry, index) => ({ ...entry, index })).filter((one) => !hasEnded(one, now));
  const selectionOf = imageSelection(active.map(({ image }) => image));
  return (image) => {
    const { index, unmatched } = selectionOf(image);
    const entry = active[index];
    return entry && { ...entry, unmatched };
  };
}

/** The users of images by image id: a container that was created from it, or a mount. */
export function usedImages(
  index: ImageIndex,
  containers: readonly RuntimeContainer[],
  mounted: readonly string[] = [],
): ReadonlyMap<string, string> {
  const used = new Map<string, string>();
  const use = (ids: readonly string[], user: string): void => {
    for (const id of ids) if (!used.has(id)) used.set(id, user);
  };
  for (const { id, imageId, imageRef } of containers)
    use(imageId === '' ? index.idsInUse(imageRef) : index.idsOf(imageId), id);
  for (const reference of mounted) use(index.idsInUse(reference), 'a mount');
  return used;
}

/** Reference of the image that a container was created from; '' = the runtime does not report it. */
export const imageOf = ({ imageId, imageRef }: RuntimeContainer): string =>
  imageId === '' ? imageRef : imageId;

type BoundPod = NonNullable<ImageUses['boundPod']>;

/** Unfinished pods by the id of an image that their spec refers to, or may refer to. */
export function boundImages(index: ImageIndex, pods: readonly NodePod[]): ReadonlyMap<string, BoundPod> {
  const bound = new Map<string, BoundPod>();
  const bind = ({ namespace, name }: NodePod, image: string | undefined): void => {
    for (const id of image === undefined ? index.ids : index.idsOf(image)) {
      if (!bound.has(id)) bound.set(id, { pod: `${namespace}/${name}`, image });
    }
  };
  // A finished pod needs no image; its remaining containers do.
  for (const pod of pods) {
    if (isFinished(pod)) continue;
    for (const image of pod.images ?? [undefined]) bind(pod, image);
  }
  return bound;
}

/**
 * The usual names of the sandbox image (`pause`, `pause-amd64`, `mirrored-pause`): no container uses that image, and a runtime may neither pin it
 * nor report its name.
 */
const isCalledPause = ({ tags, digests }: RuntimeImage): boolean =>
  [...tags, ...digests].some((name) => wordsOf(parseImageReference(name)).includes('pause'));

const wordsOf = ({ path }: Pick<ImageReference, 'path'> = { path: '' }): readonly string[] =>
  path.slice(path.lastIndexOf('/') + 1).split(/[._-]/);
