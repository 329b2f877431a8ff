import { BoundedReader } from '../runtime/bounded-reader.ts';
import type { Method } from './call.ts';
import { CriConnection } from './connection.ts';
import type { CriCall, OnCall } from './connection.ts';
import {
  assertReady,
  toContainer,
  toContainerStatus,
  toFileSystems,
  toImage,
  toSandbox,
  toSandboxImage,
  toSandboxStatus,
  toStats,
  toVersion,
} from './convert.ts';
import { isBeingRemoved, isNotFound } from './failure.ts';
import { ImageServiceDefinition, RuntimeServiceDefinition } from './gen/cri.ts';
import type { Container, Image, ImageSpec } from './gen/cri.ts';
import { RuntimeError } from './runtime.ts';
import type {
  ContainerRuntime,
  RuntimeContainer,
  RuntimeContainerStats,
  RuntimeContainerStatus,
  RuntimeFileSystems,
  RuntimeIdentity,
  RuntimeImage,
  RuntimeSandbox,
  RuntimeVersion,
} from './runtime.ts';

interface CriOptions {
  /** Path of the runtime's socket, without a scheme. */
  readonly socket: string;
  /** Deadline of lists (of a stream as a whole), stops and removals; default 2 min, like the kubelet. A stop gets the container's grace period on top. */
  readonly deadlineMs?: number;
  /** Deadline of status queries, which a runtime serves from memory; default 10 s. */
  readonly statusDeadlineMs?: number;
  readonly onCall?: OnCall;
  /** Why the runtime is not the kubelet's; undefined = it is. Called by `checkReady`; default: not checked. */
  readonly foreignBecause?: (identity: RuntimeIdentity) => string | undefined;
}

/** A node has hundreds; 80 000 would need more than the memory of an agent. */
const maxImageNames = 20_000;
/** The kubelet sends this version too; runtimes ignore it. */
const kubeletApiVersion = '0.1.0';

const runtime = RuntimeServiceDefinition;
const images = ImageServiceDefinition;

/** The container runtime behind a unix socket; `close` breaks calls in progress. */
export function criRuntime(options: CriOptions): ContainerRuntime & { close(): void } {
  return new CriClient(options);
}

class CriClient implements ContainerRuntime {
  readonly #options: Pick<CriOptions, 'socket' | 'foreignBecause'>;
  readonly #connection: CriConnection;
  readonly #deadlineMs: number;
  readonly #statusDeadlineMs: number;

  constructor(options: CriOptions) {
    const { socket, deadlineMs = 120_000, statusDeadlineMs = 10_000, onCall = () => undefined } = options;
    this.#options = options;
    this.#connection = new CriConnection(socket, onCall);
    this.#deadlineMs = deadlineMs;
    this.#statusDeadlineMs = statusDeadlineMs;
  }

  close(): void {
    this.#connection.close();
  }

  version(signal: AbortSignal): Promise<RuntimeVersion> {
    return this.#query([runtime, runtime.methods.version, toVersion], { version: kubeletApiVersion }, signal);
  }

  async checkReady(signal: AbortSignal): Promise<void> {
    await this.#query([runtime, runtime.methods.status, assertReady], { verbose: false }, signal);
    const { foreignBecause, socket } = this.#options;
    if (foreignBecause === undefined) return;
    const identity = { version: await this.version(signal), sandboxes: await this.listSandboxes(signal) };
    const why = foreignBecause(identity);
    if (why !== undefined)
      throw new RuntimeError(`the container runtime at ${socket} is not the kubelet's: ${why}`, 'foreign');
  }

  sandboxImage(signal: AbortSignal): Promise<string | undefined> {
    return this.#query([runtime, runtime.methods.status, toSandboxImage], { verbose: true }, signal);
  }

