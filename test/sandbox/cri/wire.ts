import { createHash } from 'node:crypto';
import type { SimContainer, SimImage, SimSandbox, SimState } from './facts.ts';
import * as wire from './gen/node.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';

const states = {
  Created: wire.ContainerState.CONTAINER_CREATED,
  Running: wire.ContainerState.CONTAINER_RUNNING,
  Exited: wire.ContainerState.CONTAINER_EXITED,
  Unknown: wire.ContainerState.CONTAINER_UNKNOWN,
} satisfies Record<SimState, wire.ContainerState>;

export const wireImage = (image: SimImage): wire.Image =>
  wire.Image.fromPartial({
    id: image.id,
    repoTags: image.tags,
    repoDigests: image.digests,
    size: BigInt(image.sizeBytes),
    pinned: image.pinned,
    ...(image.runtimeHandler === '' ? {} : { spec: { runtimeHandler: image.runtimeHandler } }),
  });

/** As containerd: the configuration as JSON. Every image stands on one layer that all share, as those of the test bed do. */
export function imageInfo({ id }: SimImage): Record<string, string> {
  const layers = ['the layer of all', id].map(
    (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`,
  );
  return { info: JSON.stringify({ imageSpec: { rootfs: { type: 'layers', diff_ids: layers } } }) };
}

/** As containerd without a network; the configuration is shown only to those who want it verbose. */
export const wireStatus = (
  { notReady, sandboxImage }: SimulatedRuntime,
  { verbose }: wire.StatusRequest,
): wire.StatusResponse => ({
  status: {
    conditions: [
      { type: 'RuntimeReady', status: notReady === undefined, reason: '', message: '', ...notReady },
      { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no network' },
    ],
  },
  info: verbose ? { config: JSON.stringify({ enableSelinux: false, sandboxImage }) } : {},
});

export const wireSandbox = (sandbox: SimSandbox): wire.PodSandbox =>
  wire.PodSandbox.fromPartial({
    id: sandbox.id,
    metadata: metadataOf(sandbox),
    state: sandboxState(sandbox),
    createdAt: sandbox.createdAtNs,
    labels: sandbox.labels,
    annotations: sandbox.annotations,
    runtimeHandler: sandbox.runtimeHandler,
  });

export const wireSandboxStatus = (sandbox: SimSandbox): wire.PodSandboxStatus =>
  wire.PodSandboxStatus.fromPartial({ ...wireSandbox(sandbox) });

export const wireContainer = (container: SimContainer): wire.Container =>
  wire.Container.fromPartial({
    id: container.id,
    podSandboxId: container.sandboxId,
    metadata: { name: container.name, attempt: container.attempt },
    image: { image: container.image },
    imageRef: container.imageId,
    imageId: container.imageId,
    state: states[container.state],
    createdAt: container.createdAtNs,
    labels: container.labels,
    annotations: container.annotations,
  });

export const wireContainerStatus = (
  container: SimContainer,
  image: SimImage | undefined,
): wire.ContainerStatus =>
  wire.ContainerStatus.fromPartial({
    id: container.id,
    metadata: { name: container.name, attempt: container.attempt },
    state: states[container.state],
    createdAt: container.createdAtNs,
    startedAt: container.startedAtNs,
    finishedAt: container.finishedAtNs,
    exitCode: container.exitCode,
    image: { image: image?.tags[0] ?? container.image },
    imageRef: image?.digests[0] ?? container.imageId,
    imageId: container.imageId,
    labels: container.labels,
    annotations: container.annotations,
    mounts: container.mountedImages.map((mounted) => ({ image: { image: mounted } })),
    logPath: container.logPath,
  });

/** A container without a figure has no writable layer in its statistics. */
export const wireStats = (container: SimContainer, runtime: SimulatedRuntime): wire.ContainerStats =>
  wire.ContainerStats.fromPartial({
    attributes: {
      id: container.id,
      metadata: { name: container.name, attempt: container.attempt },
      labels: container.labels,
      annotations: container.annotations,
    },
    ...(container.writableBytes === undefined
      ? {}
      : { writableLayer: usage(runtime, container.writableBytes, 1) }),
  });

export const wireFileSystem = (runtime: SimulatedRuntime): wire.FilesystemUsage =>
  usage(runtime, runtime.disk.snapshotBytes, runtime.disk.snapshotInodes);

const usage = (runtime: SimulatedRuntime, bytes: number, inodes: number): wire.FilesystemUsage =>
  wire.FilesystemUsage.fromPartial({
    timestamp: BigInt(runtime.now().getTime()) * 1_000_000n,
    fsId: { mountpoint: runtime.mountpoint },
    usedBytes: { value: BigInt(Math.round(bytes)) },
    inodesUsed: { value: BigInt(inodes) },
  });

const sandboxState = ({ ready }: SimSandbox): wire.PodSandboxState =>
  ready ? wire.PodSandboxState.SANDBOX_READY : wire.PodSandboxState.SANDBOX_NOTREADY;

const metadataOf = ({ name, namespace, uid, attempt }: SimSandbox): wire.PodSandboxMetadata => ({
  name,
  namespace,
  uid,
  attempt,
});
