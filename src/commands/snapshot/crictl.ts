import type {
  ContainerState,
  RuntimeContainer,
  RuntimeFileSystem,
  RuntimeFileSystems,
  RuntimeImage,
  RuntimeSandbox,
} from '../../cri/runtime.ts';
import type { MountedImages } from '../../cri/image-mounts.ts';
import { keptPodAnnotations } from './objects.ts';
import { texts } from './pick.ts';

// Protobuf JSON as crictl prints it: 64-bit numbers are strings, enums are names. Fields that no rule reads are left out.

/** As `crictl images -o json`. */
export const imagesJson = (images: readonly RuntimeImage[]): object => ({ images: images.map(imageJson) });

function imageJson({ id, tags, digests, sizeBytes, pinned, runtimeHandler }: RuntimeImage): object {
  const spec = runtimeHandler === '' ? null : { image: '', runtimeHandler };
  return { id, repoTags: tags, repoDigests: digests, size: String(sizeBytes), spec, pinned };
}

const containerStates: Readonly<Record<ContainerState, string>> = {
  Created: 'CONTAINER_CREATED',
  Running: 'CONTAINER_RUNNING',
  Exited: 'CONTAINER_EXITED',
  Unknown: 'CONTAINER_UNKNOWN',
};

/** The kubelet's labels, which name the pod of a container. */
const keptLabels = texts((name) => name.startsWith('io.kubernetes.'));
const containerAnnotations: ReadonlySet<string> = new Set([
  'io.kubernetes.container.restartCount',
  'io.kubernetes.pod.deletionGracePeriod',
  'io.kubernetes.pod.terminationGracePeriod',
]);
const keptContainerAnnotations = texts((name) => containerAnnotations.has(name));

/** As `crictl ps -a -o json`, plus `mountedImages`, which crictl does not print. */
export const containersJson = (containers: readonly RuntimeContainer[], mounted: MountedImages): object => ({
  containers: containers.map((one) => containerJson(one, mounted.get(one.id) ?? [])),
});

function containerJson(container: RuntimeContainer, mountedImages: readonly string[]): object {
  const { id, sandboxId, name, attempt, imageId, imageRef } = container;
  return {
    id,
    podSandboxId: sandboxId,
    metadata: { name, attempt },
    image: { image: imageId === '' ? imageRef : imageId },
    imageRef,
    imageId,
    state: containerStates[container.state],
    createdAt: String(container.createdAtNs),
    labels: keptLabels(container.labels) ?? {},
    annotations: keptContainerAnnotations(container.annotations) ?? {},
    ...(mountedImages.length > 0 && { mountedImages }),
  };
}

/** As `crictl info -o json`, with the only part of the configuration that a rule reads. */
export const infoJson = (sandboxImage: string | undefined): object => ({ config: { sandboxImage } });

/** As `crictl pods -o json`. */
export const sandboxesJson = (sandboxes: readonly RuntimeSandbox[]): object => ({
  items: sandboxes.map(sandboxJson),
});

function sandboxJson(sandbox: RuntimeSandbox): object {
  const { id, podName: name, podUid: uid, podNamespace: namespace, attempt, runtimeHandler } = sandbox;
  return {
    id,
    metadata: { name, uid, namespace, attempt },
    state: sandbox.state === 'Ready' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
    createdAt: String(sandbox.createdAtNs),
    labels: keptLabels(sandbox.labels) ?? {},
    annotations: keptPodAnnotations(sandbox.annotations) ?? {},
    runtimeHandler,
  };
}

/** As `crictl imagefsinfo -o json`. */
export const imageFsJson = ({ images, containers }: RuntimeFileSystems): object => ({
  status: { imageFilesystems: images.map(usageJson), containerFilesystems: containers.map(usageJson) },
});

const usageJson = ({ mountpoint, usedBytes, inodesUsed }: RuntimeFileSystem): object => ({
  fsId: { mountpoint },
  usedBytes: { value: String(usedBytes) },
  inodesUsed: { value: String(inodesUsed) },
});
