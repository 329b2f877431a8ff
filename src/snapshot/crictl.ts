import { toContainer, toImage, toSandbox } from '../cri/convert.ts';
import { Container, ContainerState, Image, PodSandbox, PodSandboxState } from '../cri/gen/cri.ts';
import type { RuntimeContainer, RuntimeImage, RuntimeSandbox } from '../cri/runtime.ts';
import type { Field } from './field.ts';

/** `crictl images -o json`. */
export const imagesOf = (content: Field): readonly RuntimeImage[] => content.at('images').list().map(imageOf);

/** `crictl ps -a -o json`. */
export const containersOf = (content: Field): readonly RuntimeContainer[] =>
  content.at('containers').list().map(containerOf);

/** The mounted images in the same file. crictl does not print them, `dustpan snapshot` does. */
export const mountedImagesOf = (content: Field): readonly string[] =>
  content
    .at('containers')
    .list()
    .flatMap((one) => one.at('mountedImages').texts());

/** `crictl pods -o json`. */
export const sandboxesOf = (content: Field): readonly RuntimeSandbox[] =>
  content.at('items').list().map(sandboxOf);

/** `crictl info -o json`; undefined = the runtime does not report it. */
export function sandboxImageOf(content: Field): string | undefined {
  const image = content.maybeAt('config').maybeAt('sandboxImage').text('');
  return image === '' ? undefined : image;
}

// Protobuf JSON: 64-bit numbers are strings, enums are names, absent and null fields have their defaults.

function imageOf(one: Field): RuntimeImage {
  const spec = one.at('spec');
  return toImage(
    Image.fromPartial({
      id: one.at('id').name(),
      repoTags: [...one.at('repoTags').texts()],
      repoDigests: [...one.at('repoDigests').texts()],
      size: one.at('size').integer(),
      spec: { runtimeHandler: spec.maybeAt('runtimeHandler').text('') },
      pinned: one.at('pinned').boolean(),
    }),
  );
}

const containerStates = new Map([
  ['CONTAINER_CREATED', ContainerState.CONTAINER_CREATED],
  ['CONTAINER_RUNNING', ContainerState.CONTAINER_RUNNING],
  ['CONTAINER_EXITED', ContainerState.CONTAINER_EXITED],
]);

function containerOf(one: Field): RuntimeContainer {
  const metadata = one.at('metadata');
  return toContainer(
    Container.fromPartial({
      id: one.at('id').name(),
      podSandboxId: one.at('podSandboxId').text(''),
      metadata: { name: metadata.maybeAt('name').text(''), attempt: metadata.maybeAt('attempt').count() },
      imageRef: one.at('imageRef').text(''),
      imageId: one.at('imageId').text(''),
      state: stateOf(one.at('state'), containerStates) ?? ContainerState.CONTAINER_UNKNOWN,
      createdAt: one.at('createdAt').integer(),
      labels: one.at('labels').textMap(),
      annotations: one.at('annotations').textMap(),
    }),
  );
}

const sandboxStates = new Map([
  ['SANDBOX_READY', PodSandboxState.SANDBOX_READY],
  ['SANDBOX_NOTREADY', PodSandboxState.SANDBOX_NOTREADY],
]);

function sandboxOf(one: Field): RuntimeSandbox {
  const metadata = one.at('metadata');
  return toSandbox(
    PodSandbox.fromPartial({
      id: one.at('id').name(),
      metadata: {
        name: metadata.maybeAt('name').text(''),
        namespace: metadata.maybeAt('namespace').text(''),
        uid: metadata.maybeAt('uid').text(''),
        attempt: metadata.maybeAt('attempt').count(),
      },
      state: stateOf(one.at('state'), sandboxStates) ?? PodSandboxState.SANDBOX_READY,
      createdAt: one.at('createdAt').integer(),
      labels: one.at('labels').textMap(),
      annotations: one.at('annotations').textMap(),
      runtimeHandler: one.at('runtimeHandler').text(''),
    }),
  );
}

/** undefined for an unknown name: an object in an unknown state is kept. */
function stateOf<T>(field: Field, states: ReadonlyMap<string, T>): T | undefined {
  const name = field.text('');
  if (name === '') throw field.mustBe(`one of ${[...states.keys()].join(', ')}`);
  return states.get(name);
}
