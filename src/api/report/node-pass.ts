import type { NodeGCReportStatus } from '../gen/nodegcreport.gen.ts';
import type { Policy } from '../policy/policy.ts';
import type { PodRef } from '../pod-ref.ts';

/** The units of the agent, by their names in reports, metrics and `plan`. */
export type NodeUnit = 'imagegc' | 'containergc' | 'localstorage' | 'nodepressure';

/**
 * The result of a pass of the agent. Idle: nothing was due. Succeeded: everything due is done (in DryRun: counted). Short: everything possible
 * is done, but more was needed. Failed: an error occurred. Unknown: the unit could not decide.
 */
type NodePassResult = 'Idle' | 'Succeeded' | 'Short' | 'Failed' | 'Unknown';

/** The facts of one pass of one unit, for the report. */
export interface NodePassReport {
  readonly unit: NodeUnit;
  readonly at: Date;
  readonly result: NodePassResult;
  readonly removed: number;
  /** Measured where possible, else nominal. */
  readonly freedBytes: number;
  /** Number of failed removals. */
  readonly errors: number;
  /** The last error, in one line. */
  readonly message: string | undefined;
}

/** What uses the disks of a node, in its report. */
export type NodeUsage = NonNullable<NodeGCReportStatus['usage']>;

/** One of the largest users of space, for the report. */
export interface Offender {
  readonly kind: 'Image' | 'Container' | 'Sandbox' | 'LogDirectory' | 'LogFile' | 'Pod' | 'Volume';
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly bytes: number;
  /** The reason code of its verdict. */
  readonly reason: string | undefined;
}

export interface CountAndBytes {
  readonly count: number;
  readonly bytes: number;
}

/** The images in the last pass of imagegc. */
export interface ImageInventory {
  readonly total: CountAndBytes;
  readonly inUse: CountAndBytes;
  readonly pinned: CountAndBytes;
  readonly kept: CountAndBytes;
  readonly removable: CountAndBytes;
  /** Images that nothing uses or protects. */
  readonly collectable: CountAndBytes;
  /** Largest first, at most 64. */
  readonly listed: readonly ListedImage[];
  readonly disk: ImageDisk | undefined;
  /** The large removal by new rules that waits; undefined = none. */
  readonly held?: HeldImages | undefined;
  /** The entries of nodes.imageGC.remove that have not ended; undefined = none. */
  readonly removeList?: readonly RemoveProgress[] | undefined;
  /** undefined = no rule applies. */
  readonly unmatched?:
    (UnmatchedEntries & { readonly policy: Pick<Policy, 'uid' | 'generation'> }) | undefined;
  /** Largest first, at most ten. */
  readonly offenders: readonly Offender[];
}

/** Entries of nodes.imageGC that match no image of a node, by their indexes in the lists. */
export interface UnmatchedEntries {
  readonly keep: readonly number[];
  readonly only: readonly number[];
  readonly maximumAgeByImage: readonly number[];
}

export interface ListedImage {
  readonly id: string;
  /** A tag, else a digest; undefined = it has none. */
  readonly name: string | undefined;
  readonly bytes: number;
  readonly inUse: boolean;
  /** A pin or the policy protects it. */
  readonly isKept: boolean;
  /** When it was last used; if never, when it was first seen; undefined = it is in use. */
  readonly unusedSince: string | undefined;
}

/** An entry of nodes.imageGC.remove, and how many images that it matches are left. */
export interface RemoveProgress {
  readonly image: string;
  /** Whether it has matched an image of the node, also one that is removed by now; false also after a restart of the agent. */
  readonly matched: boolean;
  readonly inUse: number;
  /** Left for another reason. */
  readonly kept: number;
  /** Images without a tag of a repository of which the entry names a tag: a newer image may have taken it. */
  readonly untagged: number;
}

export interface HeldImages {
  readonly due: number;
  /** Images that nothing but the disk usage, their age or a limit keeps. */
  readonly unused: number;
  readonly until: Date;
}

/** The kinds of objects, other than images, that dustpan removes from a node. */
export type RemovedKind =
  'Container' | 'Sandbox' | 'LogDirectory' | 'LogLink' | 'LogFile' | 'PodDirectory' | 'PodCgroup';

/** An object that dustpan removed from a node, for the report and for `why`. */
export interface RemovedObject<K extends RemovedKind | 'Image' = RemovedKind | 'Image'> {
  readonly kind: K;
  /** Its id or its path; of an image, its id or one of its repository digests. */
  readonly id: string;
  /** Of a container its name, of an image a tag or else a digest; undefined = it had none. */
  readonly name: string | undefined;
  /** undefined = unknown. */
  readonly pod: PodRef | undefined;
  /** '' = an older agent recorded the removal. */
  readonly reason: string;
  /** The policy that governed the node; '' = an older agent recorded the removal. */
  readonly policy: string;
  /** Bytes of the files that were removed; undefined = none or unknown. */
  readonly bytes: number | undefined;
  readonly atMs: number;
}

