import { create, isDryRun } from './create.ts';
import { cause, conflict, invalid, notFound, type StatusCause } from './failure.ts';
import { cleanMetadata, incomingObject } from './incoming.ts';
import { isEqual, without, type JsonObject, type KubeObject, type ObjectMeta } from './json.ts';
import type { RequestInfo } from './request-info.ts';
import { metadataCauses } from './rules.ts';
import type { World } from './world.ts';

export interface Updated {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** PUT: the object as the client has it, unless someone else has changed it since. */
export function update(world: World, info: RequestInfo, body: JsonObject): Updated {
  const { resource, namespace, name } = info;
  const incoming = incomingObject(info, body);
  const old = world.store.get(resource, namespace, name);
  if (old === undefined) return createInstead(world, info, incoming);
  checkUid(info, incoming.metadata.uid, old.metadata.uid);
  if (incoming.metadata.resourceVersion === '' && !resource.rules.unconditionalUpdate) {
    throw invalid({ ...resource, kind: resource.plural }, name, [versionMissing]);
  }
  return { object: store(world, info, { incoming, old }), created: false };
}

/** The same for an object that is the stored one with a patch on it. */
export function updatePatched(world: World, info: RequestInfo, change: Change): KubeObject {
  return store(world, info, change);
}

interface Change {
  readonly incoming: KubeObject;
  readonly old: KubeObject;
}

const versionMissing = cause.invalid('metadata.resourceVersion', 'must be specified for an update', 0);

function createInstead(world: World, info: RequestInfo, incoming: KubeObject): Updated {
  const { resource, name } = info;
  if (!resource.rules.createOnUpdate || info.subresource !== '') throw notFound(resource, name);
  checkUid(info, incoming.metadata.uid, '');
  const metadata = { ...incoming.metadata, resourceVersion: '' };
  return { object: create(world, { ...info, name: '' }, { ...incoming, metadata }), created: true };
}

function checkUid({ resource, namespace = '', name }: RequestInfo, wanted: string, actual: string): void {
  if (wanted === '' || wanted === actual) return;
  const key = ['/registry', resource.plural, namespace, name].filter((part) => part !== '').join('/');
  const why =
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, ` +
    `AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${actual}`;
  throw conflict(resource, name, why);
}

const modified =
  'the object has been modified; please apply your changes to the latest version and try again';

function store(world: World, info: RequestInfo, { incoming, old }: Change): KubeObject {
  const { resource, name } = info;
  const { resourceVersion } = incoming.metadata;
  if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion) {
    throw conflict(resource, name, modified);
  }
  const object = counted(info, admitted(info, { incoming, old }), old);
  if (isDryRun(info.query) || isEqual(object, old)) return object;
  if (!isReleased(object)) return world.store.put(resource, object);
  world.store.remove(resource, object);
  return object;
}

/** Nothing holds an object any more that is being deleted without grace and has no finalizers. */
function isReleased({ metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  return (metadata.finalizers ?? []).length === 0 && metadata.deletionGracePeriodSeconds === 0;
}

function admitted(info: RequestInfo, { incoming, old }: Change): KubeObject {
  const { resource } = info;
  const { rules } = resource;
  const { object, causes } = rules.admit(ownPart(info, incoming, old), old);
  const all = [...uidCauses(info, incoming, old), ...metadataCauses(object, old), ...causes];
  if (all.length === 0) return object;
  throw invalid({ ...resource, group: rules.errorGroup ?? resource.group }, info.name, all);
}

/** The status of a custom resource is written without a look at the rest of the request, its UID included. */
function uidCauses(info: RequestInfo, { metadata }: KubeObject, old: KubeObject): readonly StatusCause[] {
  if (info.resource.custom && info.subresource === 'status') return [];
  if (metadata.uid === '' || metadata.uid === old.metadata.uid) return [];
  return [cause.invalid('metadata.uid', 'field is immutable', metadata.uid)];
}

/** Of what comes in, the part that may be changed here: everything but the status, or the status. */
function ownPart({ resource, subresource }: RequestInfo, incoming: KubeObject, old: KubeObject): KubeObject {
  const metadata = keptMetadata(incoming.metadata, old.metadata);
  const statusOf = (object: KubeObject): JsonObject =>
    object['status'] === undefined ? {} : { status: object['status'] };
  if (subresource === 'status') {
    const part = { ...(without(old, 'status') as KubeObject), ...statusOf(incoming) };
    return resource.custom ? part : { ...part, metadata };
  }
  if (!resource.subresources.includes('status')) return { ...incoming, metadata };
  return { ...(without(incoming, 'status') as KubeObject), ...statusOf(old), metadata };
}

function keptMetadata(incoming: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const { uid, resourceVersion, creationTimestamp } = old;
  const { generation, deletionTimestamp, deletionGracePeriodSeconds } = old;
  const kept = { ...incoming, uid, resourceVersion, creationTimestamp };
  return cleanMetadata({ ...kept, generation, deletionTimestamp, deletionGracePeriodSeconds });
}

function counted({ resource }: RequestInfo, object: KubeObject, old: KubeObject): KubeObject {
  const spec = (of: KubeObject): JsonObject => without(of, 'metadata', 'status');
  if (!resource.rules.generation || isEqual(spec(object), spec(old))) return object;
  const generation = (old.metadata.generation ?? 0) + 1;
  return { ...object, metadata: { ...object.metadata, generation } };
}
