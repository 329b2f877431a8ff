import { parseRfc3339 } from '../runtime/text/rfc3339.ts';
import {
  gcExpire,
  gcRoot,
  kubernetesNamespace,
  type ContainerdStore,
  type Labels,
  type NamespaceStore,
} from './store.ts';

/** `image NAME`, `content DIGEST`, `snapshot SNAPSHOTTER/NAME`, `container ID`, `sandbox ID`, `ingest REF`. */
export type Node = string;

export const contentNode = (digest: string): Node => `content ${digest}`;
export const isPacked = (node: Node): boolean => node.startsWith('content ');
export const imageNode = (name: string): Node => `image ${name}`;
export const ingestNode = (ref: string): Node => `ingest ${ref}`;
export const snapshotNode = (snapshotter: string, name: string): Node => `snapshot ${snapshotter}/${name}`;

/** The type of a resource of a lease: `content`, `images`, `ingests`, or `snapshots/` with the snapshotter. */
export const resourceNode = (type: string, id: string): Node =>
  type.startsWith('snapshots/')
    ? `snapshot ${type.slice('snapshots/'.length)}/${id}`
    : `${type.replace(/s$/, '')} ${id}`;

/** Others keep only what was written on this node, or measure by rules of their own. */
const exactSnapshotters: readonly string[] = ['overlayfs', 'native'];

/** A lease with it keeps its resources, not what their labels refer to. */
export const gcFlat = 'containerd.io/gc.flat';
/** A `ref` keeps the object of its value; a `bref` is kept by that object. */
const reference =
  /^containerd\.io\/gc\.(b?ref)\.(?:(content|image|container)(?:[./].*)?|snapshot\.([^/]+).*)$/;

/** What keeps an object. */
export interface Root {
  readonly kind: 'label' | 'lease' | 'download' | 'namespace' | 'sandbox' | 'image' | 'container';
  readonly id: string;
  readonly node: Node;
  /** It keeps the object and the parents of a snapshot, not what their labels refer to. */
  readonly isFlat: boolean;
}

/** The objects of the kubelet's namespace with what refers to them, by the rules of containerd's collector. */
export class Graph {
  readonly roots: Root[] = [];
  readonly bytes = new Map<Node, number>();
  /** Why the bytes of an object are inexact. */
  readonly doubts = new Map<Node, string>();
  readonly foreignBlobs = new Map<string, number>();
  foreignSnapshotBytes = 0;
  readonly #nowMs: number;
  readonly #links = new Map<Node, Set<Node>>();
  readonly #parents = new Map<Node, Node>();

  constructor(now: Date) {
    this.#nowMs = now.getTime();
  }

