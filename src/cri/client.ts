import { BoundedReader } from '../runtime/bounded-reader.ts';
import type { Method } from './call.ts';
import { CriConnection } from './connection.ts';
import type { Question } from './connection.ts';
import {
  assertReady,
  toContainer,
  toContainerStatus,
  toFileSystems,
  toImage,
  toLayers,
  toSandbox,
  toSandboxImage,
  toSandboxStatus,
  toStats,
  toVersion,
} from './convert.ts';
import { isNotFound } from './failure.ts';
import { ImageServiceDefinition, RuntimeServiceDefinition } from './gen/cri.ts';
import type { ImageSpec } from './gen/cri.ts';
import { RuntimeError } from './runtime.ts';
import type {
  ContainerRuntime,
  RuntimeContainer,
  RuntimeContainerStats,
  RuntimeContainerStatus,
  RuntimeFileSystems,
  RuntimeImage,
  RuntimeSandbox,
  RuntimeVersion,
} from './runtime.ts';

interface CriOptions {
  /** Path of the runtime's socket, without a scheme. */
  readonly socket: string;
  /** Of lists, stops and removals; default 2 min, as the kubelet's. A stop gets the container's grace on top. */
  readonly deadlineMs?: number;
  /** Of questions about one thing, which a runtime answers from memory; default 10 s. */
  readonly statusDeadlineMs?: number;
}

const defaultDeadlineMs = 120_000;
const defaultStatusDeadlineMs = 10_000;
/** The version of the CRI that asks; the kubelet sends the same, and runtimes ignore it. */
const kubeletApiVersion = '0.1.0';

const runtime = RuntimeServiceDefinition;
const images = ImageServiceDefinition;

/** The container runtime behind a unix socket; `close` breaks what is under way. */
export function criRuntime(options: CriOptions): ContainerRuntime & { close(): void } {
  return new CriClient(options);
}

class CriClient implements ContainerRuntime {
  readonly #connection: CriConnection;
  readonly #deadlineMs: number;
  readonly #statusDeadlineMs: number;

  constructor({ socket, deadlineMs, statusDeadlineMs }: CriOptions) {
    this.#connection = new CriConnection(socket);
    this.#deadlineMs = deadlineMs ?? defaultDeadlineMs;
    this.#statusDeadlineMs = statusDeadlineMs ?? defaultStatusDeadlineMs;
  }

  close(): void {
    this.#connection.close();
  }

