import type { V1ObjectMeta, V1Pod } from '@kubernetes/client-node';
import {
  asObject,
  asObjects,
  asText,
  jobFromJson,
  namespaceFromJson,
  nodeFromJson,
  parseJson,
  podFromJson,
  replicaSetFromJson,
  timeFromJson,
  wholeStatusFromJson,
  type Unchecked,
} from '../codec/json.ts';
import { SKIP_HOLD_ANNOTATION } from '../../api/policy/matching.ts';
import { bounded, bounds } from '../../runtime/bounds.ts';
import type { Codec } from '../codec/list.ts';
import { decodeWhole, type Decoder } from '../codec/reader.ts';
import { MalformedError } from '../codec/frames.ts';
import { ReplicaSet } from '../gen/apps.ts';
import { Job } from '../gen/batch.ts';
import { Annotated, Managed, Written } from '../gen/meta.ts';
import { Namespace, Node, Pod } from '../gen/core.ts';
import { acceptJson, acceptMetadataList, acceptProtobuf } from '../http/media-types.ts';
import {
  jobFacts,
  namespaceFacts,
  nodeFacts,
  podFacts,
  replicaSetFacts,
  type Keep,
  type Unread,
} from './facts.ts';
import type {
  Identified,
  JobFacts,
  LabelKeys,
  NamespaceFacts,
  NodeFacts,
  PodFacts,
  RawFacts,
  ReplicaSetFacts,
} from './objects.ts';
import { finishOf, ms, type Writer } from './pod-end.ts';
import type { PodTraits } from './pod-record.ts';
import { TtlResults } from './ttl-results.ts';
import { SharedValues } from '../codec/shared-values.ts';

export const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
export const reportsPath = '/apis/gc.dustpan.dev/v1alpha1/nodegcreports';

export interface Resource<T> {
  /** The plural, for logs and metrics, e.g. `pods`. */
  readonly name: string;
  readonly path: string;
  /** Selectors; the reflector adds its own parameters. */
  readonly query: Readonly<Record<string, string>>;
  readonly accept: string;
  /** The kind may not be installed (a CRD): 404 then means "no objects". */
  readonly optional: boolean;
  readonly codec: Codec<T>;
}

export function podsResource(options: {
  /** Evaluated for each object: relist after a change. */
  readonly labelKeys: () => LabelKeys;
  readonly namespace?: string | undefined;
}): Resource<PodFacts> {
  const scope = options.namespace === undefined ? '' : `/namespaces/${options.namespace}`;
  return builtIn({ name: 'pods', path: `/api/v1${scope}/pods`, query: {} }, podCodec(options.labelKeys));
}

/** All nodes, or the one named `name`, with all their labels. */
export function nodesResource(options: { readonly name?: string } = {}): Resource<NodeFacts> {
  const query = options.name === undefined ? {} : { fieldSelector: `metadata.name=${options.name}` };
  return builtIn({ name: 'nodes', path: '/api/v1/nodes', query }, nodeCodec());
}

export function namespacesResource(): Resource<NamespaceFacts> {
  return builtIn({ name: 'namespaces', path: '/api/v1/namespaces', query: {} }, namespaceCodec());
}

export function jobsResource(): Resource<JobFacts> {
  return builtIn({ name: 'jobs', path: '/apis/batch/v1/jobs', query: {} }, jobCodec());
}

export function replicaSetsResource(): Resource<ReplicaSetFacts> {
  return builtIn({ name: 'replicasets', path: '/apis/apps/v1/replicasets', query: {} }, replicaSetCodec());
}

