import { join } from 'node:path';
import type { SimContainer, SimImage, SimSandbox } from './facts.ts';
import { flavours, removals, type Flavour } from './flavour.ts';
import { ImageStore } from './image-store.ts';
import type { ImageSpec } from './image-store.ts';
import { linkLog, podLogDirectory } from './logs.ts';
import type { LogRoots } from './logs.ts';
import { containerOf, podOf, sandboxOf } from './kubelet.ts';
import type { ContainerSpec, PodSpec } from './kubelet.ts';
import { PodStore } from './pod-store.ts';
import { notFound } from './sim-error.ts';

export interface NodeOptions {
  /** The runtime that it behaves like; default containerd 2. */
  readonly flavour?: Flavour;
  readonly name?: string;
  /** The sandbox image in its verbose Status; default: none with containerd 2. */
  readonly sandboxImage?: string;
  readonly logs?: LogRoots;
  /** The mountpoint in ImageFsInfo. */
  readonly mountpoint?: string;
}

interface RanPod {
  readonly sandbox: SimSandbox;
  readonly containers: readonly SimContainer[];
}

/** The simulated node of the CRI server: tests set it up, calls change it like the runtime of its flavour. */
export class SimulatedRuntime {
  readonly flavour: Flavour;
  readonly images: ImageStore;
  readonly pods = new PodStore();
  readonly name: string;
  readonly version: string;
  readonly sandboxImage: string | undefined;
  readonly mountpoint: string;
  /** The reason in a Status that is not ready; undefined = ready. */
  notReady: { readonly reason: string; readonly message: string } | undefined;
  readonly #logs: LogRoots;

  constructor(options: NodeOptions = {}) {
    this.flavour = options.flavour ?? 'containerd';
    this.images = new ImageStore(this.flavour);
    const defaults = flavours[this.flavour];
    this.name = options.name ?? defaults.name;
    this.version = defaults.version;
    this.sandboxImage = options.sandboxImage ?? defaults.sandboxImage;
    this.mountpoint = options.mountpoint ?? defaults.mountpoint;
    this.#logs = options.logs ?? {};
  }

  get sandboxes(): readonly SimSandbox[] {
    return [...this.pods.sandboxes.values()];
  }

  get containers(): readonly SimContainer[] {
    return [...this.pods.containers.values()];
  }

  addImage(spec: ImageSpec): SimImage {
    return this.images.add(spec);
  }

  /** Creates a pod like the kubelet: labels, annotations, log directory; containers run by default. */
  runPod(spec: PodSpec): RanPod {
    const pod = podOf(spec);
    const root = this.#logs.pods;
    const sandbox = this.pods.run({
      ...sandboxOf(pod),
      logDirectory: root === undefined ? '' : podLogDirectory(root, pod),
    });
    const containers = (spec.containers ?? [{ name: 'main', image: 'app' }]).map((container) =>
      this.addContainer(sandbox.id, container),
    );
    return { sandbox, containers };
  }

  /** Adds a container or an attempt to a pod; creates its image if it is absent. */
  addContainer(sandboxId: string, spec: ContainerSpec): SimContainer {
    const sandbox = this.pods.sandbox(sandboxId);
    if (this.images.resolve(spec.image) === undefined) this.addImage({ tags: [spec.image] });
    const attempt = spec.attempt ?? this.#nextAttempt(sandbox.id, spec.name);
    const wasReady = sandbox.ready;
    sandbox.ready = true;
    const container = this.create(sandbox.id, containerOf(sandbox, { ...spec, attempt }));
    sandbox.ready = wasReady;
    this.#link(sandbox, container);
    this.#setState(container, spec);
    return container;
  }

  /** CreateContainer: the image must exist. */
  create(
    sandboxId: string,
    spec: Omit<Parameters<PodStore['create']>[0], 'sandboxId' | 'imageId'>,
  ): SimContainer {
    const image = this.images.resolve(spec.image);
    if (image === undefined) throw notFound('image', spec.image);
    const { logDirectory } = this.pods.sandbox(sandboxId);
    return this.pods.create({
      ...spec,
      sandboxId,
      imageId: image.id,
      logPath: logDirectory === '' || spec.logPath === '' ? '' : join(logDirectory, spec.logPath),
    });
  }

  removeImage(reference: string): void {
    removals[this.flavour](this, reference);
  }

  exit(containerId: string): void {
    this.pods.exit(containerId, 0);
  }

  #nextAttempt(sandboxId: string, name: string): number {
    const attempts = this.pods.containersOf(sandboxId).filter((container) => container.name === name);
    return Math.max(-1, ...attempts.map(({ attempt }) => attempt)) + 1;
  }

  #link(sandbox: SimSandbox, container: SimContainer): void {
    if (this.#logs.containers === undefined || container.logPath === '') return;
    linkLog(this.#logs.containers, container.logPath, {
      pod: sandbox.name,
      namespace: sandbox.namespace,
      name: container.name,
      id: container.id,
    });
  }

  #setState(container: SimContainer, spec: ContainerSpec): void {
    const state = spec.state ?? 'Running';
    if (state === 'Created') return;
    this.pods.start(container.id);
    if (spec.log !== undefined) this.pods.log(container.id, spec.log);
    if (state === 'Exited') this.pods.exit(container.id, spec.exitCode ?? 0, spec.finishedAt);
    else container.state = state;
  }
}
