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
  /** Of them, those that the kubelet may still have to pull: of containers that have not started, unless their policy is Never. undefined = none. */
  readonly awaited?: readonly AwaitedImage[] | undefined;
}

export interface AwaitedImage {
  readonly image: string;
  /** Why its container waits, as the kubelet reports it; '' = it has not reported yet. */
  readonly reason: string;
}
