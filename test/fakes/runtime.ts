import {
  RuntimeError,
  type ContainerRuntime,
  type RuntimeContainer,
  type RuntimeContainerStats,
  type RuntimeContainerStatus,
  type RuntimeFileSystems,
  type RuntimeImage,
  type RuntimeSandbox,
  type RuntimeVersion,
} from '../../src/cri/runtime.ts';

/** A day before the moment the tables live in, in Unix nanoseconds. */
const yesterdayNs = BigInt(Date.parse('2026-01-14T12:00:00Z')) * 1_000_000n;

/** An image of 1000 bytes with one tag. Its id is `sha256:<name>`. */
export const image = (name: string, over: Partial<RuntimeImage> = {}): RuntimeImage => ({
  id: `sha256:${name}`,
  tags: [`docker.io/library/${name}:latest`],
  digests: [],
  sizeBytes: 1000,
  pinned: false,
  runtimeHandler: '',
  ...over,
});

/** A running container the kubelet made in the sandbox `<pod>-sandbox`, of the image `sha256:<id>`. */
export const container = (
  id: string,
  { pod = 'pod', ...over }: Partial<RuntimeContainer> & { readonly pod?: string } = {},
): RuntimeContainer => ({
  id,
  sandboxId: `${pod}-sandbox`,
  name: 'main',
  attempt: 0,
  imageId: `sha256:${id}`,
  imageRef: `sha256:${id}`,
  state: 'Running',
  createdAtNs: yesterdayNs,
  labels: {
    'io.kubernetes.pod.name': pod,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': `uid-${pod}`,
    'io.kubernetes.container.name': over.name ?? 'main',
  },
  annotations: {},
  ...over,
});

/** The ready sandbox `<pod>-sandbox` of an API pod. */
export const sandbox = (pod: string, over: Partial<RuntimeSandbox> = {}): RuntimeSandbox => ({
  id: `${pod}-sandbox`,
  podName: pod,
  podNamespace: 'default',
  podUid: `uid-${pod}`,
  attempt: 0,
  state: 'Ready',
  createdAtNs: yesterdayNs,
  labels: {
    'io.kubernetes.pod.name': pod,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': `uid-${pod}`,
  },
  annotations: { 'kubernetes.io/config.source': 'api' },
  runtimeHandler: '',
  ...over,
});

type Call = keyof ContainerRuntime;

interface Failure {
  readonly call: Call;
  readonly target: string | undefined;
  readonly error: Error;
  left: number;
}

/** A container runtime in memory that records its calls and can fail. */
export class FakeRuntime implements ContainerRuntime {
  images: readonly RuntimeImage[] = [];
  containers: readonly RuntimeContainer[] = [];
  sandboxes: readonly RuntimeSandbox[] = [];
  stats: readonly RuntimeContainerStats[] = [];
  /** Why it is not ready; undefined = it is. */
  notReady: string | undefined;
  /** That its sandboxes are made from, as far as it reports that. */
  pauseImage: string | undefined;
  filesystems: RuntimeFileSystems = { images: [], containers: [] };
  /** Fields that containerStatus adds to those of the list. */
  readonly statuses = new Map<string, Partial<RuntimeContainerStatus>>();
  /** `listImages`, `removeImage sha256:a`, …; failed calls too. */
  readonly calls: string[] = [];
  /** Runs before each call is carried out, e.g. to change the runtime's content during a pass. */
  before: (call: Call, target: string) => void = () => undefined;
  readonly #failures: Failure[] = [];