/** The objects that an agent removed last, newest first. A pass that cannot observe the node changes neither list. */
export interface LastRemoved {
  /** At most ten, of the last day. */
  readonly images: readonly RemovedObject<'Image'>[];
  /** Since the agent started, `lastOfEach`; the report continues the list of the agent before. */
  readonly others: readonly RemovedObject<RemovedKind>[];
}

/** The first ten containers and sandboxes, and the first ten others: many logs must not displace containers. */
export function lastOfEach<T extends { readonly kind: RemovedKind }>(removed: readonly T[]): T[] {
  const isContainer = ({ kind }: T): boolean => kind === 'Container' || kind === 'Sandbox';
  const containers = removed.filter(isContainer).slice(0, 10);
  const others = removed.filter((one) => !isContainer(one)).slice(0, 10);
  return removed.filter((one) => containers.includes(one) || others.includes(one));
}

/** Called at the end of a pass. `inventory` undefined = the node could not be observed. */
export type OnPass<I, K extends RemovedKind | 'Image'> = (
  report: NodePassReport,
  inventory: I | undefined,
  lastRemoved: readonly RemovedObject<K>[],
) => void;

/** An image that dustpan removed, as the state file records it. */
export interface RemovedImage {
  /** Its id or one of its repository digests. */
  readonly digest: string;
  readonly atMs: number;
  /** undefined = an older agent recorded the removal. */
  readonly what?: {
    /** A tag, else a digest; undefined = it had none. */
    readonly name: string | undefined;
    readonly reason: string;
    /** The policy that governed the node. */
    readonly policy: string;
  };
}

/** The usage of the image file system. Inodes are undefined where nobody counts them. */
export interface DiskSpace {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes?: number | undefined;
  readonly inodesFree?: number | undefined;
  /** Bytes of the layers of all images together, unpacked, as the runtime counts them; 0 or undefined = unknown. */
  readonly usedBytes?: number | undefined;
  /** Inodes of all images together, as the runtime counts them. */
  readonly inodesUsed?: number | undefined;
}

export interface ImageDisk extends DiskSpace {
  readonly usedPercent: number;
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
}

/** Places of a node with resources of pods. */
export const orphanPlaces = ['podDirectories', 'logDirectories', 'podCgroups'] as const;
export type OrphanPlace = (typeof orphanPlaces)[number];

/** Resources of pods that neither the API server nor the runtime knows, as the report has them. */
export interface OrphanCount extends NonNullable<
  NonNullable<NodeGCReportStatus['orphans']>['podDirectories']
> {
  readonly count: number;
  readonly bytes: number;
  /** The policy removes them, but the agent has the place mounted read-only. */
  readonly isReadOnly: boolean;
}

/** A place that was not searched is undefined. */
export type OrphanInventory = Readonly<Record<OrphanPlace, OrphanCount | undefined>>;

/** The containers, sandboxes and logs in the last pass of containergc. */
export interface ContainerInventory {
  readonly containers: { readonly total: number; readonly removable: number };
  readonly sandboxes: { readonly total: number; readonly removable: number };
  /** undefined = they could not be listed. */
  readonly logs: { readonly bytes: number; readonly removableBytes: number } | undefined;
  /** undefined = not searched in this pass. */
  readonly orphans: OrphanInventory | undefined;
  /** Largest first, at most ten. */
  readonly offenders: readonly Offender[];
}

/** A pod of this node as the API server stores it: the facts that show what it uses and whether it still exists. Times are Unix milliseconds. */
export interface NodePod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly phase: string;
  /** Its phase is Failed with reason Evicted: the kubelet has evicted it and removes all of it. */
  readonly evicted: boolean;
  /** The end of its grace period; undefined = it is not being deleted. */
  readonly deletionAtMs: number | undefined;
  /** The UID of the static pod that this pod mirrors; its containers have it as a label. undefined = an ordinary pod. */
  readonly configHash: string | undefined;
  /** Opted out: by the label gc.dustpan.dev/keep, or the pod has more containers or volumes than are read. */
  readonly isOptedOut: boolean;
  /** References as written in the spec: containers, init and ephemeral containers, image volumes. undefined = too many to store: any image may be one of them. */
  readonly images: readonly string[] | undefined;
}
