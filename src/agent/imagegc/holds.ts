import { isFinished } from '../../api/pod-phase.ts';
import { imageIndex, type ImageIndex } from '../../api/image-index.ts';
import { keepList } from '../../api/image-reference.ts';
import type { NodePod } from '../../api/report/node-pass.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { ImageGcFacts, ImageHolds } from './facts.ts';

/** One image for each id, in the order of the list: the names of all its entries; a pin on one of them protects. */
export function distinctImages(listed: readonly RuntimeImage[]): readonly RuntimeImage[] {
  const byId = new Map<string, RuntimeImage>();
  for (const image of listed) {
    const known = byId.get(image.id);
    byId.set(image.id, known === undefined ? image : merged(known, image));
  }
  return [...byId.values()];
}

const merged = (a: RuntimeImage, b: RuntimeImage): RuntimeImage => ({
  ...a,
  tags: [...new Set([...a.tags, ...b.tags])],
  digests: [...new Set([...a.digests, ...b.digests])],
  sizeBytes: Math.max(a.sizeBytes, b.sizeBytes),
  pinned: a.pinned || b.pinned,
});

type Holding = Pick<ImageGcFacts, 'containers' | 'pods' | 'mounted' | 'sandboxImage'>;

/** Tells of each image what holds it. */
export function holdsOf(
  images: readonly RuntimeImage[],
  { containers = [], pods = [], mounted = [], sandboxImage = '' }: Holding,
  keep: readonly string[],
): (image: RuntimeImage) => ImageHolds {
  const index = imageIndex(images);
  const usedBy = usedImages(index, containers, mounted);
  const boundPods = boundImages(index, pods);
  const patternOf = keepList(keep);
  const ofSandboxes = new Set(index.idsOf(sandboxImage));
  // In doubt by its usual name: without it no pod could start on a node without a registry.
  const isOfSandboxes = (image: RuntimeImage): boolean =>
    ofSandboxes.size > 0 ? ofSandboxes.has(image.id) : isCalledPause(image);
  return (image) => ({
    usedBy: usedBy.get(image.id),
    boundPod: boundPods.get(image.id),
    pinned: image.pinned || isOfSandboxes(image),
    keepPattern: patternOf(image),
  });
}

/** By image id, a container that was made from it or mounts it. */
export function usedImages(
  index: ImageIndex,
  containers: readonly RuntimeContainer[],
  mounted: readonly string[] = [],
): ReadonlyMap<string, string> {
  const used = new Map<string, string>();
  const use = (reference: string, user: string): void => {
    for (const id of index.idsOf(reference)) if (!used.has(id)) used.set(id, user);
  };
  for (const container of containers) use(imageOf(container), container.id);
  for (const reference of mounted) use(reference, 'a mount');
  return used;
}

/** What a container was made from; '' = the runtime does not say. */
export const imageOf = ({ imageId, imageRef }: RuntimeContainer): string =>
  imageId === '' ? imageRef : imageId;

type BoundPod = NonNullable<ImageHolds['boundPod']>;

/** By image id, an unfinished pod whose spec names it, or may do so. */
export function boundImages(index: ImageIndex, pods: readonly NodePod[]): ReadonlyMap<string, BoundPod> {
  const bound = new Map<string, BoundPod>();
  const bind = ({ namespace, name }: NodePod, image: string | undefined): void => {
    for (const id of image === undefined ? index.ids : index.idsOf(image)) {
      if (!bound.has(id)) bound.set(id, { pod: `${namespace}/${name}`, image });
    }
  };
  for (const pod of pods.filter(isUnfinished)) {
    for (const image of pod.images ?? [undefined]) bind(pod, image);
  }
  return bound;
}

/** Of a finished pod only the containers that are left still hold something. */
const isUnfinished = (pod: NodePod): boolean => !isFinished(pod);

/** Containers of which only the runtime can tell what image volumes they hold: their pod is not known, or has finished, so its spec does not count. */
export function strayContainers(
  containers: readonly RuntimeContainer[],
  pods: readonly NodePod[],
): readonly RuntimeContainer[] {
  // A mirror can be forged: it says nothing about the UID of another pod of the API.
  const uids = new Set(pods.map(({ uid }) => uid));
  const known = new Set(
    pods
      .filter(isUnfinished)
      .flatMap(({ uid, configHash = uid }) => (uids.has(configHash) ? [uid] : [uid, configHash])),
  );
  return containers.filter(
    ({ state, labels }) => state !== 'Exited' && !known.has(labels['io.kubernetes.pod.uid'] ?? ''),
  );
}

/** No container is made from the image of the sandboxes, and a runtime need neither pin it nor report its name. */
const isCalledPause = ({ tags, digests }: RuntimeImage): boolean =>
  [...tags, ...digests].some((name) => /(^|[/-])pause([:@]|$)/.test(name));
