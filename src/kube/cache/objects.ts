/** The identity that every kind of facts has: a Store is keyed by it, a Reflector compares it. */
export interface Identified {
  readonly uid: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly resourceVersion: string;
}

/** The label keys that are kept; other labels are dropped while decoding. With the key of the ttl annotation, `CONTAINER_ENDS` or a `ttlRuleKey` among them, that is kept too. */
export type LabelKeys = ReadonlySet<string> | 'all';

/** The facts that dustpan keeps of a pod: about 300 bytes instead of the 5 to 60 KB of the whole object. Times are Unix milliseconds. */
export interface PodFacts extends Identified {
  readonly namespace: string;
  /** metadata.generation; 0 = an API server older than 1.33, which does not set it. */
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
  /** Whether the status proves that its node has existed: a kubelet has accepted the pod (startTime), or a scheduler has bound it (PodScheduled is True). */
  readonly nodeExisted: boolean;
  /** Condition Ready is True; unknown counts as not ready. */
  readonly ready: boolean;
  /** Value as stored; '' if the server sends none. */
  readonly phase: string;
  readonly reason: string;
  /** It is Failed, and the condition DisruptionTarget is True because the kubelet evicted or preempted it, or shut its node down. */
  readonly endedByKubelet: boolean;
  /** It is Failed, and the condition DisruptionTarget is True because a pod garbage collector marked it as an orphan. */
  readonly markedByPodGc: boolean;
  /**
   * How the containers ended that decide about the pod, each end once: of a succeeded pod its main containers; of a failed one the main containers
   * that failed, or if none did the init containers that failed. For people: at most 16, and reasons are cut. Only of finished pods, and only if a policy reads it (`LabelKeys`).
   */
  readonly ends: readonly ContainerEnd[];
  /** The value of the ttl annotation, cut to 63 bytes; only of terminated pods, and only if a policy reads it (`LabelKeys`). */
  readonly ttlAnnotation: string | undefined;
  /**
   * Whether each entry of `pods.terminated.ttlByReason` that was among the `LabelKeys` when the pod was read matches it, by `ttlRuleKey`. An entry that
   * is missing is unknown. Only of terminated pods.
   */
  readonly ttlRules: ReadonlyMap<string, boolean>;
  /** When the pod finished, as its status reports it; undefined = not finished, or unknown. The clock of the node set it (`finishOf`). */
  readonly finishedAtMs: number | undefined;
  /** A time by which the pod has finished, of the API server; only of finished pods whose status does not have a possible time; undefined = unknown. */
  readonly finishedByMs: number | undefined;
  /** Only of pods in phase Pending or Unknown, and only if the status or the metadata has a time. */
  readonly wait: PodWait | undefined;
  /** Only of pods in phase Running whose main containers are not started again (restartPolicy), if some have ended and others run. */
  readonly partlyEnded: PartlyEnded | undefined;
}

/** Why a pod has not started, as the scheduler or the kubelet reports it. */
export interface PodWait {
  /** The newest of the creation, the transitions of all conditions and the ends of init containers: the pod made no progress since. */
  readonly sinceMs: number;
  /** Such as `Unschedulable`, `ImagePullBackOff`, or the condition that is False: `PodReadyToStartContainers`; '' = none is reported. */
  readonly reason: string;
  /** Cut to 256 characters. */
  readonly message: string;
  /** The image of the container that has the reason; '' = no container has it. */
  readonly image: string;
  /** The container that has the reason, or the init container that ended last; '' = none. */
  readonly container: string;
  /** How that init container ended, while no container runs or has a reason of its own; undefined = it has not ended. */
  readonly initEnd: ContainerEnd | undefined;
  /** An init container runs, which is no sidecar: that may take hours. */
  readonly isWorking: boolean;
}

/** The main containers of a running pod that has finished in part, by name. */
interface PartlyEnded {
  readonly ended: readonly string[];
  readonly running: readonly string[];
}

export interface ContainerEnd {
  readonly reason: string;
  readonly exitCode: number;
}

export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface NodeFacts extends Identified {
  readonly labels: Readonly<Record<string, string>>;
  /** Condition Ready is True. No such condition, False and Unknown are all not ready, as upstream. */
  readonly ready: boolean;
  /** When that condition last changed, Unix milliseconds; undefined = the node has none. */
  readonly readyChangedAtMs: number | undefined;
  readonly taintKeys: readonly string[];
  /** Type and version of the kubelet's runtime, such as `containerd://2.1.0`; '' = unknown. */
  readonly containerRuntimeVersion: string;
  /** Pods that it may have, without finished ones; undefined = unknown. */
  readonly podSlots: number | undefined;
}

export interface NamespaceFacts extends Identified {
  readonly labels: Readonly<Record<string, string>>;
}

export interface JobFacts extends ReplicaSetFacts {
  /** A condition Complete or Failed is True. */
  readonly finished: boolean;
}

export interface ReplicaSetFacts extends Identified {
  readonly namespace: string;
  readonly controller: OwnerRef | undefined;
}

/** A custom resource, to be parsed by its consumer. Its annotations, labels, owners and managed fields are dropped. */
export interface RawFacts extends Identified {
  readonly object: Readonly<Record<string, unknown>>;
}