  /** Adds the namespace of the kubelet. */
  add(stored: NamespaceStore): void {
    for (const { digest, sizeBytes, labels } of stored.blobs) {
      const node = contentNode(digest);
      this.bytes.set(node, onDisk(sizeBytes));
      this.#read(labels, node);
      this.#holdUntilExpired(labels, node);
    }
    for (const snapshot of stored.snapshots) this.#addSnapshot(snapshot);
    for (const { id, labels, resources } of stored.leases)
      if (!isExpired(labels, this.#nowMs))
        for (const resource of resources) {
          const node = resourceNode(resource.type, resource.id);
          this.roots.push({ kind: 'lease', id, node, isFlat: gcFlat in labels });
        }
    const leased = leasedNodes(stored);
    for (const { ref, receivedBytes, expectedDigest } of stored.ingests) {
      const node = ingestNode(ref);
      this.bytes.set(node, receivedBytes);
      this.#link(node, contentNode(expectedDigest));
      if (!leased.has(node)) this.roots.push({ kind: 'download', id: ref, node, isFlat: false });
    }
    for (const { name, target, labels } of stored.images) {
      const node = imageNode(name);
      this.#link(node, contentNode(target));
      this.#read(labels, node);
      if (!isExpired(labels, this.#nowMs)) this.roots.push({ kind: 'image', id: name, node, isFlat: false });
    }
    for (const { id, labels } of stored.sandboxes) {
      const node = `sandbox ${id}`;
      this.#read(labels, node);
      this.roots.push({ kind: 'sandbox', id, node, isFlat: false });
    }
    for (const { id, snapshotter, snapshotKey, labels } of stored.containers) {
      const node = `container ${id}`;
      this.#link(node, snapshotNode(snapshotter, snapshotKey));
      this.#read(labels, node);
      this.roots.push({ kind: 'container', id, node, isFlat: false });
    }
  }

  /** Adds another namespace: containerd stores a blob once for all of them, and a snapshot for each. */
  addForeign(namespace: string, { blobs, snapshots }: NamespaceStore): void {
    for (const { digest, sizeBytes } of blobs) {
      this.roots.push({ kind: 'namespace', id: namespace, node: contentNode(digest), isFlat: true });
      this.foreignBlobs.set(digest, onDisk(sizeBytes));
    }
    for (const { sizeBytes } of snapshots)
      if (sizeBytes !== 'unknown') this.foreignSnapshotBytes += sizeBytes;
  }

  /** What these roots keep, and by which of them: images and containers last, because others keep what is left of theirs. */
  held(isCounted: (root: Root) => boolean): ReadonlyMap<Node, string> {
    const held = new Map<Node, string>();
    for (const root of this.roots.filter(isCounted).toSorted(byRank))
      for (const reached of this.reach([root.node], root.isFlat))
        if (!held.has(reached)) held.set(reached, `${root.kind} ${root.id}`);
    return held;
  }

  /** `isFlat`: only the parents of snapshots. */
  reach(from: readonly Node[], isFlat = false): ReadonlySet<Node> {
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
    if (sizeBytes !== 'unknown') this.bytes.set(node, sizeBytes);
    else if (kind === 'committed') this.doubts.set(node, 'the size of a layer is unknown');
    if (!exactSnapshotters.includes(snapshotter))
      this.doubts.set(node, `the snapshotter ${snapshotter} does not measure whole layers`);
    this.#read(labels, node);
    this.#holdUntilExpired(labels, node);
  }

  #read(labels: Labels, node: Node): void {
    for (const [key, value] of Object.entries(labels)) {
      const [, direction, type, snapshotter] = reference.exec(key) ?? [];
      const other = snapshotter === undefined ? `${type} ${value}` : snapshotNode(snapshotter, value);
      if (direction === 'ref') this.#link(node, other);
      else if (direction === 'bref') this.#link(other, node);
      else if (key === gcRoot) this.roots.push({ kind: 'label', id: gcRoot, node, isFlat: false });
      else if (key !== gcExpire && key.startsWith('containerd.io/gc.'))
        this.doubts.set(node, `dustpan does not know the label ${key}`);
    }
  }

  /** Of blobs and snapshots, which are no roots without it. */
  #holdUntilExpired(labels: Labels, node: Node): void {
    if (gcExpire in labels && !isExpired(labels, this.#nowMs))
      this.roots.push({ kind: 'label', id: gcExpire, node, isFlat: false });
  }

  #link(from: Node, to: Node): void {
    this.#links.set(from, (this.#links.get(from) ?? new Set()).add(to));
  }
}

export function graphOf(store: ContainerdStore, now: Date): Graph {
  const graph = new Graph(now);
  for (const [namespace, stored] of store) {
    if (namespace === kubernetesNamespace) graph.add(stored);
    else graph.addForeign(namespace, stored);
  }
  return graph;
}

/** Everything that a lease lists, expired or not. */
export const leasedNodes = ({ leases }: NamespaceStore): ReadonlySet<Node> =>
  new Set(leases.flatMap(({ resources }) => resources.map(({ type, id }) => resourceNode(type, id))));

/** Unix milliseconds; undefined = it does not expire: containerd ignores what Go does not parse as RFC 3339, such as lower case and 24:00. */
export function expiryOf(labels: Labels): number | undefined {
  const text = labels[gcExpire] ?? '';
  return /[tz]|T24/.test(text) ? undefined : parseRfc3339(text);
}

export const isExpired = (labels: Labels, nowMs: number): boolean => (expiryOf(labels) ?? Infinity) < nowMs;

const rankOf = ({ kind }: Root): number => (kind === 'container' ? 2 : kind === 'image' ? 1 : 0);
const byRank = (a: Root, b: Root): number => rankOf(a) - rankOf(b);

/** A file takes whole blocks: 4 KiB on the usual file systems. */
export const onDisk = (sizeBytes: number): number => Math.ceil(sizeBytes / 4096) * 4096;