interface JsonCollection {
  readonly name: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** A custom resource; its objects are kept whole. */
export const jsonResource = (collection: JsonCollection): Resource<RawFacts> =>
  inJson(collection, (json, known) => {
    const facts = rawFacts(asObject(json));
    return sameState(known, facts) ?? facts;
  });

export const policiesResource = (): Resource<RawFacts> =>
  jsonResource({ name: 'gcpolicies', path: policiesPath });

/** The metadata of objects of any kind, those that `selector` selects. A custom resource may not be installed. */
export function metadataResource(collection: {
  readonly name: string;
  readonly path: string;
  /** In the syntax of `kubectl get -l`. */
  readonly selector?: string | undefined;
  /** The only object. */
  readonly object?: string | undefined;
}): Resource<Identified> {
  const { name, path, selector, object } = collection;
  const query = {
    ...(selector !== undefined && { labelSelector: selector }),
    ...(object !== undefined && { fieldSelector: `metadata.name=${object}` }),
  };
  const fromJson = (json: unknown): Identified => ({
    ...identityOf(json),
    namespace: asText(metadataOf(json).namespace) || undefined,
  });
  return { ...inJson({ name, path, query }, fromJson), accept: acceptMetadataList };
}

/** A text that is missing is ''. */
export function identityOf(json: unknown): Omit<Identified, 'namespace'> {
  const { uid, name, resourceVersion } = metadataOf(json);
  return { uid: asText(uid), name: asText(name), resourceVersion: asText(resourceVersion) };
}

const metadataOf = (json: unknown): Unchecked<V1ObjectMeta> => asObject(asObject(json)['metadata']);

/** A kind that is read as JSON and may not be installed, as a custom resource. */
export function inJson<T>(
  { name, path, query = {} }: JsonCollection,
  fromJson: Codec<T>['fromJson'],
): Resource<T> {
  const fromProtobuf = (): never => {
    throw new MalformedError('protobuf in the response to a request for JSON');
  };
  return { name, path, query, accept: acceptJson, optional: true, codec: { fromProtobuf, fromJson } };
}

export function podCodec(labelKeys: () => LabelKeys): Codec<PodFacts> {
  return codec(Pod, { fromJson: podFromJson, toFacts: podFacts }, labelKeys);
}

export function nodeCodec(): Codec<NodeFacts> {
  return codec(Node, { fromJson: nodeFromJson, toFacts: unlessKnown(nodeFacts) });
}

export function namespaceCodec(): Codec<NamespaceFacts> {
  return codec(Namespace, { fromJson: namespaceFromJson, toFacts: unlessKnown(namespaceFacts) });
}

export function jobCodec(): Codec<JobFacts> {
  return codec(Job, { fromJson: jobFromJson, toFacts: unlessKnown(jobFacts) });
}

export function replicaSetCodec(): Codec<ReplicaSetFacts> {
  return codec(ReplicaSet, { fromJson: replicaSetFromJson, toFacts: unlessKnown(replicaSetFacts) });
}

type Identity = Pick<Identified, 'uid' | 'resourceVersion'>;

/** Converts the JSON of one kind to the message of its protobuf form, and that message to facts. */
interface Kind<M, T> {
  fromJson(json: unknown): M;
  /** `known`: the facts of the same state, if known. */
  toFacts(message: M, keep: Keep, unread: Unread, known: T | undefined): T;
}

/** Keeps the labels in `labelKeys`, all by default. */
function codec<M extends { readonly metadata: Identity | undefined }, T extends Identified>(
  decoder: Decoder<M>,
  kind: Kind<M, T>,
  labelKeys: () => LabelKeys = () => 'all',
): Codec<T> {
  const keep = {
    labelKeys,
    texts: new SharedValues<string>(),
    ends: new SharedValues<PodFacts['ends']>(),
    podTraits: new SharedValues<PodTraits>(),
    ttlResults: new TtlResults(),
  };
  const facts = (message: M, unread: Unread, known?: ReadonlyMap<string, T>): T =>
    kind.toFacts(message, keep, unread, sameState(known, message.metadata));
  return {
    fromProtobuf: (bytes, known) => facts(decodeWhole(decoder, bytes), unreadBytes(bytes), known),
    fromJson: (json, known) => facts(kind.fromJson(json), unreadJson(json), known),
  };
}

const unreadBytes = (bytes: Buffer): Unread => ({
  annotation: (key) => decodeWhole(Annotated, bytes).metadata?.annotations[key],
  status: () => decodeWhole(Pod, bytes, Infinity).status,
  writers: () =>
    decodeWhole(Written, bytes).metadata?.managedFields.map(({ time }, i) => ({
      writtenAtMs: ms(time),
      fields: () => parsed(decodeWhole(Managed, bytes).metadata?.managedFields[i]?.fieldsV1?.raw),
    })) ?? [],
});

/** undefined = no JSON: one object with malformed fields must not make a list fail. */
function parsed(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes === undefined ? undefined : parseJson(bytes);
  } catch {
    return undefined;
  }
}

