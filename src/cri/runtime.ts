export interface RuntimeImage {
  /** Content digest of the image's configuration, e.g. `sha256:…`; names and repo digests refer to it. */
  readonly id: string;
  /** Full references with a tag; the runtime may list one id more than once. */
  readonly tags: readonly string[];
  /** Full references with a digest; empty for an imported image. */
  readonly digests: readonly string[];
  /** Size by the runtime: containerd reports the compressed size, about half of the space that a removal frees; 0 = unknown. */
  readonly sizeBytes: number;
  readonly pinned: boolean;
  /** '' = the default handler. */
  readonly runtimeHandler: string;
}

export type ContainerState = 'Created' | 'Running' | 'Exited' | 'Unknown';
export type SandboxState = 'Ready' | 'NotReady';

/** Labels or annotations, only those that dustpan reads. */
type Texts = Readonly<Record<string, string>>;

export interface RuntimeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly attempt: number;
  /** The resolved image of the container; '' = not reported (CRI before 1.30). */
  readonly imageId: string;
  /** The resolved image in the older field: an id, or a reference with a digest. */
  readonly imageRef: string;
  readonly state: ContainerState;
  /** Unix nanoseconds, exact. */
  readonly createdAtNs: bigint;
  readonly labels: Texts;
  readonly annotations: Texts;
}

export interface RuntimeSandbox {
  readonly id: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly podUid: string;
  readonly attempt: number;
  readonly state: SandboxState;
  /** Unix nanoseconds, exact. */
  readonly createdAtNs: bigint;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly runtimeHandler: string;
}

export interface RuntimeContainerStatus {
  readonly id: string;
  readonly state: ContainerState;
  /** '' = no log. */
  readonly logPath: string;
  /** Unix nanoseconds, exact; 0 = not finished. */
  readonly finishedAtNs: bigint;
  readonly exitCode: number;
  readonly mountedImages: readonly string[];
}

export interface RuntimeContainerStats {
  readonly id: string;
  readonly labels: Texts;
  /** undefined = unknown, perhaps not measured yet. */
  readonly writableLayerBytes: number | undefined;
  readonly writableLayerInodes: number | undefined;
}

export interface RuntimeVersion {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
}

/** What shows whose runtime it is. */
export interface RuntimeIdentity {
  readonly version: RuntimeVersion;
  readonly sandboxes: readonly RuntimeSandbox[];
}

export interface RuntimeFileSystem {
  readonly mountpoint: string;
  /** Usage of its snapshots, without the compressed blobs; 0 = unknown (CRI-O). */
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

export interface RuntimeFileSystems {
  readonly images: readonly RuntimeFileSystem[];
  readonly containers: readonly RuntimeFileSystem[];
}

/**
 * The container runtime of this node. Every call has its own deadline and ends early when the signal aborts; a failed call throws
 * RuntimeError. Removing an absent object succeeds.
 */
export interface ContainerRuntime {
  version(signal: AbortSignal): Promise<RuntimeVersion>;
  /** Throws RuntimeError if the runtime reports that it is not ready (`unavailable`): its lists may be incomplete; or if it is not the kubelet's (`foreign`). */
  checkReady(signal: AbortSignal): Promise<void>;
  /** Reference of the sandbox image; undefined = not reported (containerd 2). */
  sandboxImage(signal: AbortSignal): Promise<string | undefined>;
  listImages(signal: AbortSignal): Promise<readonly RuntimeImage[]>;
  /** undefined = no such image. */
  imageStatus(reference: string, signal: AbortSignal): Promise<RuntimeImage | undefined>;
  /** Removes an image with all its names. containerd removes it even if a container uses it; CRI-O refuses. */
  removeImage(id: string, signal: AbortSignal): Promise<void>;
  /** containerd measures every ten seconds, so this does not show the space that a removal freed. */
  fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems>;
  listContainers(signal: AbortSignal): Promise<readonly RuntimeContainer[]>;
  /** undefined = no such container. */
  containerStatus(id: string, signal: AbortSignal): Promise<RuntimeContainerStatus | undefined>;
  stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void>;
  /** The runtime kills a running container: the caller must check first. `gone`: another client has removed it, or does so now. */
  removeContainer(id: string, signal: AbortSignal): Promise<'removed' | 'gone'>;
  listSandboxes(signal: AbortSignal): Promise<readonly RuntimeSandbox[]>;
  /** undefined = no such sandbox. */
  sandboxStatus(id: string, signal: AbortSignal): Promise<Pick<RuntimeSandbox, 'id' | 'state'> | undefined>;
  stopSandbox(id: string, signal: AbortSignal): Promise<void>;
  /** The runtime kills and removes its containers, ready or not: the caller must check first. */
  removeSandbox(id: string, signal: AbortSignal): Promise<void>;
  /** Statistics of all containers, also of exited ones. */
  containerStats(signal: AbortSignal): Promise<readonly RuntimeContainerStats[]>;
}

/** `unavailable`: not running or not ready; `deadline`: no response in time; `denied`: no permission; `foreign`: it is not the kubelet's. */
export type RuntimeFailure = 'unavailable' | 'deadline' | 'denied' | 'foreign' | 'other';

/** A failed call to the runtime; the message names the call and the socket, in one line. */
export class RuntimeError extends Error {
  readonly failure: RuntimeFailure;

  constructor(message: string, failure: RuntimeFailure, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RuntimeError';
    this.failure = failure;
  }
}
