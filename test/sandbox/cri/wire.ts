import { createHash } from 'node:crypto';
import type { SimContainer, SimImage, SimSandbox } from './facts.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';

// Messages of the CRI as plain objects for proto-loader: enums by name, 64-bit numbers as text.

export const wireImage = (image: SimImage): object => ({
  id: image.id,
  repoTags: image.tags,
  repoDigests: image.digests,
  size: String(image.sizeBytes),
  pinned: image.pinned,
});

/** The configuration as JSON, like containerd. All images share their first layer, like those of the test bed. */
export function imageInfo({ id }: SimImage): Record<string, string> {
  const layers = ['shared', id].map((text) => `sha256:${createHash('sha256').update(text).digest('hex')}`);
  return { info: JSON.stringify({ imageSpec: { rootfs: { type: 'layers', diff_ids: layers } } }) };
}

/** The status of a runtime without a network; only a verbose response has the configuration. */
export const wireStatus = ({ notReady, sandboxImage }: SimulatedRuntime, verbose: boolean): object => ({
  status: {
    conditions: [
      { type: 'RuntimeReady', status: notReady === undefined, ...notReady },
      { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no network' },
    ],
  },
  info: verbose ? { config: JSON.stringify({ enableSelinux: false, sandboxImage }) } : {},
});

const sandboxState = ({ ready }: SimSandbox): string => (ready ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY');

export const wireSandbox = (sandbox: SimSandbox): object => ({
  id: sandbox.id,
  metadata: {
    name: sandbox.name,
    namespace: sandbox.namespace,
    uid: sandbox.uid,
    attempt: sandbox.attempt,
  },
  state: sandboxState(sandbox),
  createdAt: String(sandbox.createdAtNs),
  labels: sandbox.labels,
  annotations: sandbox.annotations,
  runtimeHandler: sandbox.runtimeHandler,
});

const containerState = ({ state }: SimContainer): string => `CONTAINER_${state.toUpperCase()}`;

export const wireContainer = (container: SimContainer, runtime: SimulatedRuntime): object => ({
  id: container.id,
  podSandboxId: container.sandboxId,
  metadata: { name: container.name, attempt: container.attempt },
  imageRef: imageRefOf(container, runtime),
  imageId: container.imageId,
  state: containerState(container),
  createdAt: String(container.createdAtNs),
  labels: container.labels,
  annotations: container.annotations,
});

/** containerd reports the id, CRI-O a digest of the image, in any of its repositories. */
const imageRefOf = ({ imageId }: SimContainer, { flavour, images }: SimulatedRuntime): string =>
  (flavour === 'cri-o' ? images.resolve(imageId)?.digests[0] : undefined) ?? imageId;

/** CRI-O reports mounted images by their ids. */
const mountedOf = (
  { mountedImages }: SimContainer,
  { flavour, images }: SimulatedRuntime,
): readonly string[] =>
  flavour === 'cri-o' ? mountedImages.map((name) => images.resolve(name)?.id ?? name) : mountedImages;

export const wireContainerStatus = (container: SimContainer, runtime: SimulatedRuntime): object => ({
  id: container.id,
  state: containerState(container),
  finishedAt: String(container.finishedAtNs),
  exitCode: container.exitCode,
  mounts: mountedOf(container, runtime).map((mounted) => ({ image: { image: mounted } })),
  logPath: container.logPath,
});

export const wireStats = (container: SimContainer, runtime: SimulatedRuntime): object => ({
  attributes: { id: container.id, labels: container.labels },
  writableLayer: usage(runtime, 0, 1),
});

/** CRI-O names a file system for containers too, and measures the directories that describe its images, not their layers. */
export function wireFileSystems(runtime: SimulatedRuntime): object {
  const { all } = runtime.images;
  if (runtime.flavour === 'cri-o') {
    const measured = usage(runtime, all.length * 4096, all.length);
    return { imageFilesystems: [measured], containerFilesystems: [measured] };
  }
  const bytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { imageFilesystems: [usage(runtime, bytes, all.length * inodesPerImage)] };
}

const inodesPerImage = 100;

const usage = (runtime: SimulatedRuntime, bytes: number, inodes: number): object => ({
  fsId: { mountpoint: runtime.mountpoint },
  usedBytes: { value: String(Math.round(bytes)) },
  inodesUsed: { value: String(inodes) },
});
