import type { SimContainer, SimSandbox } from './facts.ts';
import type { Methods } from './handlers.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';
import {
  imageInfo,
  wireContainer,
  wireContainerStatus,
  wireFileSystems,
  wireImage,
  wireSandbox,
  wireStats,
  wireStatus,
} from './wire.ts';

// Requests, as far as the sandbox reads them.

interface OfImage {
  readonly image: { readonly image: string } | null;
  readonly verbose?: boolean;
}

interface OfSandbox {
  readonly podSandboxId: string;
}

interface OfContainer {
  readonly containerId: string;
}

interface NewPod {
  readonly config: Pick<SimSandbox, 'logDirectory' | 'labels' | 'annotations'> & {
    readonly metadata: Pick<SimSandbox, 'name' | 'namespace' | 'uid' | 'attempt'>;
  };
  readonly runtimeHandler: string;
}

interface NewContainer extends OfSandbox {
  readonly config: Pick<SimContainer, 'labels' | 'annotations' | 'logPath'> & {
    readonly metadata: Pick<SimContainer, 'name' | 'attempt'>;
    readonly image: { readonly image: string };
    readonly command: readonly string[];
    readonly args: readonly string[];
    readonly mounts: readonly OfImage[];
  };
}

/** Messages of a streamed list have so many items at most. */
const batchSize = 10;

/** The messages of a streamed list. */
function* batches(field: string, items: readonly object[]): Generator<object> {
  for (let i = 0; i < items.length; i += batchSize) yield { [field]: items.slice(i, i + batchSize) };
}

/** The lists as containerd 2.4 and CRI-O 1.37 stream them. */
export function streamMethods(runtime: SimulatedRuntime): Methods {
  return {
    StreamImages: () => batches('images', runtime.images.all.map(wireImage)),
    StreamPodSandboxes: () => batches('podSandboxes', runtime.sandboxes.map(wireSandbox)),
    StreamContainers: () =>
      batches(
        'containers',
        runtime.containers.map((container) => wireContainer(container, runtime)),
      ),
    StreamContainerStats: () =>
      batches(
        'containerStats',
        measured(runtime).map((container) => wireStats(container, runtime)),
      ),
  };
}

/** The containers with statistics: CRI-O has none for those that have exited. */
const measured = ({ flavour, containers }: SimulatedRuntime): readonly SimContainer[] =>
  flavour === 'cri-o' ? containers.filter(({ state }) => state !== 'Exited') : containers;

/** The image service. dustpan sends no filters. */
export function imageMethods(runtime: SimulatedRuntime): Methods {
  return {
    ListImages: () => ({ images: runtime.images.all.map(wireImage) }),
    ImageStatus: ({ image, verbose }: OfImage) => {
      const found = runtime.images.resolve(image?.image ?? '');
      if (found === undefined) return {};
      return { image: wireImage(found), info: verbose === true ? imageInfo(found) : {} };
    },
    RemoveImage: ({ image }: OfImage) => runtime.removeImage(image?.image ?? ''),
    ImageFsInfo: () => wireFileSystems(runtime),
  };
}

export function runtimeMethods(runtime: SimulatedRuntime): Methods {
  return { ...sandboxMethods(runtime), ...containerMethods(runtime) };
}

function sandboxMethods(runtime: SimulatedRuntime): Methods {
  const { pods } = runtime;
  return {
    Version: () => ({
      version: '0.1.0',
      runtimeName: runtime.name,
      runtimeVersion: runtime.version,
      runtimeApiVersion: 'v1',
    }),
    Status: ({ verbose }: { readonly verbose: boolean }) => wireStatus(runtime, verbose),
    RunPodSandbox: ({ config, runtimeHandler }: NewPod) => {
      const { metadata, logDirectory, labels, annotations } = config;
      const { id } = pods.run({ ...metadata, logDirectory, labels, annotations, runtimeHandler });
      return { podSandboxId: id };
    },
    StopPodSandbox: ({ podSandboxId }: OfSandbox) => pods.stopSandbox(podSandboxId),
    RemovePodSandbox: ({ podSandboxId }: OfSandbox) => pods.removeSandbox(podSandboxId),
    PodSandboxStatus: ({ podSandboxId }: OfSandbox) => ({ status: wireSandbox(pods.sandbox(podSandboxId)) }),
    ListPodSandbox: () => ({ items: runtime.sandboxes.map(wireSandbox) }),
  };
}

function containerMethods(runtime: SimulatedRuntime): Methods {
  const { pods } = runtime;
  return {
    CreateContainer: ({ podSandboxId, config }: NewContainer) => {
      const { metadata, image, command, args, labels, annotations, logPath, mounts } = config;
      const { id } = runtime.create(podSandboxId, {
        ...metadata,
        image: image.image,
        command: [...command, ...args],
        labels,
        annotations,
        logPath,
        mountedImages: mounts.flatMap((mount) => (mount.image === null ? [] : [mount.image.image])),
      });
      return { containerId: id };
    },
    StartContainer: ({ containerId }: OfContainer) => pods.start(containerId),
    StopContainer: ({ containerId }: OfContainer) => pods.stop(containerId),
    RemoveContainer: ({ containerId }: OfContainer) => pods.remove(containerId),
    ListContainers: () => ({
      containers: runtime.containers.map((container) => wireContainer(container, runtime)),
    }),
    ContainerStatus: ({ containerId }: OfContainer) => ({
      status: wireContainerStatus(pods.container(containerId), runtime),
    }),
    ListContainerStats: () => ({
      stats: measured(runtime).map((container) => wireStats(container, runtime)),
    }),
  };
}
