import { bounded, bounds } from '../runtime/bounds.ts';
import type * as wire from './gen/cri.ts';
import type {
  ContainerState,
  RuntimeContainer,
  RuntimeContainerStats,
  RuntimeContainerStatus,
  RuntimeFileSystem,
  RuntimeFileSystems,
  RuntimeImage,
  RuntimeSandbox,
  RuntimeVersion,
  SandboxState,
} from './runtime.ts';

const containerStates = new Map<number, ContainerState>([
  [0, 'Created'],
  [1, 'Running'],
  [2, 'Exited'],
]);

const containerState = (state: number): ContainerState => containerStates.get(state) ?? 'Unknown';

/** An unknown number is Ready: dustpan never removes a ready sandbox. */
const sandboxState = (state: number): SandboxState => (state === 1 ? 'NotReady' : 'Ready');

/** undefined beyond 2^53: no disk is that large, and a negative number is reported so. One wrong size must not cost a whole list. */
const byteCount = (value: bigint): number | undefined =>
  value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(value);

export function toImage(image: wire.Image): RuntimeImage {
  return {
    id: image.id,
    tags: image.repoTags.filter(isKnown),
    digests: image.repoDigests.filter(isKnown),
    sizeBytes: byteCount(image.size) ?? 0,
    pinned: image.pinned,
    runtimeHandler: image.spec?.runtimeHandler ?? '',
  };
}

/** Docker writes `<none>` for a name, tag or digest that an image does not have. */
const isKnown = (name: string): boolean => !name.includes('<none>');

/** The runtime reports that it is not ready; the message is its reason. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** Throws NotReady. Like the kubelet, treats a missing condition as not ready; the network's condition does not matter. */
export function assertReady({ status }: wire.StatusResponse): void {
  const ready = status?.conditions.find(({ type }) => type === 'RuntimeReady');
  if (ready === undefined) throw new NotReady('its status has no condition RuntimeReady');
  if (!ready.status) throw new NotReady([ready.reason, ready.message].filter(Boolean).join(': '));
}

/** containerd 1 and CRI-O report their configuration as JSON in `info`; that of containerd 2 does not include the sandbox image. */
export function toSandboxImage({ info }: wire.StatusResponse): string | undefined {
  const image = fieldOf(parsed(info['config']), 'sandboxImage');
  return typeof image === 'string' && image !== '' ? image : undefined;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

/** Only keys that a rule reads or a snapshot shows: a sandbox has all labels and annotations of its pod, up to 256 KB. */
const keptLabels = picked([
  'io.kubernetes.container.name',
  'io.kubernetes.pod.name',
  'io.kubernetes.pod.namespace',
  'io.kubernetes.pod.uid',
]);
const keptAnnotations = picked([
  'io.kubernetes.container.restartCount',
  'io.kubernetes.pod.deletionGracePeriod',
  'io.kubernetes.pod.terminationGracePeriod',
  'kubernetes.io/config.hash',
  'kubernetes.io/config.mirror',
  'kubernetes.io/config.source',
]);

type Texts = Readonly<Record<string, string>>;

function picked(keys: readonly string[]): (texts: Texts) => Texts {
  return (texts) =>
    Object.fromEntries(
      keys.flatMap((key) => (texts[key] === undefined ? [] : [[key, bounded(texts[key], bounds.text)]])),
    );
}

/** Missing metadata gives an empty name, which no container has. */
export function toContainer(container: wire.Container): RuntimeContainer {
  return {
    id: container.id,
    sandboxId: container.podSandboxId,
    name: container.metadata?.name ?? '',
    attempt: container.metadata?.attempt ?? 0,
    imageId: container.imageId,
    imageRef: container.imageRef,
    state: containerState(container.state),
    createdAtNs: container.createdAt,
    labels: keptLabels(container.labels),
    annotations: keptAnnotations(container.annotations),
  };
}

/** Includes only mounts of images. */
export function toContainerStatus(status: wire.ContainerStatus): RuntimeContainerStatus {
  return {
    id: status.id,
    state: containerState(status.state),
    logPath: status.logPath,
    finishedAtNs: status.finishedAt,
    exitCode: status.exitCode,
    mountedImages: status.mounts.flatMap(({ image }) => (image?.image ? [image.image] : [])),
  };
}

/** Missing metadata gives an empty pod, which does not exist. */
export function toSandbox(sandbox: wire.PodSandbox): RuntimeSandbox {
  return {
    id: sandbox.id,
    podName: sandbox.metadata?.name ?? '',
    podNamespace: sandbox.metadata?.namespace ?? '',
    podUid: sandbox.metadata?.uid ?? '',
    attempt: sandbox.metadata?.attempt ?? 0,
    state: sandboxState(sandbox.state),
    createdAtNs: sandbox.createdAt,
    labels: keptLabels(sandbox.labels),
    annotations: keptAnnotations(sandbox.annotations),
    runtimeHandler: sandbox.runtimeHandler,
  };
}

export const toSandboxStatus = ({
  id,
  state,
}: wire.PodSandboxStatus): Pick<RuntimeSandbox, 'id' | 'state'> => ({
  id,
  state: sandboxState(state),
});

/** Statistics without a container are left out. */
export function toStats({
  attributes,
  writableLayer,
}: wire.ContainerStats): readonly RuntimeContainerStats[] {
  if (attributes === undefined) return [];
  return [
    {
      id: attributes.id,
      labels: keptLabels(attributes.labels),
      writableLayerBytes: known(writableLayer?.usedBytes),
      writableLayerInodes: known(writableLayer?.inodesUsed),
    },
  ];
}

/** Runtimes without a separate file system for containers may leave that list empty. */
export const toFileSystems = (info: wire.ImageFsInfoResponse): RuntimeFileSystems => ({
  images: info.imageFilesystems.map(toFileSystem),
  containers: info.containerFilesystems.map(toFileSystem),
});

export const toVersion = (response: wire.VersionResponse): RuntimeVersion => ({
  name: response.runtimeName,
  version: response.runtimeVersion,
  apiVersion: response.runtimeApiVersion,
});

/** A missing value counts as 0. */
function toFileSystem({ fsId, usedBytes, inodesUsed }: wire.FilesystemUsage): RuntimeFileSystem {
  const mountpoint = fsId?.mountpoint ?? '';
  if (isDescriptionOnly(mountpoint)) return { mountpoint, usedBytes: 0, inodesUsed: 0 };
  return { mountpoint, usedBytes: known(usedBytes) ?? 0, inodesUsed: known(inodesUsed) ?? 0 };
}

/** Where CRI-O describes its images and containers. It measures only these directories: the layers are in another (server/image_fs_info.go). */
const isDescriptionOnly = (mountpoint: string): boolean =>
  /\/(overlay|vfs)-(images|containers)$/.test(mountpoint);

const known = (value: wire.UInt64Value | undefined): number | undefined =>
  value === undefined ? undefined : byteCount(value.value);
