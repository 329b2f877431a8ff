import type {
  DeclaredContainer,
  DeclaredEmptyDir,
  PodStorageSpec,
  StorageLimit,
  StoragePod,
  Workload,
} from '../../api/local-storage.ts';
import type { AwaitedImage } from '../../api/node-pod.ts';
import { doNotDisruptOf } from '../../api/do-not-disrupt.ts';
import { hasKeepLabel } from '../../api/policy/matching.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { bounded, bounds, isCut } from '../../runtime/bounds.ts';
import {
  asObject,
  asText,
  boundedText,
  listOf,
  message,
  numberFromJson,
  ownersFromJson,
  quantitiesOf,
  quantityOf,
  textsFromJson,
  timeFromJson,
} from '../codec/json.ts';
import type { Codec } from '../codec/list.ts';
import { decodeWhole } from '../codec/reader.ts';
import { MalformedError } from '../codec/frames.ts';
import {
  NodePod as Message,
  type NodePodContainer,
  type NodePodContainerStatus,
  type NodePodEmptyDir,
  type NodePodMeta,
  type NodePodQuantity,
  NodePodSpec,
  type NodePodStatus,
  type NodePodVolume,
  type NodePodVolumeSource,
} from '../gen/node_pod.ts';
import { acceptProtobuf } from '../http/media-types.ts';
import type { Identified } from './objects.ts';
import { controllerOf, mirroredUid, workloadOf } from './owner-references.ts';
import type { Resource } from './resources.ts';
import { SharedValues } from '../codec/shared-values.ts';
import { parseQuantity } from '../../runtime/text/quantity.ts';

export interface NodePodFacts extends Identified, StoragePod {
  readonly namespace: string;
}

export function nodePodsResource(nodeName: string): Resource<NodePodFacts> {
  return {
    name: 'pods',
    path: '/api/v1/pods',
    query: { fieldSelector: `spec.nodeName=${nodeName}` },
    accept: acceptProtobuf,
    optional: false,
    codec: nodePodCodec(),
  };
}

/** Reads the identity of a pod, the images it refers to and the local storage it may use. */
export function nodePodCodec(): Codec<NodePodFacts> {
  const shared: Shared = {
    texts: new SharedValues(),
    images: new SharedValues(),
    storage: new SharedValues(),
    workloads: new SharedValues(),
  };
  const facts = (message: Message, known?: ReadonlyMap<string, NodePodFacts>): NodePodFacts => {
    const before = known?.get(message.metadata?.uid ?? '');
    const isSame = before !== undefined && before.resourceVersion === message.metadata?.resourceVersion;
    return isSame ? before : nodePodFacts(message, shared);
  };
  return {
    fromProtobuf: (bytes, known) => facts(decodeWhole(Message, bytes), known),
    fromJson: (json, known) => facts(messageFromJson(json), known),
  };
}

/** Values that many pods of a node share, e.g. replicas, or pods of a namespace with one default limit. */
interface Shared {
  readonly texts: SharedValues<string>;
  readonly images: SharedValues<readonly string[]>;
  readonly storage: SharedValues<PodStorageSpec>;
  readonly workloads: SharedValues<Workload>;
}

const noSpec = NodePodSpec.fromPartial({});
const noStatus: NodePodStatus = { phase: '', reason: '', containerStatuses: [], initContainerStatuses: [] };

function nodePodFacts(
  { metadata: meta, spec = noSpec, status = noStatus }: Message,
  shared: Shared,
): NodePodFacts {
  if (meta === undefined || meta.uid === '' || meta.name === '')
    throw new MalformedError('pod without metadata.uid and metadata.name');
  const isRead = isReadable(spec);
  const images = imagesOf(spec, status);
  const refusal = doNotDisruptOf(meta.annotations);
  const configHash = configHashOf(meta, spec);
  const workload = workloadOf({
    name: meta.name,
    labels: meta.labels,
    controller: controllerOf(meta.ownerReferences),
    mirrorOn: configHash === undefined ? undefined : spec.nodeName,
  });
  return {
    uid: meta.uid,
    name: meta.name,
    namespace: shared.texts.share(meta.namespace),
    resourceVersion: meta.resourceVersion,
    phase: shared.texts.share(bounded(status.phase, bounds.label)),
    evicted: isEvicted(status),
    deletionAtMs: meta.deletionTimestamp && meta.deletionTimestamp.seconds * 1000,
    configHash,
    workload: shared.workloads.share(workload),
    priority: spec.priority,
    isOptedOut: hasKeepLabel(meta) || !isRead,
    doNotDisrupt: refusal === undefined ? undefined : shared.texts.share(bounded(refusal, bounds.name)),
    images: images && shared.images.share(images),
    awaited: awaitedImages(spec, status, images),
    storage: isRead ? shared.storage.share(storageOf(spec)) : noStorageSpec,
  };
}

const isEvicted = ({ phase, reason }: NodePodStatus): boolean => phase === 'Failed' && reason === 'Evicted';

function configHashOf(
  { annotations, ownerReferences }: NodePodMeta,
  { nodeName }: NodePodSpec,
): string | undefined {
  return mirroredUid({ annotations, controller: controllerOf(ownerReferences), nodeName });
}

/** A pod with more containers or volumes is opted out: a part of its spec would give wrong limits. */
const isReadable = ({ containers, initContainers, ephemeralContainers, volumes }: NodePodSpec): boolean =>
  containers.length + initContainers.length + ephemeralContainers.length <= bounds.podParts &&
  volumes.length <= bounds.podParts;

