import {
  kubernetesNamespace,
  type ContainerdStore,
  type ImageName,
  type Labels,
} from '../../containerd/store.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';

/** The label of a name by which CRI, and so the kubelet, keeps its image. */
export const pinLabel = 'io.cri-containerd.pinned';
/** Beside it, where dustpan has set it; its value is the name of the policy. */
export const ownLabel = 'gc.dustpan.dev/pinned';
/** k3s sets it beside the label of CRI. */
const k3sLabel = 'io.cattle.k3s.pinned';
/** CRI sets it on the names that it knows. */
const managedLabel = 'io.cri-containerd.image';
/** CRI sets it on containers: 'sandbox' is that of a pod. */
const kindLabel = 'io.cri-containerd.kind';

/** Whether dustpan has pinned the name, also where k3s has done so afterwards. */
export const isOwn = ({ labels }: ImageName): boolean => ownLabel in labels;

/** Whether somebody else has pinned it, also beside dustpan: the label of CRI is no longer dustpan's to remove. */
export const isOfOthers = ({ labels }: ImageName): boolean =>
  pinLabel in labels && (!(ownLabel in labels) || k3sLabel in labels);

/** The labels that remove the pin of dustpan, and leave those of others. */
export const unpinned = (name: ImageName): Labels =>
  isOfOthers(name) ? { [ownLabel]: '' } : { [ownLabel]: '', [pinLabel]: '' };

export const isManaged = ({ labels }: ImageName): boolean => managedLabel in labels;

/** The names of the kubelet's images. */
export const storedNames = (store: ContainerdStore): readonly ImageName[] =>
  store.get(kubernetesNamespace)?.images ?? [];

/** The ids of the images from which containerd runs sandboxes. containerd 2 reports no other way which image that is. */
export function sandboxImages(images: readonly RuntimeImage[], store: ContainerdStore): ReadonlySet<string> {
  const running = store.get(kubernetesNamespace)?.containers ?? [];
  const used = new Set(
    running.flatMap(({ image, labels }) => (labels[kindLabel] === 'sandbox' ? [image] : [])),
  );
  return new Set(images.filter((image) => namesOf(image).some((name) => used.has(name))).map(({ id }) => id));
}

/** The names that containerd has of an image: its id is one of them. */
export const namesOf = ({ id, tags, digests }: RuntimeImage): readonly string[] => [id, ...tags, ...digests];

/** Finds those of these names that an image has. */
export function storedNamesBy(names: readonly ImageName[]): (image: RuntimeImage) => readonly ImageName[] {
  const byName = new Map(names.map((one) => [one.name, one]));
  return (image) => namesOf(image).flatMap((name) => byName.get(name) ?? []);
}

/** The images that dustpan alone has pinned, each with the policy for which it did. */
export function ownPins(
  images: readonly RuntimeImage[],
  names: readonly ImageName[],
): ReadonlyMap<string, string> {
  const namedBy = storedNamesBy(names);
  const pins = new Map<string, string>();
  for (const image of images) {
    const named = namedBy(image);
    const [policy] = named.flatMap(({ labels }) => labels[ownLabel] ?? []);
    if (policy !== undefined && !named.some(isOfOthers)) pins.set(image.id, policy);
  }
  return pins;
}
