/** An image as the runtime lists it. */
export interface RuntimeImage {
  /** The content digest of the image's configuration, e.g. `sha256:…`; names and repo digests point at it. */
  readonly id: string;
  /** Whole references with a tag; the runtime may list one id more than once. */
  readonly tags: readonly string[];
  /** Whole references with a digest; empty for an image that was imported. */
  readonly digests: readonly string[];
  /** As the runtime counts it: containerd gives the packed size, about half of what comes free. */
  readonly sizeBytes: number;
  /** The runtime's own mark: never to be removed. */
  readonly pinned: boolean;
  /** '' = the default handler. */
  readonly runtimeHandler: string;
}

/** A state that we do not know counts as Unknown. */
export type ContainerState = 'Created' | 'Running' | 'Exited' | 'Unknown';
/** A state that we do not know counts as Ready: what is ready is kept. */
export type SandboxState = 'Ready' | 'NotReady';

/** Labels or annotations: those that are read, no others. */
type Texts = Readonly<Record<string, string>>;

/** A container as the runtime lists it. */
export interface RuntimeContainer {
  readonly id: string;
  readonly sandboxId: string;
  /** Of its metadata: the name in the pod and the attempt, from 0. */
  readonly name: string;
  readonly attempt: number;
  /** The image it was made from, as resolved by the runtime; '' where the runtime does not say (CRI before 1.30). */
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

/** What one more question about a container tells. */
export interface RuntimeContainerStatus {
  readonly id: string;
  readonly state: ContainerState;
  /** '' = it has no log. */
  readonly logPath: string;
  /** Unix nanoseconds, exact; 0 = not finished. */
  readonly finishedAtNs: bigint;
  readonly exitCode: number;
  /** Ids or references of images that are mounted into it. */
  readonly mountedImages: readonly string[];
}

/** Disk use of a container's writable layer. */
export interface RuntimeContainerStats {
  readonly id: string;
  readonly labels: Texts;
  /** undefined = the runtime does not know (yet). */
  readonly writableLayerBytes: number | undefined;
  readonly writableLayerInodes: number | undefined;
}

export interface RuntimeVersion {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
}

/** A file system that holds images or writable layers. */
export interface RuntimeFileSystem {
  readonly mountpoint: string;
  /** Of its snapshots, without the packed blobs. */
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

export interface RuntimeFileSystems {
  readonly images: readonly RuntimeFileSystem[];
  readonly containers: readonly RuntimeFileSystem[];
}

/**
 * The container runtime of this node. Every call has a deadline of its own and ends early with the signal; a failed one throws RuntimeError.
 * What is removed already counts as removed.
 */
export interface ContainerRuntime {
  version(signal: AbortSignal): Promise<RuntimeVersion>;
  /** Throws RuntimeError (`unavailable`) while the runtime reports that it is not ready: its lists may then be incomplete. */
  checkReady(signal: AbortSignal): Promise<void>;
  /** The reference of the image that it makes sandboxes from; undefined = the runtime does not report it (containerd 2). */
  sandboxImage(signal: AbortSignal): Promise<string | undefined>;
  listImages(signal: AbortSignal): Promise<readonly RuntimeImage[]>;
  /** undefined = there is no such image. */
  imageStatus(reference: string, signal: AbortSignal): Promise<RuntimeImage | undefined>;
  /** The diff IDs of its layers, lowest first; undefined = the runtime does not say, or there is no such image. */
  imageLayers(id: string, signal: AbortSignal): Promise<readonly string[] | undefined>;
  /** By id: all of its names go. containerd obeys even while a container uses it; CRI-O refuses. */
  removeImage(id: string, signal: AbortSignal): Promise<void>;
  /** containerd counts every ten seconds: no measure of what a removal freed. */
  fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems>;
  listContainers(signal: AbortSignal): Promise<readonly RuntimeContainer[]>;
  /** undefined = there is no such container. */
  containerStatus(id: string, signal: AbortSignal): Promise<RuntimeContainerStatus | undefined>;
  stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void>;
  /** A runtime kills what still runs: the caller has looked. */
  removeContainer(id: string, signal: AbortSignal): Promise<void>;
  listSandboxes(signal: AbortSignal): Promise<readonly RuntimeSandbox[]>;
  /** undefined = there is no such sandbox. */
  sandboxStatus(id: string, signal: AbortSignal): Promise<Pick<RuntimeSandbox, 'id' | 'state'> | undefined>;
  stopSandbox(id: string, signal: AbortSignal): Promise<void>;
  /** A runtime kills what still runs in it, ready or not, and removes its containers: the caller has looked. */
  removeSandbox(id: string, signal: AbortSignal): Promise<void>;
  /** Of all containers, those that have ended too. */
  containerStats(signal: AbortSignal): Promise<readonly RuntimeContainerStats[]>;
}

/** What callers tell apart: a runtime that is away or not ready, one that hangs, one that refuses. */
export type RuntimeFailure = 'unavailable' | 'deadline' | 'denied' | 'other';

/** A call to the runtime that failed; the message names the call and the socket, in one line. */
export class RuntimeError extends Error {
  readonly failure: RuntimeFailure;

  constructor(message: string, failure: RuntimeFailure, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RuntimeError';
    this.failure = failure;
  }
}
