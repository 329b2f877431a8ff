/** Bytes on the disk that go when the last of these images goes. */
export interface Share {
  /** Ids, in the order of the images that were given. */
  readonly images: readonly string[];
  readonly bytes: number;
  /** Of these, the packed blobs; undefined = not recorded. */
  readonly packedBytes?: number | undefined;
  /** What keeps them when all these images are gone, e.g. `lease 123`, `container 3f…`, `namespace moby`; undefined = nothing. */
  readonly heldBy: string | undefined;
}

export interface ImageBytes {
  /** Unpacked layers and packed blobs that no other image has. */
  readonly unique: number;
  /** Those that another image has too. */
  readonly shared: number;
  /** Of both, the packed blobs. */
  readonly packed: number;
  /** Why its removal may free less or more; undefined = the bytes are exact. */
  readonly inexactBecause: string | undefined;
}

/** The bytes of all images of a node, in a form in which removals can be planned. */
export interface ImageSpace {
  readonly shares: readonly Share[];
  /** By image id. */
  readonly images: ReadonlyMap<string, ImageBytes>;
  /** The images that dustpan alone has pinned in the runtime, by id, each with the policy for which it did. */
  readonly ownPins: ReadonlyMap<string, string>;
  /** The images from which sandboxes run, by id: the next one may need another. */
  readonly sandboxImages: ReadonlySet<string>;
  /** undefined = not recorded. */
  readonly others?: OtherBytes | undefined;
  /** undefined = not recorded. */
  readonly pulls?: readonly StoredPull[] | undefined;
}

/** An image of which the runtime has the manifest, but no name yet: its pull is in progress, or was interrupted. Layers that other images have do not count. */
export interface StoredPull {
  /** Registry and path, as `repositoryOf` returns them. */
  readonly repositories: readonly string[];
  /** Of the manifest, and of the indexes that list it. */
  readonly digests: readonly string[];
  /** Packed layers. */
  readonly totalBytes: number;
  /** Of these, what is on the disk. */
  readonly receivedBytes: number;
  /** Layers that are unpacked already. */
  readonly unpackedBytes: number;
  /** Whether it has received something within a minute. */
  readonly isReceiving: boolean;
  /** IDs of the leases that keep it: each attempt has its own. undefined = not recorded. */
  readonly leaseIds?: readonly string[] | undefined;
}

/** What containerd keeps besides images and containers of the kubelet; bytes of writable layers are not known. */
export interface OtherBytes {
  /** Layers and packed blobs that neither an image nor a container has. */
  readonly leftovers: number;
  /** Those of other namespaces, such as moby, without the blobs that the kubelet's has too. */
  readonly namespaces: number;
}
