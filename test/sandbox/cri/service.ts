import { matchesContainer, matchesSandbox, matchesStats } from './filters.ts';
import type * as gen from './gen/node.ts';
import { refused } from './sim-error.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';
import {
  imageInfo,
  wireContainer,
  wireContainerStatus,
  wireFileSystem,
  wireImage,
  wireSandbox,
  wireSandboxStatus,
  wireStatus,
  wireStats,
} from './wire.ts';

interface Method {
  readonly requestType: { decode(bytes: Uint8Array): unknown };
  readonly responseType: { decode(bytes: Uint8Array): unknown };
}

/** One function for each method of a service. */
type Handlers<Methods extends Record<string, Method>> = {
  readonly [Name in keyof Methods]: (
    request: ReturnType<Methods[Name]['requestType']['decode']>,
  ) => ReturnType<Methods[Name]['responseType']['decode']>;
};

type RuntimeHandlers = Handlers<(typeof gen.RuntimeServiceDefinition)['methods']>;
type ImageHandlers = Handlers<(typeof gen.ImageServiceDefinition)['methods']>;

/** The image service over the node. */
export function imageHandlers(runtime: SimulatedRuntime): ImageHandlers {
  return {
    // Unfiltered, as containerd.
    listImages: () => ({ images: runtime.images.all.map(wireImage) }),
    imageStatus: ({ image, verbose }) => {
      const found = runtime.images.resolve(image?.image ?? '');
      if (found === undefined) return { image: undefined, info: {} };
      return { image: wireImage(found), info: verbose ? imageInfo(found) : {} };
    },
    removeImage: ({ image }) => {
      runtime.removeImage(image?.image ?? '');
      return {};
    },
    imageFsInfo: () => ({ imageFilesystems: [wireFileSystem(runtime)], containerFilesystems: [] }),
  };
}

/** The runtime service over the node. */
export function runtimeHandlers(runtime: SimulatedRuntime): RuntimeHandlers {
  return { ...sandboxHandlers(runtime), ...containerHandlers(runtime) };
}

function sandboxHandlers(
  runtime: SimulatedRuntime,
): Pick<
  RuntimeHandlers,
  | 'version'
  | 'status'
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
> {
  const { pods } = runtime;
  return {
    version: () => ({
      version: '0.1.0',
      runtimeName: runtime.name,
      runtimeVersion: runtime.version,
      runtimeApiVersion: 'v1',
    }),
    status: (request) => wireStatus(runtime, request),
    runPodSandbox: ({ config, runtimeHandler }) => {
      if (config?.metadata === undefined) throw refused('sandbox config must include metadata');
      const { metadata, logDirectory, labels, annotations } = config;
      return {
        podSandboxId: pods.run({ ...metadata, logDirectory, labels, annotations, runtimeHandler }).id,
      };
    },
    stopPodSandbox: ({ podSandboxId }) => {
      pods.stopSandbox(podSandboxId);
      return {};
    },
    removePodSandbox: ({ podSandboxId }) => {
      pods.removeSandbox(podSandboxId);
      return {};
    },
    podSandboxStatus: ({ podSandboxId }) => ({ status: wireSandboxStatus(pods.sandbox(podSandboxId)) }),
    listPodSandbox: ({ filter }) => ({
      items: runtime.sandboxes.map(wireSandbox).filter((sandbox) => matchesSandbox(filter, sandbox)),
    }),
  };
}

function containerHandlers(
  runtime: SimulatedRuntime,
): Omit<RuntimeHandlers, keyof ReturnType<typeof sandboxHandlers>> {
  const { pods } = runtime;
  return {
    createContainer: ({ podSandboxId, config }) => ({ containerId: create(runtime, podSandboxId, config) }),
    startContainer: ({ containerId }) => {
      pods.start(containerId);
      return {};
    },
    stopContainer: ({ containerId }) => {
      pods.stop(containerId);
      return {};
    },
    removeContainer: ({ containerId }) => {
      pods.remove(containerId);
      return {};
    },
    listContainers: ({ filter }) => ({
      containers: runtime.containers.map(wireContainer).filter((one) => matchesContainer(filter, one)),
    }),
    containerStatus: ({ containerId }) => {
      const container = pods.container(containerId);
      return { status: wireContainerStatus(container, runtime.images.resolve(container.imageId)) };
    },
    listContainerStats: ({ filter }) => ({
      stats: runtime.containers
        .map((container) => ({ stats: wireStats(container, runtime), sandboxId: container.sandboxId }))
        .filter(({ stats, sandboxId }) => matchesStats(filter, stats, sandboxId))
        .map(({ stats }) => stats),
    }),
  };
}

function create(
  runtime: SimulatedRuntime,
  sandboxId: string,
  config: gen.ContainerConfig | undefined,
): string {
  if (config?.metadata === undefined) throw refused('container config must include metadata');
  const { metadata, image, command, args, labels, annotations, logPath, mounts } = config;
  const container = runtime.create(sandboxId, {
    ...metadata,
    image: image?.image ?? '',
    command: [...command, ...args],
    labels,
    annotations,
    logPath,
    mountedImages: mounts.flatMap((mount) => (mount.image === undefined ? [] : [mount.image.image])),
    writableBytes: 0,
  });
  return container.id;
}
