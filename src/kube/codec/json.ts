import type {
  V1ContainerState,
  V1ContainerStateTerminated,
  V1ContainerStatus,
  V1Job,
  V1Namespace,
  V1Node,
  V1NodeSpec,
  V1NodeStatus,
  V1ObjectMeta,
  V1OwnerReference,
  V1Pod,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
  V1ReplicaSet,
  V1Status,
  V1StatusCause,
  V1StatusDetails,
} from '@kubernetes/client-node';
import { isObject } from '../../api/json.ts';
import { bounded, bounds } from '../../runtime/bounds.ts';
import type { ReplicaSet } from '../gen/apps.ts';
import type { Job } from '../gen/batch.ts';
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  Namespace,
  Node,
  Pod,
  PodStatus,
} from '../gen/core.ts';
import { Status, type ObjectMeta, type OwnerReference, type Time } from '../gen/meta.ts';

/** A JSON object with the field names of T. No value is checked yet. */
export type Unchecked<T> = { readonly [K in keyof T]?: unknown };

export type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = Object.freeze({});

/** Converts the JSON form of a pod to the message of its protobuf form, so that one function makes the facts of both. The texts of its status are cut. */
export function podFromJson(json: unknown): Pod {
  const { metadata, spec, status }: Unchecked<V1Pod> = asObject(json);
  const { nodeName, restartPolicy, containers, initContainers }: Unchecked<V1PodSpec> = asObject(spec);
  return {
    metadata: metaFromJson(metadata),
    spec: {
      nodeName: boundedText(nodeName),
      restartPolicy: boundedText(restartPolicy),
      containers: asObjects(containers).map((one) => texts(one, ['name', 'restartPolicy'])),
      initContainers: asObjects(initContainers).map((one) => texts(one, ['name', 'restartPolicy'])),
    },
    status: podStatusFromJson(asObject(status), bounds.text),
  };
}

/** Converts the status of a pod, without cutting its texts. */
export function wholeStatusFromJson(json: unknown): PodStatus {
  const { status }: Unchecked<V1Pod> = asObject(json);
  return podStatusFromJson(asObject(status), Infinity);
}

export function nodeFromJson(json: unknown): Node {
  const { metadata, spec, status }: Unchecked<V1Node> = asObject(json);
  const { taints }: Unchecked<V1NodeSpec> = asObject(spec);
  const { nodeInfo }: Unchecked<V1NodeStatus> = asObject(status);
  return {
    metadata: metaFromJson(metadata),
    spec: { taints: asObjects(taints).map((taint) => texts(taint, ['key'])) },
    status: {
      ...conditionsFromJson(status),
      nodeInfo: texts(asObject(nodeInfo), ['containerRuntimeVersion']),
    },
  };
}

export function namespaceFromJson(json: unknown): Namespace {
  const { metadata }: Unchecked<V1Namespace> = asObject(json);
  return { metadata: metaFromJson(metadata) };
}

export function jobFromJson(json: unknown): Job {
  const { metadata, status }: Unchecked<V1Job> = asObject(json);
  return { metadata: metaFromJson(metadata), status: conditionsFromJson(status) };
}

export function replicaSetFromJson(json: unknown): ReplicaSet {
  const { metadata }: Unchecked<V1ReplicaSet> = asObject(json);
  return { metadata: metaFromJson(metadata) };
}

/** Reads the JSON form of a metav1.Status. */
export function statusFromJson(json: unknown): Status {
  const { status, message, reason, code, details }: Unchecked<V1Status> = asObject(json);
  const { causes, retryAfterSeconds }: Unchecked<V1StatusDetails> = asObject(details);
  return Status.fromPartial({
    status: asText(status),
    message: asText(message),
    reason: asText(reason),
    code: Number(code ?? 0),
    details: {
      causes: asObjects(causes).map((cause: Unchecked<V1StatusCause>) => ({
        reason: asText(cause.reason),
        message: asText(cause.message),
      })),
      retryAfterSeconds: Number(retryAfterSeconds ?? 0),
    },
  });
}

/** Parses JSON in a slice of a buffer. */
export function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
}

/** `value` if it is a JSON object, else an empty one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : nothing;
}

/** `value` if it is a string, else the empty one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A string, cut at the length at which the protobuf readers cut it. */
export const boundedText = (value: unknown): string => bounded(asText(value), bounds.text);