  listImages(signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    let names = 0;
    const convert = (list: { readonly images: readonly Image[] }): readonly RuntimeImage[] => {
      for (const { repoTags, repoDigests } of list.images) names += 1 + repoTags.length + repoDigests.length;
      if (names > maxImageNames)
        throw new Error(
          `it lists more than ${maxImageNames} ids and names of images: remove some on the node`,
        );
      return list.images.map(toImage);
    };
    return this.#connection.list(
      [images, images.methods.streamImages, convert],
      [images, images.methods.listImages, convert],
      this.#deadlineMs,
      signal,
    );
  }

  imageStatus(reference: string, signal: AbortSignal): Promise<RuntimeImage | undefined> {
    return this.#find(
      [images, images.methods.imageStatus, ({ image }) => image && toImage(image)],
      { image: imageSpec(reference), verbose: false },
      signal,
    );
  }

  removeImage(id: string, signal: AbortSignal): Promise<void> {
    return this.#end([images, images.methods.removeImage, nothing], { image: imageSpec(id) }, signal);
  }

  fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems> {
    return this.#run([images, images.methods.imageFsInfo, toFileSystems], {}, signal);
  }

  listContainers(signal: AbortSignal): Promise<readonly RuntimeContainer[]> {
    const { streamContainers, listContainers } = runtime.methods;
    const convert = ({ containers }: { readonly containers: readonly Container[] }) =>
      containers.map(toContainer);
    return this.#connection.list(
      [runtime, shortTexts(streamContainers), convert],
      [runtime, shortTexts(listContainers), convert],
      this.#deadlineMs,
      signal,
    );
  }

  containerStatus(containerId: string, signal: AbortSignal): Promise<RuntimeContainerStatus | undefined> {
    return this.#find(
      [runtime, runtime.methods.containerStatus, ({ status }) => toContainerStatus(present(status))],
      { containerId },
      signal,
    );
  }

  stopContainer(containerId: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const request = { containerId, timeout: BigInt(timeoutSeconds) };
    const deadlineMs = this.#deadlineMs + timeoutSeconds * 1000;
    const stop = [runtime, runtime.methods.stopContainer, nothing] as const;
    return orUndefined(this.#connection.send(stop, { request, deadlineMs }, signal));
  }

  async removeContainer(containerId: string, signal: AbortSignal): Promise<'removed' | 'gone'> {
    try {
      await this.#run([runtime, runtime.methods.removeContainer, nothing], { containerId }, signal);
      return 'removed';
    } catch (err) {
      if (err instanceof RuntimeError && (isNotFound(err.cause) || isBeingRemoved(err.cause))) return 'gone';
      throw err;
    }
  }

  listSandboxes(signal: AbortSignal): Promise<readonly RuntimeSandbox[]> {
    const { streamPodSandboxes, listPodSandbox } = runtime.methods;
    return this.#connection.list(
      [runtime, shortTexts(streamPodSandboxes), ({ podSandboxes }) => podSandboxes.map(toSandbox)],
      [runtime, shortTexts(listPodSandbox), ({ items }) => items.map(toSandbox)],
      this.#deadlineMs,
      signal,
    );
  }

  sandboxStatus(
    podSandboxId: string,
    signal: AbortSignal,
  ): Promise<Pick<RuntimeSandbox, 'id' | 'state'> | undefined> {
    return this.#find(
      [runtime, runtime.methods.podSandboxStatus, ({ status }) => toSandboxStatus(present(status))],
      { podSandboxId },
      signal,
    );
  }

  stopSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    return this.#end([runtime, runtime.methods.stopPodSandbox, nothing], { podSandboxId }, signal);
  }

  removeSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    return this.#end([runtime, runtime.methods.removePodSandbox, nothing], { podSandboxId }, signal);
  }

  containerStats(signal: AbortSignal): Promise<readonly RuntimeContainerStats[]> {
    const { streamContainerStats, listContainerStats } = runtime.methods;
    return this.#connection.list(
      [runtime, shortTexts(streamContainerStats), ({ containerStats }) => containerStats.flatMap(toStats)],
      [runtime, shortTexts(listContainerStats), ({ stats }) => stats.flatMap(toStats)],
      this.#deadlineMs,
      signal,
    );
  }

  #query<Request, Response, R>(
    call: CriCall<Request, Response, R>,
    request: Request,
    signal: AbortSignal,
  ): Promise<R> {
    return this.#connection.send(call, { request, deadlineMs: this.#statusDeadlineMs }, signal);
  }

  #find<Request, Response, R>(
    call: CriCall<Request, Response, R>,
    request: Request,
    signal: AbortSignal,
  ): Promise<R | undefined> {
    return orUndefined(this.#query(call, request, signal));
  }

  /** Stops or removes an object that may be gone. */
  #end<Request, Response>(
    call: CriCall<Request, Response, undefined>,
    request: Request,
    signal: AbortSignal,
  ): Promise<undefined> {
    return orUndefined(this.#run(call, request, signal));
  }

  #run<Request, Response, R>(
    call: CriCall<Request, Response, R>,
    request: Request,
    signal: AbortSignal,
  ): Promise<R> {
    return this.#connection.send(call, { request, deadlineMs: this.#deadlineMs }, signal);
  }
}

/** Resolves to undefined if the runtime has no such object. */
async function orUndefined<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (err) {
    if (err instanceof RuntimeError && isNotFound(err.cause)) return undefined;
    throw err;
  }
}

/** The image of the default runtime handler. */
const imageSpec = (image: string): ImageSpec => ({ image, runtimeHandler: '' });

const nothing = (): undefined => undefined;

/** The same method; long texts of its response are cut. */
const shortTexts = <Request, Response>(method: ListMethod<Request, Response>): Method<Request, Response> => ({
  ...method,
  responseType: { decode: (bytes) => method.responseType.decode(new BoundedReader(bytes)) },
});

interface ListMethod<Request, Response> extends Method<Request, Response> {
  readonly responseType: { decode(input: BoundedReader | Uint8Array): Response };
}

function present<T>(status: T | undefined): T {
  if (status === undefined) throw new Error('a response without a status');
  return status;
}
