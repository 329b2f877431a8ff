/** The namespace that containerd's CRI, and so the kubelet, uses. */
export const kubernetesNamespace = 'k8s.io';

/** A time, in RFC 3339: the object is no root of the collector after it. */
export const gcExpire = 'containerd.io/gc.expire';
/** The collector keeps the object. */
export const gcRoot = 'containerd.io/gc.root';

/** The labels that are read: those of the collector, of downloads, of CRI, of dustpan, and of k3s, which pins images too. */
export const labelPrefixes: readonly string[] = [
  'containerd.io/gc.',
  'containerd.io/distribution.source.',
  'io.cri-containerd.',
  'gc.dustpan.dev/',
  'io.cattle.k3s.',
];

export type Labels = Readonly<Record<string, string>>;

/** A name of an image; one image of the kubelet has several. */
export interface ImageName {
  readonly name: string;
  /** The digest of its manifest or index. */
  readonly target: string;
  readonly labels: Labels;
}

/** What a manifest refers to. */
export interface Layer {
  readonly digest: string;
  readonly sizeBytes: number;
}

/** A packed layer, a manifest, an index or a configuration. */
export interface Blob {
  readonly digest: string;
  readonly sizeBytes: number;
  /** 0 or less = unknown. */
  readonly createdAtSeconds: number;
  readonly labels: Labels;
  /** Of a manifest that a lease keeps, as a pull does; undefined = not read. */
  readonly layers?: readonly Layer[];
}

/** An unpacked layer, or the writable layer of a container. */
export interface Snapshot {
  readonly snapshotter: string;
  /** Committed: the chain ID of the layer; active: mostly the id of a container or sandbox. */
  readonly name: string;
  /** '' = none. */
  readonly parent: string;
  readonly kind: 'committed' | 'other';
  /** 0 or less = unknown. */
  readonly createdAtSeconds: number;
  readonly labels: Labels;
  /** Of a committed one, as measured when it was unpacked; unknown: the runtime could not say, or it still changes. */
  readonly sizeBytes: number | 'unknown';
}

interface LeaseResource {
  readonly id: string;
  /** `content`, `ingests`, `images`, or `snapshots/` with the name of the snapshotter. */
  readonly type: string;
}

export interface Lease {
  readonly id: string;
  /** 0 or less = unknown. */
  readonly createdAtSeconds: number;
  readonly labels: Labels;
  readonly resources: readonly LeaseResource[];
}

export interface StoredContainer {
  readonly id: string;
  readonly snapshotter: string;
  readonly snapshotKey: string;
  /** The name of the image that it was made from; '' = none. */
  readonly image: string;
  readonly labels: Labels;
}

/** It keeps only what its labels refer to: CRI sets none, others may. */
export interface StoredSandbox {
  readonly id: string;
  readonly labels: Labels;
}

/** A download that has not ended. */
export interface Ingest {
  readonly ref: string;
  readonly startedAtSeconds: number;
  /** 0 or less = unknown. */
  readonly updatedAtSeconds: number;
  readonly receivedBytes: number;
  /** 0 = unknown. */
  readonly totalBytes: number;
  /** '' = unknown. */
  readonly expectedDigest: string;
}

/** What containerd keeps in one of its namespaces. */
export interface NamespaceStore {
  readonly images: readonly ImageName[];
  readonly blobs: readonly Blob[];
  readonly snapshots: readonly Snapshot[];
  readonly leases: readonly Lease[];
  readonly containers: readonly StoredContainer[];
  readonly sandboxes: readonly StoredSandbox[];
  readonly ingests: readonly Ingest[];
}

/** By namespace; `k8s.io` is the kubelet's. */
export type ContainerdStore = ReadonlyMap<string, NamespaceStore>;
