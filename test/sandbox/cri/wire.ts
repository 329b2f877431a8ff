import { createHash } from 'node:crypto';
import type { SimContainer, SimImage, SimSandbox } from './facts.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';

// Messages of the CRI as plain objects, as proto-loader writes them: enums by name, 64-bit numbers as text.

export const wireImage = (image: SimImage): object => ({
  id: image.id,
  repoTags: image.tags,
  repoDigests: image.digests,
  size: String(image.sizeBytes),
  pinned: image.pinned,
  ...(image.runtimeHandler === '' ? {} : { spec: { runtimeHandler: image.runtimeHandler } }),
});

/** As containerd: the configuration as JSON. All images share their first layer, as those of the test bed do. */
export function imageInfo({ id }: SimImage): Record<string, string> {
  const layers = ['the layer of all', id].map(
    (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`,
  );
  return { info: JSON.stringify({ imageSpec: { rootfs: { type: 'layers', diff_ids: layers } } }) };
}

/** As containerd without a network; only a verbose request gets the configuration. */
export const wireStatus = ({ notReady, sandboxImage }: SimulatedRuntime, verbose: boolean): object => ({
  status: {
    conditions: [
      { type: 'RuntimeReady', status: notReady === undefined, ...notReady },
      { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no network' },
    ],
  },
  info: verbose ? { config: JSON.stringify({ enableSelinux: false, sandboxImage }) } : {},
});

export const wireSandbox = (sandbox: SimSandbox): object => ({
  id: sandbox.id,
  metadata: {
    name: sandbox.name,
    namespace: sandbox.namespace,
    uid: sandbox.uid,
    attempt: sandbox.attempt,
  },
  state: sandbox.ready ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
  createdAt: String(sandbox.createdAtNs),
  labels: sandbox.labels,
  annotations: sandbox.annotations,
  runtimeHandler: sandbox.runtimeHandler,
});

const identity = (container: SimContainer): object => ({
  id: container.id,
  metadata: { name: container.name, attempt: container.attempt },
  labels: container.labels,
  annotations: container.annotations,
});

const life = (container: SimContainer): object => ({
  state: `CONTAINER_${container.state.toUpperCase()}`,
  createdAt: String(container.createdAtNs),
  imageId: container.imageId,
});

export const wireContainer = (container: SimContainer): object => ({
  ...identity(container),
  ...life(container),
  podSandboxId: container.sandboxId,
  image: { image: container.image },
  imageRef: container.imageId,
});

export const wireContainerStatus = (container: SimContainer, image: SimImage | undefined): object => ({
  ...identity(container),
  ...life(container),
  startedAt: String(container.startedAtNs),
  finishedAt: String(container.finishedAtNs),
  exitCode: container.exitCode,
  image: { image: image?.tags[0] ?? container.image },
  imageRef: image?.digests[0] ?? container.imageId,
  mounts: container.mountedImages.map((mounted) => ({ image: { image: mounted } })),
  logPath: container.logPath,
});

/** A container without a measurement has no writable layer in its statistics. */
export const wireStats = (container: SimContainer, runtime: SimulatedRuntime): object => ({
  attributes: identity(container),
  ...(container.writableBytes === undefined
    ? {}
    : { writableLayer: usage(runtime, container.writableBytes, 1) }),
});

export const wireFileSystem = (runtime: SimulatedRuntime): object =>
  usage(
    runtime,
    runtime.images.all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    runtime.images.all.length * inodesPerImage,
  );

const inodesPerImage = 100;

const usage = (runtime: SimulatedRuntime, bytes: number, inodes: number): object => ({
  timestamp: String(BigInt(runtime.now().getTime()) * 1_000_000n),
  fsId: { mountpoint: runtime.mountpoint },
  usedBytes: { value: String(Math.round(bytes)) },
  inodesUsed: { value: String(inodes) },
});
