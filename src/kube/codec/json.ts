import type { V1Status } from '@kubernetes/client-node';
import { isObject } from '../../api/json.ts';
import { bounded, bounds } from '../../runtime/bounds.ts';
import type { ReplicaSet } from '../gen/apps.ts';
import type { Job } from '../gen/batch.ts';
import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  Namespace,
  Node,
  Pod,
  PodCondition,
  PodStatus,
  Quantity,
} from '../gen/core.ts';
import { Status, type ObjectMeta, type OwnerReference, type Time } from '../gen/meta.ts';

declare const odd: unique symbol;

/** Any JSON value, where the API has a T. */
type Untyped<T> = T | { readonly [odd]: true } | undefined;

/** A JSON object with the field names of T. No value is checked yet. */
export type Unchecked<T> = {
  readonly [K in keyof T]?: unknown extends T[K] ? unknown : Untyped<NonNullable<T[K]>>;
};

export type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = Object.freeze({});

export function statusFromJson(json: unknown): Status {
  const { status, message, reason, code, details } = asObject<V1Status>(json);
  const { causes, retryAfterSeconds } = asObject(details);
  return Status.fromPartial({
    status: asText(status),
    message: asText(message),
    reason: asText(reason),
    code: Number(code ?? 0),
    details: {
      causes: asObjects(causes).map((cause) => ({
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
export function asObject<T extends object>(value: Untyped<T>): Unchecked<T>;
// eslint-disable-next-line @typescript-eslint/unified-signatures -- the first one infers T
export function asObject<T extends object = JsonObject>(value: unknown): Unchecked<T>;
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : nothing;
}

/** A manifest may have a number. */
export function quantityOf(json: unknown): Quantity | undefined {
  if (typeof json === 'number') return { string: String(json) };
  return typeof json === 'string' ? { string: json } : undefined;
}

export const quantitiesOf = (json: unknown): Record<string, Quantity> =>
  Object.fromEntries(
    Object.entries(asObject(json)).flatMap(([name, value]) => {
      const quantity = quantityOf(value);
      return quantity === undefined ? [] : [[name, quantity]];
    }),
  );

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A string that is not empty. */
export const textOf = (value: unknown): string | undefined => asText(value) || undefined;

/** A string, cut at the length at which the protobuf readers cut it. */
export const boundedText = (value: unknown): string => bounded(asText(value), bounds.text);

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list. An item of another type counts as an empty object. */
export function asObjects<T extends object>(value: Untyped<readonly T[]>): readonly Unchecked<T>[];
// eslint-disable-next-line @typescript-eslint/unified-signatures -- as above
export function asObjects<T extends object = JsonObject>(value: unknown): readonly Unchecked<T>[];
export function asObjects(value: unknown): readonly JsonObject[] {
  return asList(value).map((item) => asObject(item));
}

export const numberFromJson = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** A metav1.Time; undefined if the value is missing or not a time. */
export function timeFromJson(value: unknown): Time | undefined {
  const ms = Date.parse(asText(value));
  return Number.isNaN(ms) ? undefined : { seconds: Math.floor(ms / 1000) };
}

export function textsFromJson(json: unknown): Record<string, string> {
  const texts = Object.entries(asObject(json)).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts.map(([key, value]) => [boundedText(key), boundedText(value)]));
}

type Reader<T> = (json: unknown) => T;

/** Reads a JSON object as a message of `gen/`: each field by its own reader, and no others. */
export function message<T extends object>(readers: { readonly [K in keyof T]-?: Reader<T[K]> }): Reader<T> {
  const names = Object.keys(readers) as (keyof T & string)[];
  return (json) => {
    const object = asObject(json);
    const read: Partial<T> = {};
    for (const name of names) read[name] = readers[name](object[name]);
    return read as T;
  };
}

/** Reads a list; a value of another type is an empty one. */
export const listOf =
  <T>(read: Reader<T>): Reader<T[]> =>
  (json) =>
    asList(json).map(read);

const ifObject =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (json) =>
    isObject(json) ? read(json) : undefined;

export const ownersFromJson = listOf(
  message<OwnerReference>({
    apiVersion: boundedText,
    kind: boundedText,
    name: boundedText,
    uid: boundedText,
    controller: (value) => value === true,
  }),
);

const numberOrZero = (value: unknown): number => numberFromJson(value) ?? 0;

const metadata = message<ObjectMeta>({
  name: boundedText,
  namespace: boundedText,
  uid: boundedText,
  resourceVersion: boundedText,
  generation: numberOrZero,
  creationTimestamp: timeFromJson,
  deletionTimestamp: timeFromJson,
  deletionGracePeriodSeconds: numberFromJson,
  labels: textsFromJson,
  ownerReferences: ownersFromJson,
  finalizers: (value) =>
    asList(value)
      .filter((finalizer) => typeof finalizer === 'string')
      .map(boundedText),
});

const conditions = listOf(
  message<PodCondition>({
    type: boundedText,
    status: boundedText,
    reason: boundedText,
    message: boundedText,
    lastTransitionTime: timeFromJson,
  }),
);

/** Reads the status of a pod. The limit applies to the texts that decide how it ended. */
function podStatus(maxTextBytes: number): Reader<PodStatus> {
  const text = (value: unknown): string => bounded(asText(value), maxTextBytes);
  const terminated = message<ContainerStateTerminated>({
    reason: text,
    exitCode: numberOrZero,
    finishedAt: timeFromJson,
  });
  const state = message<ContainerState>({
    waiting: ifObject(message({ reason: boundedText, message: boundedText })),
    running: ifObject(message({})),
    terminated: ifObject(terminated),
  });
  const containers = listOf(
    message<ContainerStatus>({ name: boundedText, image: boundedText, state, lastState: state }),
  );
  return message({
    phase: text,
    reason: text,
    message: text,
    conditions,
    startTime: timeFromJson,
    containerStatuses: containers,
    initContainerStatuses: containers,
    ephemeralContainerStatuses: containers,
  });
}

const containers = listOf(message<Container>({ name: boundedText, restartPolicy: boundedText }));

// The JSON form of an object becomes the message of its protobuf form, so that one function makes the facts of both.

/** The texts of the status are cut. */
export const podFromJson = message<Pod>({
  metadata,
  spec: message({
    nodeName: boundedText,
    restartPolicy: boundedText,
    containers,
    initContainers: containers,
  }),
  status: podStatus(bounds.text),
});

/** Reads the status of a pod, without cutting its texts. */
export const wholeStatusFromJson = (json: unknown): PodStatus => wholeStatus(asObject(json)['status']);

const wholeStatus = podStatus(Infinity);

export const nodeFromJson = message<Node>({
  metadata,
  spec: message({ taints: listOf(message({ key: boundedText })) }),
  status: message({
    allocatable: quantitiesOf,
    conditions,
    nodeInfo: message({ containerRuntimeVersion: boundedText }),
  }),
});

export const namespaceFromJson = message<Namespace>({ metadata });
export const jobFromJson = message<Job>({ metadata, status: message({ conditions }) });
export const replicaSetFromJson = message<ReplicaSet>({ metadata });