  /** The next calls (of this target, if given) fail. */
  fail(call: Call, { target, error, times = 1 }: FailOptions = {}): void {
    this.#failures.push({
      call,
      target,
      error: error ?? new RuntimeError(`${call}: refused by the test`, 'other'),
      left: times,
    });
  }

  /** The calls that change something, in order. */
  get changes(): readonly string[] {
    return this.calls.filter((call) => /^(stop|remove)/.test(call));
  }

  add(...things: readonly (RuntimeImage | RuntimeContainer | RuntimeSandbox)[]): this {
    for (const thing of things) {
      if ('tags' in thing) this.images = [...this.images, thing];
      else if ('podUid' in thing) this.sandboxes = [...this.sandboxes, thing];
      else this.containers = [...this.containers, thing];
    }
    return this;
  }

  /** Removes what has this id, without a call. */
  drop(id: string): void {
    const isOther = (one: { readonly id: string }): boolean => one.id !== id;
    this.images = this.images.filter(isOther);
    this.containers = this.containers.filter(isOther);
    this.sandboxes = this.sandboxes.filter(isOther);
  }

  async version(signal: AbortSignal): Promise<RuntimeVersion> {
    await this.#called('version', '', signal);
    return { name: 'containerd', version: 'v2.3.0', apiVersion: 'v1' };
  }

  async checkReady(signal: AbortSignal): Promise<void> {
    await this.#called('checkReady', '', signal);
    if (this.notReady !== undefined)
      throw new RuntimeError(`Status: not ready: ${this.notReady}`, 'unavailable');
  }

  async sandboxImage(signal: AbortSignal): Promise<string | undefined> {
    await this.#called('sandboxImage', '', signal);
    return this.pauseImage;
  }

  async listImages(signal: AbortSignal): Promise<readonly RuntimeImage[]> {
    await this.#called('listImages', '', signal);
    return this.images;
  }

  async imageStatus(reference: string, signal: AbortSignal): Promise<RuntimeImage | undefined> {
    await this.#called('imageStatus', reference, signal);
    return this.images.find(({ id, tags, digests }) => [id, ...tags, ...digests].includes(reference));
  }

  /** An artifact of CRI-O is found only by its names. */
  async removeImage(reference: string, signal: AbortSignal): Promise<void> {
    await this.#called('removeImage', reference, signal);
    this.images = this.images.filter(({ id, tags, digests }) => {
      const isArtifact = digests.some((name) => name.endsWith(`@sha256:${id}`));
      return ![...tags, ...digests, ...(isArtifact ? [] : [id])].includes(reference);
    });
  }

  async fileSystems(signal: AbortSignal): Promise<RuntimeFileSystems> {
    await this.#called('fileSystems', '', signal);
    return this.filesystems;
  }

  async listContainers(signal: AbortSignal): Promise<readonly RuntimeContainer[]> {
    await this.#called('listContainers', '', signal);
    return this.containers;
  }

  async containerStatus(id: string, signal: AbortSignal): Promise<RuntimeContainerStatus | undefined> {
    await this.#called('containerStatus', id, signal);
    const found = this.containers.find((other) => other.id === id);
    if (found === undefined) return undefined;
    const { state } = found;
    return {
      ...{ id, state, logPath: '', finishedAtNs: 0n, exitCode: 0, mountedImages: [] },
      ...this.statuses.get(id),
    };
  }

  async stopContainer(id: string, _timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    await this.#called('stopContainer', id, signal);
    this.#exit((other) => other.id === id);
  }

  async removeContainer(id: string, signal: AbortSignal): Promise<'removed' | 'gone'> {
    await this.#called('removeContainer', id, signal);
    const isPresent = this.containers.some((other) => other.id === id);
    this.containers = this.containers.filter((other) => other.id !== id);
    return isPresent ? 'removed' : 'gone';
  }

  async listSandboxes(signal: AbortSignal): Promise<readonly RuntimeSandbox[]> {
    await this.#called('listSandboxes', '', signal);
    return this.sandboxes;
  }

  async sandboxStatus(
    id: string,
    signal: AbortSignal,
  ): Promise<Pick<RuntimeSandbox, 'id' | 'state'> | undefined> {
    await this.#called('sandboxStatus', id, signal);
    return this.sandboxes.find((other) => other.id === id);
  }

  /** Its containers die with it. */
  async stopSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#called('stopSandbox', id, signal);
    this.sandboxes = this.sandboxes.map((other) =>
      other.id === id ? { ...other, state: 'NotReady' } : other,
    );
    this.#exit((other) => other.sandboxId === id);
  }

  /** Removes its containers too, in any state. */
  async removeSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#called('removeSandbox', id, signal);
    this.sandboxes = this.sandboxes.filter((other) => other.id !== id);
    this.containers = this.containers.filter((other) => other.sandboxId !== id);
  }

  async containerStats(signal: AbortSignal): Promise<readonly RuntimeContainerStats[]> {
    await this.#called('containerStats', '', signal);
    return this.stats;
  }

  #exit(dies: (container: RuntimeContainer) => boolean): void {
    this.containers = this.containers.map((other) =>
      dies(other) && other.state !== 'Created' ? { ...other, state: 'Exited' } : other,
    );
  }

  async #called(call: Call, target: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.calls.push(target === '' ? call : `${call} ${target}`);
    this.before(call, target);
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    const failure = this.#failures.find(
      (other) => other.left > 0 && other.call === call && (other.target ?? target) === target,
    );
    if (failure === undefined) return;
    failure.left -= 1;
    throw failure.error;
  }
}

interface FailOptions {
  readonly target?: string;
  readonly error?: Error;
  readonly times?: number;
}

/** Changes the node right before the nth call of this kind is carried out, counted from now. */
export function changeAt(runtime: FakeRuntime, call: Call, nth: number, change: () => void): void {
  let calls = 0;
  runtime.before = (made) => {
    if (made === call && ++calls === nth) change();
  };
}
