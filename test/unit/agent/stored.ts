import type {
  ImageName,
  Labels,
  Lease,
  NamespaceStore,
  StoredContainer,
} from '../../../src/containerd/store.ts';

/** Blocks of 4 KiB. */
export const block = 4096;

type Blob = NamespaceStore['blobs'][number];
type Snapshot = NamespaceStore['snapshots'][number];

export const blob = (digest: string, blocks: number, labels: Labels = {}): Blob => ({
  digest,
  // Not a whole number of blocks.
  sizeBytes: blocks * block - 1,
  createdAtSeconds: 1,
  labels,
});

export const layer = (name: string, blocks: number, parent = '', more: Partial<Snapshot> = {}): Snapshot => ({
  snapshotter: 'overlayfs',
  name,
  parent,
  kind: 'committed',
  createdAtSeconds: 1,
  labels: {},
  sizeBytes: blocks * block,
  ...more,
});

export const name = (of: string, target: string, labels: Labels = {}): ImageName => ({
  name: of,
  target,
  labels,
});
export const lease = (id: string, type: string, resource: string, labels: Labels = {}): Lease => ({
  id,
  createdAtSeconds: 1,
  labels,
  resources: [{ type, id: resource }],
});
export const container = (id: string, snapshotKey: string, labels: Labels = {}): StoredContainer => ({
  id,
  snapshotter: 'overlayfs',
  snapshotKey,
  image: '',
  labels,
});

export const nothing: NamespaceStore = {
  images: [],
  blobs: [],
  snapshots: [],
  leases: [],
  containers: [],
  sandboxes: [],
  ingests: [],
};
