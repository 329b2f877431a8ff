import type { StoragePod } from '../api/local-storage.ts';
import { isKeepMarked } from '../api/matching.ts';
import { bounded, bounds, isCut } from '../runtime/bounds.ts';
import { Interner } from './decode-intern.ts';
import { asList, asObject, asText, boundedText, textsFromJson } from './decode-json.ts';
import type { Codec } from './decode-list.ts';
import { decodeWhole, RecentStrings } from './decode-reader.ts';
import { parseJson } from './decode-status.ts';
import { MalformedError } from './frames.ts';
import {
  NodePod as Message,
  type NodePodContainer,
  type NodePodMeta,
  type NodePodQuantity,
  NodePodSpec,
  type NodePodStatus,
  type NodePodVolumeSource,
} from './gen/node_pod.ts';
import { acceptMetadata, acceptProtobuf } from './media-types.ts';
import { controllerOf, hasUid, mirroredUid } from './mirror-pod.ts';
import { noStorageSpec, StorageSpecs } from './node-pod-storage.ts';
import type { Identified } from './objects.ts';
import type { Resource } from './resources.ts';
import { ApiError, type KubeTransport } from './transport.ts';

/** What the agent keeps of a pod of its node. */
export interface NodePodFacts extends Identified, StoragePod {
  readonly namespace: string;
}

/** The pods that are bound to one node. */
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

/** Reads a pod down to the images it refers to, the local storage it may use and what tells it from another. */
export function nodePodCodec(): Codec<NodePodFacts> {
  const tables: Tables = { intern: new Interner(), specs: new StorageSpecs() };
  const strings = new RecentStrings();
  const facts = (message: Message, known?: ReadonlyMap<string, NodePodFacts>): NodePodFacts => {
    const before = known?.get(message.metadata?.uid ?? '');
    const isSame = before !== undefined && before.resourceVersion === message.metadata?.resourceVersion;
    return isSame ? before : nodePodFacts(message, tables);
  };
  return {
    fromProtobuf: (bytes, known) => facts(decodeWhole(Message, bytes, strings), known),
    fromJson: (json, known) => facts(messageFromJson(json), known),
  };
}

/** What pods have in common is kept once. */
interface Tables {
  readonly intern: Interner;
  readonly specs: StorageSpecs;
}

const noSpec = NodePodSpec.fromPartial({});
const noStatus: NodePodStatus = { phase: '', reason: '' };

function nodePodFacts(
  { metadata: meta, spec = noSpec, status = noStatus }: Message,
  { intern, specs }: Tables,
): NodePodFacts {
  if (meta === undefined || meta.uid === '' || meta.name === '')
    throw new MalformedError('pod without metadata.uid and metadata.name');
  const isRead = isReadable(spec);
  return {
    uid: meta.uid,
    name: meta.name,
    namespace: intern.string(meta.namespace),
    resourceVersion: meta.resourceVersion,
    phase: intern.string(bounded(status.phase, bounds.label)),
    evicted: isEvicted(status),
    deletionAtMs: meta.deletionTimestamp && meta.deletionTimestamp.seconds * 1000,
    configHash: configHashOf(meta, spec),
    priority: spec.priority,
    keepMarked: isKeepMarked(meta) || !isRead,
    images: imagesOf(spec, status, intern),
    storage: isRead ? specs.read(spec) : noStorageSpec,
  };
}

const isEvicted = ({ phase, reason }: NodePodStatus): boolean => phase === 'Failed' && reason === 'Evicted';

function configHashOf(
  { annotations, ownerReferences }: NodePodMeta,
  { nodeName }: NodePodSpec,
): string | undefined {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  return mirroredUid({ annotations, controller, nodeName });
}

/** Of a pod with absurdly many containers or volumes nothing is decided: what it uses and how much it may use is not kept. */
const isReadable = ({ containers, initContainers, ephemeralContainers, volumes }: NodePodSpec): boolean =>
  containers.length + initContainers.length + ephemeralContainers.length <= bounds.podParts &&
  volumes.length <= bounds.podParts;

/**
 * Each once, in the order of the spec; one that is too long to be kept names no image. A finished pod refers to none. undefined = the pod
 * refers to more than is kept: any image may be one of them.
 */
function imagesOf(
  { containers, initContainers, ephemeralContainers, volumes }: NodePodSpec,
  { phase }: NodePodStatus,
  intern: Interner,
): readonly string[] | undefined {
  if (phase === 'Succeeded' || phase === 'Failed') return intern.strings([]);
  const images = [
    ...[...containers, ...initContainers].map(({ image }) => image),
    ...ephemeralContainers.map((one) => one.ephemeralContainerCommon?.image ?? ''),
    ...volumes.map((one) => one.volumeSource?.image?.reference ?? ''),
  ];
  const named = [...new Set(images)].filter((image) => image !== '' && !isCut(image));
  const size = named.reduce((sum, image) => sum + Buffer.byteLength(image), 0);
  return size <= bounds.images ? intern.strings(named) : undefined;
}