  version(signal: AbortSignal): Promise<RuntimeVersion> {
    return this.#connection.ask(
      [runtime, runtime.methods.version, toVersion],
      this.#soon({ version: kubeletApiVersion }),
      signal,
    );
  }

  checkReady(signal: AbortSignal): Promise<void> {
    return this.#connection.ask(
      [runtime, runtime.methods.status, assertReady],
      this.#soon({ verbose: false }),
      signal,
    );
  }

  sandboxImage(signal: AbortSignal): Promise<string | undefined> {
    return this.#connection.ask(
      [runtime, runtime.methods.status, toSandboxImage],
      this.#soon({ verbose: true }),
      signal,
    );
  }

  listImages(signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    return this.#connection.ask(
      [images, images.methods.listImages, (answer) => answer.images.map(toImage)],
      this.#slow({}),
      signal,
    );
  }

  imageStatus(reference: string, signal: AbortSignal): Promise<RuntimeImage | undefined> {
    return orUndefined(
      this.#connection.ask(
        [
          images,
          images.methods.imageStatus,
          ({ image }) => (image === undefined ? undefined : toImage(image)),
        ],
        this.#soon({ image: imageSpec(reference), verbose: false }),
        signal,
      ),
    );
  }

  imageLayers(id: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    return orUndefined(
      this.#connection.ask(
        [images, images.methods.imageStatus, toLayers],
        this.#soon({ image: imageSpec(id), verbose: true }),
        signal,
      ),
    );
  }

  removeImage(id: string, signal: AbortSignal): Promise<void> {
    return orUndefined(
      this.#connection.ask(
        [images, images.methods.removeImage, nothing],
        this.#slow({ image: imageSpec(id) }),
        signal,
      ),
    );
  }

  fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems> {
    return this.#connection.ask([images, images.methods.imageFsInfo, toFileSystems], this.#slow({}), signal);
  }

  listContainers(signal: AbortSignal): Promise<readonly RuntimeContainer[]> {
    return this.#connection.ask(
      [runtime, shortTexts(runtime.methods.listContainers), ({ containers }) => containers.map(toContainer)],
      this.#slow({}),
      signal,
    );
  }

  containerStatus(containerId: string, signal: AbortSignal): Promise<RuntimeContainerStatus | undefined> {
    return orUndefined(
      this.#connection.ask(
        [runtime, runtime.methods.containerStatus, ({ status }) => toContainerStatus(present(status))],
        this.#soon({ containerId }),
        signal,
      ),
    );
  }

  stopContainer(containerId: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    return orUndefined(
      this.#connection.ask(
        [runtime, runtime.methods.stopContainer, nothing],
        {
          request: { containerId, timeout: BigInt(timeoutSeconds) },
          deadlineMs: this.#deadlineMs + timeoutSeconds * 1000,
        },
        signal,
      ),
    );
  }

  removeContainer(containerId: string, signal: AbortSignal): Promise<void> {
    return orUndefined(
      this.#connection.ask(
        [runtime, runtime.methods.removeContainer, nothing],
        this.#slow({ containerId }),
        signal,
      ),
    );
  }

  listSandboxes(signal: AbortSignal): Promise<readonly RuntimeSandbox[]> {
    return this.#connection.ask(
      [runtime, shortTexts(runtime.methods.listPodSandbox), ({ items }) => items.map(toSandbox)],
      this.#slow({}),
      signal,
    );
  }

  sandboxStatus(
    podSandboxId: string,
    signal: AbortSignal,
  ): Promise<Pick<RuntimeSandbox, 'id' | 'state'> | undefined> {
    return orUndefined(
      this.#connection.ask(
        [runtime, runtime.methods.podSandboxStatus, ({ status }) => toSandboxStatus(present(status))],
        this.#soon({ podSandboxId }),
        signal,
      ),
    );
  }

  stopSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    return orUndefined(
      this.#connection.ask(
        [runtime, runtime.methods.stopPodSandbox, nothing],
        this.#slow({ podSandboxId }),
        signal,
      ),
    );
  }

  removeSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    return orUndefined(
      this.#connection.ask(
        [runtime, runtime.methods.removePodSandbox, nothing],
        this.#slow({ podSandboxId }),
        signal,
      ),
    );
  }

  containerStats(signal: AbortSignal): Promise<readonly RuntimeContainerStats[]> {
    return this.#connection.ask(
      [runtime, shortTexts(runtime.methods.listContainerStats), ({ stats }) => stats.flatMap(toStats)],
      this.#slow({}),
      signal,
    );
  }

  #soon<Request>(request: Request): Question<Request> {
    return { request, deadlineMs: this.#statusDeadlineMs };
  }

  #slow<Request>(request: Request): Question<Request> {
    return { request, deadlineMs: this.#deadlineMs };
  }
}

/** What is not there was removed, or never was: no failure either way. */
async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (err) {
    if (err instanceof RuntimeError && isNotFound(err.cause)) return undefined;
    throw err;
  }
}

/** The default handler's image: runtimes that keep images by handler know no other name for it. */
const imageSpec = (image: string): ImageSpec => ({ image, runtimeHandler: '' });

const nothing = (): undefined => undefined;

/** The same method; long texts of its answer are cut. */
const shortTexts = <Request, Response>(method: ListMethod<Request, Response>): Method<Request, Response> => ({
  ...method,
  responseType: { decode: (bytes) => method.responseType.decode(new BoundedReader(bytes)) },
});

interface ListMethod<Request, Response> extends Method<Request, Response> {
  readonly responseType: { decode(input: BoundedReader | Uint8Array): Response };
}

function present<T>(status: T | undefined): T {
  if (status === undefined) throw new Error('an answer without a status');
  return status;
}
