/** What a Store keys and a Reflector compares by; every kind of facts has these. */
export interface Identified {
  readonly uid: string;
  readonly name: string;
  /** Absent on cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly resourceVersion: string;
}

/** The label keys that are kept of an object; the others are dropped while decoding. */
export type LabelKeys = ReadonlySet<string> | 'all';

/** What dustpan keeps of a pod: about 300 bytes instead of the 5 to 60 KB of the whole object. Times are Unix milliseconds. */
export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  /** metadata.generation; 0 = an API server older than 1.33, which does not count it. */
  readonly generation: number;
  readonly createdAtMs: number;
  /** metadata.deletionTimestamp; undefined = not terminating. */
  readonly deletionAtMs: number | undefined;
  readonly deletionGracePeriodSeconds: number | undefined;
  /** Only the labels that a selector or rule reads (`LabelKeys`); shared when empty. */
  readonly labels: Readonly<Record<string, string>>;
  readonly controller: OwnerRef | undefined;
  readonly finalizers: readonly string[];
  /** undefined = not bound to a node. */
  readonly nodeName: string | undefined;
  /** status.startTime is set: a kubelet has accepted the pod, so its node has existed. */
  readonly started: boolean;
  /** As stored; '' when the server gives none. */
  readonly phase: string;
  readonly reason: string;
  /** status.message, cut to 256 characters; kept of terminated pods only. */
  readonly message: string;
  /**
   * When the last container finished; else the last condition change; else the creation. By the clock of the node, and so perhaps before the
   * creation or in the future: then it is no finish time. Kept of terminated pods only, else undefined.
   */
  readonly finishedAtMs: number | undefined;
}

export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface NodeFacts {
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Condition Ready is True. No such condition, False and Unknown are all not ready, as upstream. */
  readonly ready: boolean;
  readonly taintKeys: readonly string[];
}

export interface NamespaceFacts {
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface JobFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  /** A condition Complete or Failed is True. */
  readonly finished: boolean;
}

export interface ReplicaSetFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly controller: OwnerRef | undefined;
}

/** A custom resource: its own adapter reads it. Of its metadata annotations, labels, owners and the like are left out. */
export interface RawFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly resourceVersion: string;
  readonly object: Readonly<Record<string, unknown>>;
}