/** The JSON form as the message its protobuf form decodes to. */
function messageFromJson(json: unknown): Message {
  const pod = asObject(json);
  const meta = asObject(pod['metadata']);
  const status = asObject(pod['status']);
  const controller = controllerOf(meta);
  return {
    metadata: {
      name: boundedText(meta['name']),
      namespace: boundedText(meta['namespace']),
      uid: boundedText(meta['uid']),
      resourceVersion: boundedText(meta['resourceVersion']),
      deletionTimestamp: timeOf(meta['deletionTimestamp']),
      labels: textsFromJson(meta['labels']),
      annotations: textsFromJson(meta['annotations']),
      ownerReferences: controller === undefined ? [] : [{ ...controller, controller: true }],
    },
    spec: specFromJson(asObject(pod['spec'])),
    status: { phase: boundedText(status['phase']), reason: boundedText(status['reason']) },
  };
}

function specFromJson(spec: Readonly<Record<string, unknown>>): NodePodSpec {
  const { priority } = spec;
  return {
    nodeName: asText(spec['nodeName']),
    containers: asList(spec['containers']).map(containerFromJson),
    initContainers: asList(spec['initContainers']).map(containerFromJson),
    ephemeralContainers: asList(spec['ephemeralContainers']).map((one) => ({
      ephemeralContainerCommon: { image: boundedText(asObject(one)['image']) },
    })),
    volumes: asList(spec['volumes']).map((one) => {
      const volume = asObject(one);
      return { name: boundedText(volume['name']), volumeSource: volumeSourceFromJson(volume) };
    }),
    overhead: quantitiesOf(spec['overhead']),
    priority: typeof priority === 'number' ? priority : undefined,
  };
}

function containerFromJson(json: unknown): NodePodContainer {
  const container = asObject(json);
  return {
    name: boundedText(container['name']),
    image: boundedText(container['image']),
    resources: { limits: quantitiesOf(asObject(container['resources'])['limits']) },
    restartPolicy: boundedText(container['restartPolicy']),
  };
}

function volumeSourceFromJson(volume: Readonly<Record<string, unknown>>): NodePodVolumeSource {
  const emptyDir = asObject(volume['emptyDir']);
  return {
    // Of a volume without any source the kubelet makes an emptyDir, but the API server writes that down.
    emptyDir:
      volume['emptyDir'] === undefined || volume['emptyDir'] === null
        ? undefined
        : { medium: boundedText(emptyDir['medium']), sizeLimit: quantityOf(emptyDir['sizeLimit']) },
    image: { reference: boundedText(asObject(volume['image'])['reference']) },
  };
}

const quantitiesOf = (json: unknown): Record<string, NodePodQuantity> =>
  Object.fromEntries(
    Object.entries(asObject(json)).flatMap(([name, value]) => {
      const quantity = quantityOf(value);
      return quantity === undefined ? [] : [[name, quantity]];
    }),
  );

/** A person may write a number. */
function quantityOf(json: unknown): NodePodQuantity | undefined {
  if (typeof json === 'number') return { string: String(json) };
  return typeof json === 'string' ? { string: json } : undefined;
}

function timeOf(value: unknown): { seconds: number } | undefined {
  const ms = Date.parse(asText(value));
  return Number.isNaN(ms) ? undefined : { seconds: Math.floor(ms / 1000) };
}

/** Whether a pod that a container or a log belongs to still exists; `unknown`: the API server did not say, so it must count as existing. */
export type PodLookup = (
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
  signal: AbortSignal,
) => Promise<'gone' | 'exists' | 'unknown'>;

/** Asked right before an act, which must not wait long. */
const lookupTimeoutMs = 10_000;

/** Looks a pod of the node up live, past every cache; `uid` may also be that of a static pod, which its mirror pod names. */
export function podLookup(transport: Pick<KubeTransport, 'send'>, nodeName: string): PodLookup {
  return async ({ namespace, name, uid }, signal) => {
    try {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
      const { body } = await transport.send(
        { method: 'GET', path, accept: acceptMetadata, timeoutMs: lookupTimeoutMs, retries: 1 },
        signal,
      );
      const metadata = asObject(asObject(parseJson(body))['metadata']);
      if (asText(metadata['uid']) === '') return 'unknown';
      return hasUid(metadata, uid, nodeName) ? 'exists' : 'gone';
    } catch (err) {
      signal.throwIfAborted();
      // Only the API server's own word that there is no such pod; a proxy's 404 is none.
      return err instanceof ApiError && err.reason === 'NotFound' ? 'gone' : 'unknown';
    }
  };
}
