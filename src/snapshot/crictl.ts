import { toContainer, toImage, toSandbox } from '../cri/convert.ts';
import { Container, ContainerState, Image, PodSandbox, PodSandboxState } from '../cri/gen/cri.ts';
import type { RuntimeContainer, RuntimeImage, RuntimeSandbox } from '../cri/runtime.ts';
import type { Field } from './field.ts';

/** `crictl images -o json`. */
export const imagesOf = (answer: Field): readonly RuntimeImage[] => answer.at('images').list().map(imageOf);

/** `crictl ps -a -o json`. */
export const containersOf = (answer: Field): readonly RuntimeContainer[] =>
  answer.at('containers').list().map(containerOf);

/** What the containers of the same answer have mounted, as far as a snapshot of ours says so: crictl does not. */
export const mountedImagesOf = (answer: Field): readonly string[] =>
  answer
    .at('containers')
    .list()
    .flatMap((one) => one.at('mountedImages').texts());

/** `crictl pods -o json`. */
export const sandboxesOf = (answer: Field): readonly RuntimeSandbox[] =>
  answer.at('items').list().map(sandboxOf);

/** `crictl info -o json`; undefined = the runtime does not report it. */
export function sandboxImageOf(answer: Field): string | undefined {
  const image = answer.maybeAt('config').maybeAt('sandboxImage').text('');
  return image === '' ? undefined : image;
}

// Protobuf JSON: 64 bits are texts, enums are names, and what is absent or null has its default.

function imageOf(one: Field): RuntimeImage {
  const spec = one.at('spec');
  one.at('size').count();
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

/** undefined for a name that we do not know: what it stands for is kept. */
function stateOf<T>(field: Field, states: ReadonlyMap<string, T>): T | undefined {
  const name = field.text('');
  if (name === '') throw field.mustBe(`one of ${[...states.keys()].join(', ')}`);
  return states.get(name);
}
