/** The units of the agent, by the names they have in reports, metrics and `plan`. */
export type NodeUnit = 'imagegc' | 'containergc' | 'localstorage';

/**
 * How a pass of the agent ended: Idle had nothing to do, Succeeded did all there was to do (in DryRun: counted it), Short did what it could
 * but needed more, Failed met an error, Unknown could not decide.
 */
type NodePassResult = 'Idle' | 'Succeeded' | 'Short' | 'Failed' | 'Unknown';

/** What one pass of one unit of the agent did: the facts its report is made of. */
export interface NodePassReport {
  readonly unit: NodeUnit;
  readonly at: Date;
  readonly result: NodePassResult;
  readonly removed: number;
  /** Measured where it can be, else nominal. */
  readonly freedBytes: number;
  /** Removals that failed. */
  readonly errors: number;
  /** The last error, in one line. */
  readonly message: string | undefined;
}

/** One thing that takes space, for the ten largest of the report. */
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

/** What imagegc saw in its last pass. */
export interface ImageInventory {
  readonly total: CountAndBytes;
  readonly inUse: CountAndBytes;
  readonly pinned: CountAndBytes;
  readonly kept: CountAndBytes;
  readonly removable: CountAndBytes;
  readonly disk: ImageDisk | undefined;
  /** Largest first, at most ten. */
  readonly offenders: readonly Offender[];
}

export interface ImageDisk {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedPercent: number;
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
}

/** What containergc saw in its last pass. */
export interface ContainerInventory {
  readonly containers: { readonly total: number; readonly removable: number };
  readonly sandboxes: { readonly total: number; readonly removable: number };
  readonly logs: { readonly bytes: number; readonly removableBytes: number };
  /** Largest first, at most ten. */
  readonly offenders: readonly Offender[];
}

/** A pod of this node as the API server has it: what it takes to know what it uses and whether it is gone. Times are Unix milliseconds. */
export interface NodePod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly phase: string;
  /** Its phase is Failed with reason Evicted: the kubelet has evicted it and keeps nothing of it. */
  readonly evicted: boolean;
  /** The end of its grace period; undefined = nobody has deleted it. */
  readonly deletionAtMs: number | undefined;
  /** The UID of the static pod that this pod mirrors: its containers carry it. undefined = an ordinary pod. */
  readonly configHash: string | undefined;
  /** The label gc.dustpan.dev/keep is "true" on the pod, or it has more containers or volumes than are read. */
  readonly keepMarked: boolean;
  /** As written in the spec: containers, init and ephemeral containers, image volumes. undefined = more than are read: any image may be one of them. */
  readonly images: readonly string[] | undefined;
}