/** `value` if it is an array, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list. An item of another type counts as an empty object. */
export function asObjects(value: unknown): readonly JsonObject[] {
  return asList(value).map(asObject);
}

function podStatusFromJson(status: Unchecked<V1PodStatus>, maxTextBytes: number): PodStatus {
  return {
    ...texts(status, ['phase', 'reason', 'message'], maxTextBytes),
    ...conditionsFromJson(status),
    startTime: timeFromJson(status.startTime),
    containerStatuses: containersFromJson(status.containerStatuses, maxTextBytes),
    initContainerStatuses: containersFromJson(status.initContainerStatuses, maxTextBytes),
    ephemeralContainerStatuses: containersFromJson(status.ephemeralContainerStatuses, maxTextBytes),
  };
}

function containersFromJson(json: unknown, maxTextBytes: number): ContainerStatus[] {
  return asObjects(json).map(({ name, image, state, lastState }: Unchecked<V1ContainerStatus>) => ({
    name: boundedText(name),
    image: boundedText(image),
    state: stateFromJson(state, maxTextBytes),
    lastState: stateFromJson(lastState, maxTextBytes),
  }));
}

function stateFromJson(state: unknown, maxTextBytes: number): ContainerState {
  const { waiting, running, terminated }: Unchecked<V1ContainerState> = asObject(state);
  return {
    waiting: isObject(waiting) ? texts(waiting, ['reason', 'message']) : undefined,
    running: isObject(running) ? {} : undefined,
    terminated: isObject(terminated) ? terminatedFromJson(terminated, maxTextBytes) : undefined,
  };
}

const terminatedFromJson = (
  terminated: Unchecked<V1ContainerStateTerminated>,
  maxTextBytes: number,
): ContainerStateTerminated => ({
  ...texts(terminated, ['reason'], maxTextBytes),
  exitCode: numberFromJson(terminated.exitCode) ?? 0,
  finishedAt: timeFromJson(terminated.finishedAt),
});

type Condition = PodStatus['conditions'][number];

function conditionsFromJson(status: unknown): { conditions: Condition[] } {
  const { conditions }: Unchecked<V1PodStatus> = asObject(status);
  return {
    conditions: asObjects(conditions).map((one: Unchecked<V1PodCondition>) => ({
      ...texts(one, ['type', 'status', 'reason', 'message']),
      lastTransitionTime: timeFromJson(one.lastTransitionTime),
    })),
  };
}

function metaFromJson(metadata: unknown): ObjectMeta {
  const meta: Unchecked<V1ObjectMeta> = asObject(metadata);
  return {
    ...texts(meta, ['name', 'namespace', 'uid', 'resourceVersion']),
    generation: numberFromJson(meta.generation) ?? 0,
    creationTimestamp: timeFromJson(meta.creationTimestamp),
    deletionTimestamp: timeFromJson(meta.deletionTimestamp),
    deletionGracePeriodSeconds: numberFromJson(meta.deletionGracePeriodSeconds),
    labels: textsFromJson(meta.labels),
    ownerReferences: ownersFromJson(meta.ownerReferences),
    finalizers: asList(meta.finalizers)
      .filter((finalizer) => typeof finalizer === 'string')
      .map(boundedText),
  };
}

/** A map of strings, such as labels and annotations. */
export function textsFromJson(json: unknown): Record<string, string> {
  const texts = Object.entries(asObject(json)).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts.map(([key, value]) => [boundedText(key), boundedText(value)]));
}

/** The owner references of an object. */
export function ownersFromJson(json: unknown): OwnerReference[] {
  return asObjects(json).map((owner: Unchecked<V1OwnerReference>) => ({
    ...texts(owner, ['apiVersion', 'kind', 'name', 'uid']),
    controller: owner.controller === true,
  }));
}

function texts<K extends string>(
  object: Partial<Readonly<Record<K, unknown>>>,
  keys: readonly K[],
  maxTextBytes: number = bounds.text,
): Record<K, string> {
  // The return type of fromEntries has no keys.
  return Object.fromEntries(keys.map((key) => [key, bounded(asText(object[key]), maxTextBytes)])) as Record<
    K,
    string
  >;
}

/** `value` if it is a number. */
export const numberFromJson = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** A metav1.Time; undefined if the value is missing or not a time. */
export function timeFromJson(value: unknown): Time | undefined {
  const ms = Date.parse(asText(value));
  return Number.isNaN(ms) ? undefined : { seconds: Math.floor(ms / 1000) };
}
