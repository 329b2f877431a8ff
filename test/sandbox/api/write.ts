import { randomUUID } from 'node:crypto';
import {
  alreadyExists,
  conflict,
  Failure,
  invalid,
  invalidValue,
  methodNotAllowed,
  notFound,
  objectDetails,
  resourceName,
  type StatusCause,
} from './failure.ts';
import {
  asList,
  asObject,
  asText,
  isEqual,
  isObject,
  without,
  type JsonObject,
  type KubeObject,
  type ObjectMeta,
} from './format/json.ts';
import type { Call } from './request.ts';
import { apiVersionOf, type Resource } from './resources.ts';
import { metadataCauses } from './rules.ts';
import { timestamp } from './store.ts';

/** POST: validates a new object, sets its defaults and stores it, except in a dry run. */
export function create(call: Call): KubeObject {
  const { resource, store, query } = call;
  const object = admitted(call, fresh(call));
  const { name, namespace } = object.metadata;
  if (store.get(resource, namespace, name) !== undefined) throw alreadyExists(resource, name);
  return query.get('dryRun') === 'All' ? object : store.put(resource, object);
}

/** PUT: replaces the object if it has not changed since the client read it. */
export function update(call: Call): KubeObject {
  const { resource, name, body } = call;
  const old = stored(call);
  const incoming = decoded(call, body);
  if (resource.rules.needsVersion && asText(asObject(body['metadata'])['resourceVersion']) === '') {
    throw invalid(resource, name, [
      invalidValue('metadata.resourceVersion', 'must be specified for an update'),
    ]);
  }
  return replace(call, incoming, old);
}

const strategicType = 'application/strategic-merge-patch+json';

const jsonPatchType = 'application/json-patch+json';

/** PATCH: merges into the stored object. A resourceVersion or UID in the patch must be the stored one. */
export function patch(call: Call): KubeObject {
  const { contentType, body, resource } = call;
  const old = stored(call);
  const isStrategic = contentType === strategicType && !resource.custom;
  const patched =
    contentType === jsonPatchType
      ? operated(old, asList(body['operations']))
      : merged(old, body, isStrategic);
  return replace(call, decoded(call, asObject(patched)), old);
}

/** RFC 6902; dustpan sends only `test` of a text, and `add` of a field of the object. */
function operated(old: KubeObject, operations: readonly unknown[]): JsonObject {
  let patched: JsonObject = old;
  for (const { op, path, value } of operations.map(asObject)) {
    const fields = asText(path).split('/').slice(1);
    const [field = ''] = fields;
    if (op === 'add' && fields.length === 1) patched = { ...patched, [field]: value };
    else if (op !== 'test') throw badPatch(`unsupported operation: ${JSON.stringify(op)}`);
    else if (fields.reduce<unknown>((part, name) => asObject(part)[name], patched) !== value)
      throw badPatch(`testing value ${asText(path)} failed: test failed`);
  }
  return patched;
}

const badPatch = (message: string): Failure => new Failure(message, { code: 422, reason: 'Invalid' });

function stored({ store, resource, namespace, name }: Call): KubeObject {
  const old = store.get(resource, namespace, name);
  if (old === undefined) throw notFound(resource, name);
  return old;
}