/**
 * Each image once, in the order of the spec. A text that was cut names no image, and a finished pod uses none. undefined = the pod refers to more
 * images than are kept: any image may be one of them.
 */
function imagesOf(
  { containers, initContainers, ephemeralContainers, volumes }: NodePodSpec,
  status: NodePodStatus,
): readonly string[] | undefined {
  if (isFinished(status)) return [];
  const images = [
    ...[...containers, ...initContainers].map(({ image }) => image),
    ...ephemeralContainers.map((one) => one.ephemeralContainerCommon?.image ?? ''),
    ...volumes.map((one) => one.volumeSource?.image?.reference ?? ''),
  ];
  const named = [...new Set(images)].filter((image) => image !== '' && !isCut(image));
  const size = named.reduce((sum, image) => sum + Buffer.byteLength(image), 0);
  return size <= bounds.images ? named : undefined;
}

/** Why a container waits before its image is there; other reasons mean that it is, or that the kubelet does not pull. */
const pullReasons = ['', 'ContainerCreating', 'PodInitializing', 'ErrImagePull', 'ImagePullBackOff'];

function awaitedImages(
  { containers, initContainers }: NodePodSpec,
  { containerStatuses, initContainerStatuses }: NodePodStatus,
  images: readonly string[] = [],
): readonly AwaitedImage[] | undefined {
  const states = new Map(
    [...initContainerStatuses, ...containerStatuses].map((one) => [one.name, one.state]),
  );
  const awaited = [...initContainers, ...containers].flatMap(({ name, image, imagePullPolicy }) => {
    const waiting = states.has(name) ? states.get(name)?.waiting : { reason: '' };
    const isAwaited = images.includes(image) && imagePullPolicy !== 'Never';
    return isAwaited && waiting !== undefined && pullReasons.includes(waiting.reason)
      ? [{ image, reason: waiting.reason }]
      : [];
  });
  return awaited.length === 0 ? undefined : awaited;
}

const noStorageSpec: PodStorageSpec = Object.freeze({
  emptyDirs: [],
  containers: [],
  initContainers: [],
  overheadBytes: undefined,
});

function storageOf({ volumes, containers, initContainers, overhead }: NodePodSpec): PodStorageSpec {
  return {
    emptyDirs: volumes.flatMap(emptyDirOf),
    containers: containers.map(containerOf),
    initContainers: initContainers.map((one) => ({
      ...containerOf(one),
      restartable: one.restartPolicy === 'Always',
    })),
    overheadBytes: limitOf(overhead[resource])?.bytes,
  };
}

const resource = 'ephemeral-storage';

function emptyDirOf({ name, volumeSource }: NodePodVolume): readonly DeclaredEmptyDir[] {
  const { emptyDir } = volumeSource ?? {};
  if (emptyDir === undefined) return [];
  return [{ name, isMemory: emptyDir.medium !== '', limit: limitOf(emptyDir.sizeLimit) }];
}

const containerOf = ({ name, resources }: NodePodContainer): DeclaredContainer => ({
  name,
  limit: limitOf(resources?.limits[resource]),
  request: limitOf(resources?.requests[resource]),
});

/** An invalid quantity limits nothing; the API server rejects it. */
function limitOf(quantity: NodePodQuantity | undefined): StorageLimit | undefined {
  const text = quantity?.string ?? '';
  const bytes = text === '' ? undefined : parseQuantity(text);
  return bytes === undefined ? undefined : { bytes, text };
}

const containers = listOf(
  message<NodePodContainer>({
    name: boundedText,
    image: boundedText,
    resources: message({ limits: quantitiesOf, requests: quantitiesOf }),
    imagePullPolicy: boundedText,
    restartPolicy: boundedText,
  }),
);

const statuses = listOf(
  message<NodePodContainerStatus>({
    name: boundedText,
    state: message({
      waiting: (json) => (json === undefined || json === null ? undefined : waiting(json)),
    }),
  }),
);

const waiting = message({ reason: boundedText });

const emptyDir = message<NodePodEmptyDir>({ medium: boundedText, sizeLimit: quantityOf });

const volumeSource = message<NodePodVolumeSource>({
  // A volume without a source is an emptyDir, but the API server stores it as one.
  emptyDir: (json) => (json === undefined || json === null ? undefined : emptyDir(json)),
  image: message({ reference: boundedText }),
});

const ephemeralContainerCommon = message({ image: boundedText });

const messageFromJson = message<Message>({
  metadata: message({
    name: boundedText,
    namespace: boundedText,
    uid: boundedText,
    resourceVersion: boundedText,
    deletionTimestamp: timeFromJson,
    labels: textsFromJson,
    annotations: textsFromJson,
    ownerReferences: ownersFromJson,
  }),
  spec: message({
    nodeName: asText,
    containers,
    initContainers: containers,
    ephemeralContainers: listOf((json) => ({ ephemeralContainerCommon: ephemeralContainerCommon(json) })),
    volumes: listOf((json) => ({
      name: boundedText(asObject(json)['name']),
      volumeSource: volumeSource(json),
    })),
    overhead: quantitiesOf,
    priority: numberFromJson,
  }),
  status: message({
    phase: boundedText,
    reason: boundedText,
    containerStatuses: statuses,
    initContainerStatuses: statuses,
  }),
});
