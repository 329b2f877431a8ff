import { toContainer, toImage, toSandbox } from '../cri/convert.ts';
import { Container, ContainerState, Image, PodSandbox, PodSandboxState } from '../cri/gen/cri.ts';
import type { MountedImages } from '../cri/image-mounts.ts';
import type {
  RuntimeContainer,
  RuntimeFileSystem,
  RuntimeFileSystems,
  RuntimeImage,
  RuntimeSandbox,
} from '../cri/runtime.ts';
import type { Field } from './field.ts';

// Protobuf JSON as crictl prints it: 64-bit numbers are strings, enums are names, absent and null fields have their defaults. Fields that no rule
// reads are not written.

/** `crictl images -o json`. */
export const imagesOf = (content: Field): readonly RuntimeImage[] => content.at('images').list().map(imageOf);

export const imagesJson = (images: readonly RuntimeImage[]): object => ({ images: images.map(imageJson) });

function imageOf(image: Field): RuntimeImage {
  return toImage(
    Image.fromPartial({
      id: image.at('id').name(),
      repoTags: [...image.at('repoTags').texts()],
      repoDigests: [...image.at('repoDigests').texts()],
      size: image.at('size').integer(),
      spec: { runtimeHandler: image.at('spec').maybeAt('runtimeHandler').text('') },
      pinned: image.at('pinned').boolean(),
    }),
  );
}

function imageJson({ id, tags, digests, sizeBytes, pinned, runtimeHandler }: RuntimeImage): object {
  const spec = runtimeHandler === '' ? null : { image: '', runtimeHandler };
  return { id, repoTags: tags, repoDigests: digests, size: String(sizeBytes), spec, pinned };
}

/** `crictl ps -a -o json`. */
export const containersOf = (content: Field): readonly RuntimeContainer[] =>
  content.at('containers').list().map(containerOf);

/** The mounted images in the same file. crictl does not print them, `dustpan snapshot` does. */
export const mountedImagesOf = (content: Field): readonly string[] =>
  content
    .at('containers')
    .list()
    .flatMap((container) => container.at('mountedImages').texts());

export const containersJson = (containers: readonly RuntimeContainer[], mounted: MountedImages): object => ({
  containers: containers.map((container) => containerJson(container, mounted.get(container.id) ?? [])),
});

function containerOf(container: Field): RuntimeContainer {
  const metadata = container.at('metadata');
  return toContainer(
    Container.fromPartial({
      id: container.at('id').name(),
      podSandboxId: container.at('podSandboxId').text(''),
      metadata: { name: metadata.maybeAt('name').text(''), attempt: metadata.maybeAt('attempt').count() },
      imageRef: container.at('imageRef').text(''),
      imageId: container.at('imageId').text(''),
      state: stateOf(container.at('state'), ContainerState) ?? ContainerState.CONTAINER_UNKNOWN,
      createdAt: container.at('createdAt').integer(),
      labels: container.at('labels').textMap(),
      annotations: container.at('annotations').textMap(),
    }),
  );
}

function containerJson(container: RuntimeContainer, mountedImages: readonly string[]): object {
  const { id, sandboxId, name, attempt, imageId, imageRef, labels, annotations } = container;
  return {
    id,
    podSandboxId: sandboxId,
    metadata: { name, attempt },
    image: { image: imageId === '' ? imageRef : imageId },
    imageRef,
    imageId,
    state: `CONTAINER_${container.state.toUpperCase()}`,
    createdAt: String(container.createdAtNs),
    labels,
    annotations,
    ...(mountedImages.length > 0 && { mountedImages }),
  };
}

/** `crictl pods -o json`. */
export const sandboxesOf = (content: Field): readonly RuntimeSandbox[] =>
  content.at('items').list().map(sandboxOf);

export const sandboxesJson = (sandboxes: readonly RuntimeSandbox[]): object => ({
  items: sandboxes.map(sandboxJson),
});

function sandboxOf(sandbox: Field): RuntimeSandbox {
  const metadata = sandbox.at('metadata');
  return toSandbox(
    PodSandbox.fromPartial({
      id: sandbox.at('id').name(),
      metadata: {
        name: metadata.maybeAt('name').text(''),
        namespace: metadata.maybeAt('namespace').text(''),
        uid: metadata.maybeAt('uid').text(''),
        attempt: metadata.maybeAt('attempt').count(),
      },
      state: stateOf(sandbox.at('state'), PodSandboxState) ?? PodSandboxState.SANDBOX_READY,
      createdAt: sandbox.at('createdAt').integer(),
      labels: sandbox.at('labels').textMap(),
      annotations: sandbox.at('annotations').textMap(),
      runtimeHandler: sandbox.at('runtimeHandler').text(''),
    }),
  );
}

function sandboxJson(sandbox: RuntimeSandbox): object {
  const { id, podName: name, podUid: uid, podNamespace: namespace, attempt, runtimeHandler } = sandbox;
  return {
    id,
    metadata: { name, uid, namespace, attempt },
    state: `SANDBOX_${sandbox.state.toUpperCase()}`,
    createdAt: String(sandbox.createdAtNs),
    labels: sandbox.labels,
    annotations: sandbox.annotations,
    runtimeHandler,
  };
}

/** `crictl info -o json`, of which a rule reads only this; undefined = the runtime does not report it. */
export const sandboxImageOf = (content: Field): string | undefined =>
  content.maybeAt('config').maybeAt('sandboxImage').text('') || undefined;

export const infoJson = (sandboxImage: string | undefined): object => ({ config: { sandboxImage } });

/** `crictl imagefsinfo -o json`, for people. */
export const imageFsJson = ({ images, containers }: RuntimeFileSystems): object => ({
  status: { imageFilesystems: images.map(usageJson), containerFilesystems: containers.map(usageJson) },
});

const usageJson = ({ mountpoint, usedBytes, inodesUsed }: RuntimeFileSystem): object => ({
  fsId: { mountpoint },
  usedBytes: { value: String(usedBytes) },
  inodesUsed: { value: String(inodesUsed) },
});

/** undefined for an unknown name: an object in an unknown state is kept. */
function stateOf<T>(field: Field, states: Readonly<Record<string, T>>): T | undefined {
  const name = field.name();
  return Object.hasOwn(states, name) ? states[name] : undefined;
}