/** Throws unless new objects may be created in the namespace of the request. */
export function checkNamespace({ store, registry, resource, namespace }: Call, name: string): void {
  if (!resource.namespaced) return;
  if (namespace === undefined) throw methodNotAllowed();
  const namespaces = registry.byKind('Namespace');
  const found = store.get(namespaces, undefined, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (asObject(found['status'])['phase'] !== 'Terminating') return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const causes = [{ reason: 'NamespaceTerminating', message: why, field: 'metadata.namespace' }];
  const details = { ...objectDetails(resource, name), causes };
  const message = `${resourceName(resource)} "${name}" is forbidden: ${why}`;
  throw new Failure(message, { code: 403, reason: 'Forbidden', details });
}

function fresh(call: Call): KubeObject {
  const { resource } = call;
  const { rules } = resource;
  const object = decoded(call, call.body);
  const { metadata } = object;
  const { name } = metadata;
  checkNamespace(call, name);
  const isStatusKept = rules.keepsStatus === true || !resource.subresources.includes('status');
  const kept = without(metadata, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation');
  const identity = { name, uid: randomUUID(), creationTimestamp: timestamp() };
  const generation = rules.countsGenerations ? { generation: 1 } : {};
  const body = isStatusKept ? object : (without(object, 'status') as KubeObject);
  return { ...body, metadata: { ...kept, resourceVersion: '', ...identity, ...generation } };
}

/** The object of a body. */
function decoded({ resource, namespace }: Call, body: JsonObject): KubeObject {
  const metadata = asObject(body['metadata']);
  const texts = ['name', 'uid', 'resourceVersion', 'creationTimestamp'].map((field) => [
    field,
    asText(metadata[field]),
  ]);
  return {
    ...body,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: cleaned({
      ...metadata,
      ...(Object.fromEntries(texts) as Pick<ObjectMeta, 'name'>),
      ...(namespace === undefined ? {} : { namespace }),
    }),
  };
}

/** Removes nulls, empty maps and empty lists, like the real server. */
function cleaned(metadata: JsonObject): ObjectMeta {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    value === null ||
    (isObject(value) && Object.keys(value).length === 0) ||
    (Array.isArray(value) && value.length === 0);
  const kept = Object.entries(metadata).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(kept) as ObjectMeta;
}

/** Returns the object with its defaults; throws 422 if it is invalid. */
function admitted(
  { resource }: Pick<Call, 'resource'>,
  object: KubeObject,
  { old, causes = [] }: { readonly old?: KubeObject; readonly causes?: readonly StatusCause[] } = {},
): KubeObject {
  const result = resource.rules.admit(object, old);
  const all = [...causes, ...metadataCauses(object), ...result.causes];
  if (all.length === 0) return result.object;
  throw invalid(resource, object.metadata.name, all);
}

function replace(call: Call, incoming: KubeObject, old: KubeObject): KubeObject {
  const { resource, name, store } = call;
  if (!['', old.metadata.resourceVersion].includes(incoming.metadata.resourceVersion)) {
    const why = 'the object has been modified; please apply your changes to the latest version and try again';
    throw conflict(resource, name, why);
  }
  const own = ownPart(call, incoming, old);
  const causes = uidCauses(call, incoming, old);
  const object = counted(resource, admitted(call, own, { old, causes }), old);
  if (isEqual(object, old)) return object;
  if (!isReleased(object)) return store.put(resource, object);
  return store.remove(resource, object);
}

/** The real server ignores the UID in a write of a custom resource's status. */
function uidCauses(
  { resource, subresource }: Call,
  { metadata }: KubeObject,
  old: KubeObject,
): readonly StatusCause[] {
  if (resource.custom && subresource === 'status') return [];
  if (['', old.metadata.uid].includes(metadata.uid)) return [];
  return [invalidValue('metadata.uid', 'field is immutable', metadata.uid)];
}

/** The part of the incoming object that this path may change: everything but the status, or the status. */
function ownPart({ resource, subresource }: Call, incoming: KubeObject, old: KubeObject): KubeObject {
  const { uid, resourceVersion, creationTimestamp, generation } = old.metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  const identity = { uid, resourceVersion, creationTimestamp, generation };
  const deletion = { deletionTimestamp, deletionGracePeriodSeconds };
  const metadata = cleaned({ ...incoming.metadata, ...identity, ...deletion });
  const statusOf = ({ status }: KubeObject): JsonObject => (status === undefined ? {} : { status });
  if (subresource === 'status') return { ...old, ...statusOf(incoming) };
  if (!resource.subresources.includes('status')) return { ...incoming, metadata };
  return { ...(without(incoming, 'status') as KubeObject), ...statusOf(old), metadata };
}

function counted({ rules }: Resource, object: KubeObject, old: KubeObject): KubeObject {
  const spec = (of: KubeObject): JsonObject => without(of, 'metadata', 'status');
  if (!rules.countsGenerations || isEqual(spec(object), spec(old))) return object;
  const generation = (old.metadata.generation ?? 0) + 1;
  return { ...object, metadata: { ...object.metadata, generation } };
}

/** Whether an object that is being deleted has no finalizers and no grace period left. */
function isReleased({ metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  return (metadata.finalizers ?? []).length === 0 && metadata.deletionGracePeriodSeconds === 0;
}

/** RFC 7386: null removes, lists are replaced. The strategic form merges conditions by type; dustpan sends no other list. */
function merged(target: unknown, body: unknown, isStrategic: boolean): unknown {
  if (!isObject(body)) return body;
  const result = new Map(Object.entries(asObject(target)));
  for (const [name, value] of Object.entries(body)) {
    if (value === null) result.delete(name);
    else if (isStrategic && name === 'conditions') result.set(name, byType(result.get(name), value));
    else result.set(name, merged(result.get(name), value, isStrategic));
  }
  return Object.fromEntries(result);
}

function byType(old: unknown, added: unknown): readonly unknown[] {
  const conditions = new Map([...asList(old), ...asList(added)].map((one) => [asObject(one)['type'], one]));
  return [...conditions.values()];
}
