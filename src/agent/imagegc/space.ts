import type { ImageBytes, ImageSpace, OtherBytes, Share } from '../../api/image-space.ts';
import { contentNode, graphOf, imageNode, isPacked, type Graph, type Node } from '../../containerd/graph.ts';
import type { ContainerdStore } from '../../containerd/store.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import { sum } from '../../runtime/sum.ts';
import { storedPulls } from './pulls.ts';
import { namesOf, ownPins, sandboxImages, storedNames } from './pin-labels.ts';
import { distinctImages } from './uses.ts';

/** An image of the kubelet with all names that its removal removes. */
interface NamedImage {
  readonly id: string;
  readonly names: readonly string[];
}

/**
 * Finds which bytes belong to which images, as containerd's collector does: an object stays while a root reaches it
 * (https://github.com/containerd/containerd/blob/main/docs/garbage-collection.md). The names of these images are the roots that removals
 * take away; other roots hold what they reach.
 */
export function imageSpace(store: ContainerdStore, images: readonly RuntimeImage[], now: Date): ImageSpace {
  const graph = graphOf(store, now);
  const distinct = distinctImages(images);
  const named = distinct.map((image) => ({ id: image.id, names: namesOf(image) }));
  return {
    ...spaceOf(graph, named),
    ownPins: ownPins(distinct, storedNames(store)),
    sandboxImages: sandboxImages(distinct, store),
    pulls: storedPulls(store, graph, now),
  };
}

/** The bytes that the removal of each image frees if they are removed in this order; an image that frees nothing is missing. */
export function freedInOrder(
  shares: readonly Share[],
  imageIds: readonly string[],
): ReadonlyMap<string, number> {
  const order = new Map(imageIds.map((id, index) => [id, index]));
  const freed = new Map<string, number>();
  for (const { images, bytes, heldBy } of shares) {
    const last = imageIds[Math.max(...images.map((id) => order.get(id) ?? Infinity))];
    if (heldBy === undefined && last !== undefined) freed.set(last, (freed.get(last) ?? 0) + bytes);
  }
  return freed;
}

/** What an image has on the disk, with what it shares; if that is unknown, the size that the runtime reports. */
export function bytesOfImage(
  { id, sizeBytes }: Pick<RuntimeImage, 'id' | 'sizeBytes'>,
  space: ImageSpace | undefined,
): number {
  const known = space?.images.get(id);
  return known === undefined ? sizeBytes : known.unique + known.shared;
}

/** The packed blobs of the images alone. */
export const packedOnly = (space: ImageSpace): ImageSpace => ({
  ...space,
  shares: space.shares.map((share) => ({ ...share, bytes: share.packedBytes ?? 0 })),
});

interface Sized {
  readonly target: { readonly id: string };
  readonly bytes?: number | undefined;
}

/** What images have on the disk; layers that they share count once. Without `space`, and of an image that is not in it, their own bytes count. */
export const bytesOnDisk = (images: readonly Sized[], space: ImageSpace | undefined): number =>
  bytesIn(images, space, (share, ids) => share.images.some((id) => ids.has(id)));

/** What the removal of all these images frees; `removed`: images that are gone already. */
export function freedByAll(
  images: readonly Sized[],
  space: ImageSpace | undefined,
  removed: ReadonlySet<string> = new Set(),
): number {
  return bytesIn(images, space, (share, ids) => {
    const isLeft = share.images.some((id) => !removed.has(id));
    const isLast = share.images.every((id) => ids.has(id) || removed.has(id));
    return share.heldBy === undefined && isLeft && isLast;
  });
}

function bytesIn(
  images: readonly Sized[],
  space: ImageSpace | undefined,
  isCounted: (share: Share, ids: ReadonlySet<string>) => boolean,
): number {
  const sumOf = (sizes: readonly Pick<Sized, 'bytes'>[]): number => sum(sizes.map(({ bytes = 0 }) => bytes));
  if (space === undefined) return sumOf(images);
  const ids = new Set(images.map(({ target }) => target.id));
  const unknown = images.filter(({ target }) => !space.images.has(target.id));
  const shares = space.shares.filter((share) => isCounted(share, ids));
  return sumOf([...unknown, ...shares]);
}

function spaceOf(
  graph: Graph,
  images: readonly NamedImage[],
): Pick<ImageSpace, 'images' | 'shares' | 'others'> {
  const names = new Set(images.flatMap((image) => image.names));
  const held = graph.held(({ kind, id }) => kind !== 'image' || !names.has(id));
  const owners = new Map<Node, string[]>();
  const bytes = new Map<string, ImageBytes>();
  const reached = images.map((image) => ({
    id: image.id,
    nodes: graph.reach(image.names.map(imageNode)),
  }));
  for (const { id, nodes } of reached)
    for (const node of nodes) {
      const known = owners.get(node);
      if (known === undefined) owners.set(node, [id]);
      else known.push(id);
    }
  for (const { id, nodes } of reached)
    if ([...nodes].some((node) => graph.bytes.has(node))) bytes.set(id, bytesOf(graph, [...nodes], owners));
  return { shares: sharesOf(graph, owners, held), images: bytes, others: othersOf(graph, owners) };
}

function bytesOf(
  graph: Graph,
  nodes: readonly Node[],
  owners: ReadonlyMap<Node, readonly string[]>,
): ImageBytes {
  const sumOf = (some: readonly Node[]): number => sum(some.map((node) => graph.bytes.get(node) ?? 0));
  const isUnique = (node: Node): boolean => owners.get(node)?.length === 1;
  return {
    unique: sumOf(nodes.filter(isUnique)),
    shared: sumOf(nodes.filter((node) => !isUnique(node))),
    packed: sumOf(nodes.filter(isPacked)),
    inexactBecause: nodes.map((node) => graph.doubts.get(node)).find((doubt) => doubt !== undefined),
  };
}

function othersOf(graph: Graph, owners: ReadonlyMap<Node, unknown>): OtherBytes {
  const ofContainers = graph.held(({ kind }) => kind === 'container');
  const left = [...graph.bytes].filter(([node]) => !owners.has(node) && !ofContainers.has(node));
  const foreign = [...graph.foreignBlobs].filter(([digest]) => !graph.bytes.has(contentNode(digest)));
  return {
    leftovers: sum(left.map(([, bytes]) => bytes)),
    namespaces: graph.foreignSnapshotBytes + sum(foreign.map(([, bytes]) => bytes)),
  };
}

function sharesOf(
  graph: Graph,
  owners: ReadonlyMap<Node, readonly string[]>,
  held: ReadonlyMap<Node, string>,
): readonly Share[] {
  const shares = new Map<string, Share>();
  for (const [node, images] of owners) {
    const heldBy = held.get(node);
    const key = JSON.stringify([images, heldBy]);
    const { bytes: before = 0, packedBytes: packed = 0 } = shares.get(key) ?? {};
    const own = graph.bytes.get(node) ?? 0;
    const packedBytes = packed + (isPacked(node) ? own : 0);
    if (before + own > 0) shares.set(key, { images, bytes: before + own, packedBytes, heldBy });
  }
  return [...shares.values()];
}
