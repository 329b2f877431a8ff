import { bounded, bounds } from '../../runtime/bounds.ts';
import type { ReplicaSet } from '../gen/apps.ts';
import type { Job } from '../gen/batch.ts';
import type { ContainerStatus, Namespace, Node, Pod, PodStatus } from '../gen/core.ts';
import type { ObjectMeta, OwnerReference, Time } from '../gen/meta.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = Object.freeze({});

/** The JSON form of a pod as the message its protobuf form decodes to, so that one function makes the facts of both. */
export function podFromJson(json: unknown): Pod {
  const pod = asObject(json);
  return {
    metadata: metaFromJson(pod),
    spec: { nodeName: boundedText(asObject(pod['spec'])['nodeName']) },
    status: podStatusFromJson(asObject(pod['status'])),
  };
}

/** The JSON form of a node, likewise. */
export function nodeFromJson(json: unknown): Node {
  const node = asObject(json);
  return {
    metadata: metaFromJson(node),
    spec: {
      taints: objectsOf(asObject(node['spec'])['taints']).map((t) => texts(t, ['key'])),
    },
    status: { conditions: conditionsFromJson(node) },
  };
}

/** The JSON form of a namespace, likewise. */
export function namespaceFromJson(json: unknown): Namespace {
  return { metadata: metaFromJson(asObject(json)) };
}

/** The JSON form of a Job, likewise. */
export function jobFromJson(json: unknown): Job {
  const job = asObject(json);
  return { metadata: metaFromJson(job), status: { conditions: conditionsFromJson(job) } };
}

/** The JSON form of a ReplicaSet, likewise. */
export function replicaSetFromJson(json: unknown): ReplicaSet {
  return { metadata: metaFromJson(asObject(json)) };
}

/** `value` when it is a JSON object, else an empty one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : nothing;
}

/** `value` when it is a string, else the empty one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A text of an object as the protobuf readers have it: one that is absurdly long is cut. */
export const boundedText = (value: unknown): string => bounded(asText(value), bounds.text);

/** `value` when it is an array, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function podStatusFromJson(status: JsonObject): PodStatus {
  const conditions = objectsOf(status['conditions']).map((c) => ({
    lastTransitionTime: timeFromJson(c['lastTransitionTime']),
  }));
  return {
    ...texts(status, ['phase', 'reason', 'message']),
    conditions,
    startTime: timeFromJson(status['startTime']),
    containerStatuses: containersFromJson(status['containerStatuses']),
    initContainerStatuses: containersFromJson(status['initContainerStatuses']),
    ephemeralContainerStatuses: containersFromJson(status['ephemeralContainerStatuses']),
  };
}

function containersFromJson(json: unknown): ContainerStatus[] {
  return objectsOf(json).map((status) => {
    const terminated = asObject(asObject(status['state'])['terminated']);
    return { state: { terminated: { finishedAt: timeFromJson(terminated['finishedAt']) } } };
  });
}

function conditionsFromJson(object: JsonObject): { type: string; status: string }[] {
  return objectsOf(asObject(object['status'])['conditions']).map((c) => texts(c, ['type', 'status']));
}

function metaFromJson(object: JsonObject): ObjectMeta {
  const meta = asObject(object['metadata']);
  const grace = meta['deletionGracePeriodSeconds'];
  const { generation } = meta;
  return {
    ...texts(meta, ['name', 'namespace', 'uid', 'resourceVersion']),
    generation: typeof generation === 'number' ? generation : 0,
    creationTimestamp: timeFromJson(meta['creationTimestamp']),
    deletionTimestamp: timeFromJson(meta['deletionTimestamp']),
    deletionGracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    labels: textsFromJson(meta['labels']),
    ownerReferences: ownersFromJson(meta),
    finalizers: asList(meta['finalizers'])
      .filter((f) => typeof f === 'string')
      .map(boundedText),
  };
}

/** A map of texts, such as labels and annotations. */
export function textsFromJson(json: unknown): Record<string, string> {
  const texts = Object.entries(asObject(json)).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts.map(([key, value]) => [boundedText(key), boundedText(value)]));
}

/** The owner references in the metadata of an object. */
export function ownersFromJson(metadata: JsonObject): OwnerReference[] {
  return objectsOf(metadata['ownerReferences']).map((owner) => ({
    ...texts(owner, ['apiVersion', 'kind', 'name', 'uid']),
    controller: owner['controller'] === true,
  }));
}

function objectsOf(json: unknown): readonly JsonObject[] {
  return asList(json).map(asObject);
}

function texts<K extends string>(object: JsonObject, keys: readonly K[]): Record<K, string> {
  // fromEntries forgets the keys it was given.
  return Object.fromEntries(keys.map((key) => [key, boundedText(object[key])])) as Record<K, string>;
}

/** A time as metav1.Time writes it; undefined = none, or no time. */
export function timeFromJson(value: unknown): Time | undefined {
  const ms = Date.parse(asText(value));
  return Number.isNaN(ms) ? undefined : { seconds: Math.floor(ms / 1000) };
}
