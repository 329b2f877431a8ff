import type { ImageBytes, ImageSpace, OtherBytes, Share } from '../../api/image-space.ts';
import {
  gcExpire,
  kubernetesNamespace,
  type ContainerdStore,
  type Labels,
  type NamespaceStore,
} from '../../containerd/store.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import { sum } from '../../runtime/sum.ts';
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
  const graph = new Graph(now);
  for (const [namespace, stored] of store) {
    if (namespace === kubernetesNamespace) graph.add(stored);
    else graph.addForeign(namespace, stored);
  }
  const named = distinctImages(images).map(({ id, tags, digests }) => ({
    id,
    names: [id, ...tags, ...digests],
  }));
  return graph.spaceOf(named);
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
export const packedOnly = ({ images, shares }: ImageSpace): ImageSpace => ({
  images,
  shares: shares.map((share) => ({ ...share, bytes: share.packedBytes ?? 0 })),
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

/** `image NAME`, `content DIGEST`, `snapshot SNAPSHOTTER/NAME`, `container ID`. */
type Node = string;

const contentNode = (digest: string): Node => `content ${digest}`;
const isPacked = (node: Node): boolean => node.startsWith('content ');
const imageNode = (name: string): Node => `image ${name}`;
const snapshotNode = (snapshotter: string, name: string): Node => `snapshot ${snapshotter}/${name}`;

/** The type of a resource of a lease: `content`, `images`, `ingests`, or `snapshots/` with the snapshotter. */
const resourceNode = (type: string, id: string): Node =>
  type.startsWith('snapshots/')
    ? `snapshot ${type.slice('snapshots/'.length)}/${id}`
    : `${type.replace(/s$/, '')} ${id}`;

/** Others keep only what was written on this node, or measure by rules of their own. */
const exactSnapshotters: readonly string[] = ['overlayfs', 'native'];

const flat = 'containerd.io/gc.flat';
const root = 'containerd.io/gc.root';
/** A `ref` keeps the object of its value; a `bref` is kept by that object. */
const reference =
  /^containerd\.io\/gc\.(b?ref)\.(?:(content|image|container)(?:[./].*)?|snapshot\.([^/]+).*)$/;

/** A root that no removal of an image takes away. */
interface Holder {
  readonly node: Node;
  readonly name: string;
  /** It keeps the object and the parents of a snapshot, not what their labels refer to. */
  readonly isFlat: boolean;
}

class Graph {
  readonly #nowMs: number;
  readonly #names = new Set<Node>();
  readonly #links = new Map<Node, Set<Node>>();
  readonly #parents = new Map<Node, Node>();
  readonly #bytes = new Map<Node, number>();
  readonly #holders: Holder[] = [];
  readonly #containers: Holder[] = [];
  readonly #doubts = new Map<Node, string>();
  readonly #foreignBlobs = new Map<string, number>();
  #foreignSnapshotBytes = 0;

  constructor(now: Date) {
    this.#nowMs = now.getTime();
  }

  /** Adds the namespace of the kubelet. */
  add(stored: NamespaceStore): void {
    for (const { name, target, labels } of stored.images) {
      const node = imageNode(name);
      this.#link(node, contentNode(target));
      this.#read(labels, node);
      if (!this.#isExpired(labels)) this.#names.add(node);
    }
    for (const { digest, sizeBytes, labels } of stored.blobs) {
      const node = contentNode(digest);
      this.#bytes.set(node, onDisk(sizeBytes));
      this.#read(labels, node);
      this.#holdUntilExpired(labels, node);
    }
    for (const snapshot of stored.snapshots) this.#addSnapshot(snapshot);
    for (const { id, snapshotter, snapshotKey, labels } of stored.containers) {
      const node = `container ${id}`;
      this.#link(node, snapshotNode(snapshotter, snapshotKey));
      this.#read(labels, node);
      this.#containers.push({ node, name: node, isFlat: false });
    }
    for (const { id, labels, resources } of stored.leases)
      if (!this.#isExpired(labels))
        for (const resource of resources)
          this.#holders.push({
            node: resourceNode(resource.type, resource.id),
            name: `lease ${id}`,
            isFlat: flat in labels,
          });
    for (const { ref, expectedDigest } of stored.ingests)
      this.#holders.push({ node: contentNode(expectedDigest), name: `download ${ref}`, isFlat: false });
  }

  /** Adds another namespace: containerd stores a blob once for all of them, and a snapshot for each. */
  addForeign(namespace: string, { blobs, snapshots }: NamespaceStore): void {
    for (const { digest, sizeBytes } of blobs) {
      this.#holders.push({ node: contentNode(digest), name: `namespace ${namespace}`, isFlat: true });
      this.#foreignBlobs.set(digest, onDisk(sizeBytes));
    }
    for (const { sizeBytes } of snapshots)
      if (sizeBytes !== 'unknown') this.#foreignSnapshotBytes += sizeBytes;
  }

  spaceOf(images: readonly NamedImage[]): ImageSpace {
    const held = this.#held(new Set(images.flatMap(({ names }) => names.map(imageNode))));
    const owners = new Map<Node, string[]>();
    const bytes = new Map<string, ImageBytes>();
    const reached = images.map(({ id, names }) => ({ id, nodes: this.#reach(names.map(imageNode)) }));
    for (const { id, nodes } of reached)
      for (const node of nodes) {
        const known = owners.get(node);
        if (known === undefined) owners.set(node, [id]);
        else known.push(id);
      }
    for (const { id, nodes } of reached)
      if ([...nodes].some((node) => this.#bytes.has(node))) bytes.set(id, this.#bytesOf([...nodes], owners));
    return { shares: this.#shares(owners, held), images: bytes, others: this.#others(owners) };
  }

  #addSnapshot({
    snapshotter,
    name,
    parent,
    kind,
    sizeBytes,
    labels,
  }: NamespaceStore['snapshots'][number]): void {
    const node = snapshotNode(snapshotter, name);
    if (parent !== '') this.#parents.set(node, snapshotNode(snapshotter, parent));
    if (sizeBytes !== 'unknown') this.#bytes.set(node, sizeBytes);
    else if (kind === 'committed') this.#doubts.set(node, 'the size of a layer is unknown');
    if (!exactSnapshotters.includes(snapshotter))
      this.#doubts.set(node, `the snapshotter ${snapshotter} does not measure whole layers`);
    this.#read(labels, node);
    this.#holdUntilExpired(labels, node);
  }

  #read(labels: Labels, node: Node): void {
    for (const [key, value] of Object.entries(labels)) {
      const [, direction, type, snapshotter] = reference.exec(key) ?? [];
      const other = snapshotter === undefined ? `${type} ${value}` : snapshotNode(snapshotter, value);
      if (direction === 'ref') this.#link(node, other);
      else if (direction === 'bref') this.#link(other, node);
      else if (key === root) this.#holders.push({ node, name: `label ${root}`, isFlat: false });
      else if (key !== gcExpire && key.startsWith('containerd.io/gc.'))
        this.#doubts.set(node, `dustpan does not know the label ${key}`);
    }
  }

  /** Of blobs and snapshots, which are no roots without it. */
  #holdUntilExpired(labels: Labels, node: Node): void {
    if (gcExpire in labels && !this.#isExpired(labels))
      this.#holders.push({ node, name: `label ${gcExpire}`, isFlat: false });
  }

  /** As containerd, takes no notice of a value that is no time. */
  #isExpired(labels: Labels): boolean {
    return Date.parse(labels[gcExpire] ?? '') < this.#nowMs;
  }

  #link(from: Node, to: Node): void {
    this.#links.set(from, (this.#links.get(from) ?? new Set()).add(to));
  }

  /** What is kept by something else than these names, and by what: containers last, because their image has the same layers. */
  #held(names: ReadonlySet<Node>): ReadonlyMap<Node, string> {
    const others = [...this.#names].filter((node) => !names.has(node));
    const holders = [
      ...this.#holders,
      ...others.map((node) => ({ node, name: node, isFlat: false })),
      ...this.#containers,
    ];
    const held = new Map<Node, string>();
    for (const { node, name, isFlat } of holders)
      for (const reached of this.#reach([node], isFlat)) if (!held.has(reached)) held.set(reached, name);
    return held;
  }

  /** `isFlat`: only the parents of snapshots. */
  #reach(from: readonly Node[], isFlat = false): ReadonlySet<Node> {
    const reached = new Set(from);
    // What is added to a set while it is read, is read too; a cycle ends.
    for (const node of reached) {
      const links = isFlat ? undefined : this.#links.get(node);
      for (const next of links ?? []) reached.add(next);
      const parent = this.#parents.get(node);
      if (parent !== undefined) reached.add(parent);
    }
    return reached;
  }

  #bytesOf(nodes: readonly Node[], owners: ReadonlyMap<Node, readonly string[]>): ImageBytes {
    const bytesOf = (some: readonly Node[]): number => sum(some.map((node) => this.#bytes.get(node) ?? 0));
    const isUnique = (node: Node): boolean => owners.get(node)?.length === 1;
    return {
      unique: bytesOf(nodes.filter(isUnique)),
      shared: bytesOf(nodes.filter((node) => !isUnique(node))),
      packed: bytesOf(nodes.filter(isPacked)),
      inexactBecause: nodes.map((node) => this.#doubts.get(node)).find((doubt) => doubt !== undefined),
    };
  }

  #others(owners: ReadonlyMap<Node, unknown>): OtherBytes {
    const ofContainers = this.#reach(this.#containers.map(({ node }) => node));
    const left = [...this.#bytes].filter(([node]) => !owners.has(node) && !ofContainers.has(node));
    const foreign = [...this.#foreignBlobs].filter(([digest]) => !this.#bytes.has(contentNode(digest)));
    return {
      leftovers: sum(left.map(([, bytes]) => bytes)),
      namespaces: this.#foreignSnapshotBytes + sum(foreign.map(([, bytes]) => bytes)),
    };
  }

  #shares(owners: ReadonlyMap<Node, readonly string[]>, held: ReadonlyMap<Node, string>): readonly Share[] {
    const shares = new Map<string, Share>();
    for (const [node, images] of owners) {
      const heldBy = held.get(node);
      const key = JSON.stringify([images, heldBy]);
      const { bytes: before = 0, packedBytes: packed = 0 } = shares.get(key) ?? {};
      const own = this.#bytes.get(node) ?? 0;
      const packedBytes = packed + (isPacked(node) ? own : 0);
      if (before + own > 0) shares.set(key, { images, bytes: before + own, packedBytes, heldBy });
    }
    return [...shares.values()];
  }
}

/** A file takes whole blocks: 4 KiB on the usual file systems. */
const onDisk = (sizeBytes: number): number => Math.ceil(sizeBytes / 4096) * 4096;
