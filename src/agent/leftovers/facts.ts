/**
 * Download: of a pull that was interrupted. Lease: of no sandbox, and without an expiry. Snapshot: writable, and of no container. Content: layers
 * and packed blobs that nothing else keeps.
 */
export type LeftoverKind = 'Download' | 'Lease' | 'Snapshot' | 'Content';

/** Something that containerd keeps in the kubelet's namespace, and that no image, container or sandbox needs. */
export interface Leftover {
  readonly kind: LeftoverKind;
  /** `lease ID`, `ingest REF`, `snapshot SNAPSHOTTER/KEY`, `content DIGEST`, or `unreferenced`. */
  readonly id: string;
  /** The repository of its image, if a blob has it; else the id without its kind. */
  readonly name: string;
  /** What keeps it, e.g. `lease 123`; `nothing`: containerd deletes it when its collector runs. */
  readonly holder: string;
  /** The newest of the times of the lease, its downloads, blobs and snapshots. */
  readonly sinceMs: number;
  /** What its removal frees after those before it are removed. */
  readonly bytes: number;
  /** Whether a part of the bytes is unknown. */
  readonly isLowerBound: boolean;
}

/** What another client of containerd keeps; blobs that the kubelet's namespace has too do not count. */
export interface NamespaceBytes {
  readonly name: string;
  readonly bytes: number;
  /** The sizes of writable layers are unknown. */
  readonly isLowerBound: boolean;
}

/** Directories of snapshots compared with snapshots; both are lower bounds. */
export interface DirectoryCounts {
  readonly withoutSnapshot: number;
  readonly missing: number;
}

/** Why the leftovers are not known. */
export interface UnknownLeftovers {
  readonly unknown: string;
}

export interface LeftoverInventory {
  readonly at: Date;
  readonly leftovers: readonly Leftover[];
  readonly namespaces: readonly NamespaceBytes[];
  /** undefined = not counted in two passes, or not readable. */
  readonly directories: DirectoryCounts | undefined;
}