const unreadJson = (json: unknown): Unread => ({
  annotation: (key) => annotationOf(json, key),
  status: () => wholeStatusFromJson(json),
  writers: () => writersOf(asObject(json)),
});

/** The field in the status of a pod that a snapshot has instead of managedFields; the API server has no such field. */
export const PHASE_TIME = 'phaseTime';

function writersOf({ metadata, status }: Unchecked<V1Pod>): readonly Writer[] {
  const state: unknown = status;
  const { managedFields } = asObject(metadata);
  const phaseTime = timeFromJson(asObject(state)[PHASE_TIME]);
  const phase: Writer = { writtenAtMs: ms(phaseTime), fields: () => ({ 'f:status': { 'f:phase': {} } }) };
  return [
    ...(phaseTime === undefined ? [] : [phase]),
    ...asObjects(managedFields).map(({ time, fieldsV1 }) => ({
      writtenAtMs: ms(timeFromJson(time)),
      fields: () => fieldsV1,
    })),
  ];
}

/** The time of a pod that a snapshot must have beside its status, so that a plan from it counts the same ttl. */
export const finishedByOf = (json: unknown): number | undefined =>
  finishOf(podFromJson(json), unreadJson(json).writers).finishedByMs;

function annotationOf(json: unknown, key: string): string | undefined {
  const { annotations } = asObject(asObject(json)['metadata']);
  const value = asObject(annotations)[key];
  return typeof value === 'string' ? value : undefined;
}

const unlessKnown =
  <M, T>(make: (message: M, keep: Keep) => T) =>
  (message: M, keep: Keep, _: Unread, known: T | undefined): T =>
    known ?? make(message, keep);

function sameState<T extends Identified>(
  known: ReadonlyMap<string, T> | undefined,
  meta: Identity | undefined,
): T | undefined {
  const object = known?.get(meta?.uid ?? '');
  return object?.resourceVersion === meta?.resourceVersion ? object : undefined;
}

function rawFacts(object: Readonly<Record<string, unknown>>): RawFacts {
  const identity = identityOf(object);
  if (identity.uid === '') throw new MalformedError('object without metadata.uid');
  return { ...identity, object: { ...object, metadata: keptMetadata(metadataOf(object)) } };
}

/** The schema of a kind bounds everything but the metadata. */
function keptMetadata(meta: Unchecked<V1ObjectMeta>): object {
  const kept = Object.fromEntries(
    metadataFields.flatMap((field) => (field in meta ? [[field, meta[field]]] : [])),
  );
  const skipHold = annotationOf({ metadata: meta }, SKIP_HOLD_ANNOTATION);
  return skipHold === undefined
    ? kept
    : { ...kept, annotations: { [SKIP_HOLD_ANNOTATION]: bounded(skipHold, bounds.uid) } };
}

const metadataFields = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
] as const satisfies readonly (keyof V1ObjectMeta)[];

function builtIn<T>(where: Pick<Resource<T>, 'name' | 'path' | 'query'>, itemCodec: Codec<T>): Resource<T> {
  return { ...where, accept: acceptProtobuf, optional: false, codec: itemCodec };
}
