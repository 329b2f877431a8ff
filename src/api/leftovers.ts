/**
 * Download: of a pull that was interrupted. Lease: of no sandbox, and without an expiry. Snapshot: writable, and of no container. Content: layers
 * and packed blobs that nothing else keeps.
 */
export const leftoverKinds = ['Download', 'Lease', 'Snapshot', 'Content'] as const;
export type LeftoverKind = (typeof leftoverKinds)[number];

/** Something that containerd keeps in the kubelet's namespace, and that no image, container or sandbox needs. */
export interface Leftover {
  readonly kind: LeftoverKind;
  /** `lease ID`, `ingest REF`, `snapshot SNAPSHOTTER/KEY`, `content DIGEST`, or `unreferenced`. */
  readonly id: string;
  /** The repository of its image, if a blob has it; else the id without its kind. */
  readonly name: string;
  /** What keeps it, e.g. `lease 123`; `nothing`: containerd deletes it when its collector runs. */
  readonly holder: string;
  /** The newest of the times of the lease, its downloads, blobs and snapshots; undefined = one of them is unknown. */
  readonly sinceMs: number | undefined;
  /** What its removal frees after those before it are removed; less if one of them stays that shares bytes. */
  readonly bytes: number;
  /** Whether a part of the bytes is unknown. */
  readonly isLowerBound: boolean;
  /** The sizes of what it keeps: a client works on a leftover whose progress differs. undefined = unknown. */
  readonly progress: string | undefined;
  /** Why it is never removed; undefined = it may be. */
  readonly obstacle: LeftoverObstacle | undefined;
}

/** HeldByOther: another client keeps it on purpose. SandboxUnknown: the name of the lease may be that of a sandbox. */
export const leftoverObstacles = ['HeldByOther', 'SandboxUnknown'] as const;
export type LeftoverObstacle = (typeof leftoverObstacles)[number];
