import { randomBytes, randomUUID } from 'node:crypto';
import { alreadyExists, Failure, invalid, methodNotAllowed, notFound, resourceName } from './failure.ts';
import { incomingObject } from './incoming.ts';
import { asObject, asText, without, type JsonObject, type KubeObject } from './json.ts';
import type { RequestInfo } from './request-info.ts';
import { metadataCauses } from './rules.ts';
import { timestamp, type World } from './world.ts';

/** POST: a new object, checked and completed; stored unless this is a dry run. */
export function create(world: World, info: RequestInfo, body: JsonObject): KubeObject {
  const object = admitted(info, fresh(world, info, incomingObject(info, body)));
  const { resource } = info;
  const { name, namespace } = object.metadata;
  if (world.store.get(resource, namespace, name) !== undefined) throw alreadyExists(resource, name);
  if (isDryRun(info.query))
    return { ...object, metadata: without(object.metadata, 'resourceVersion') as KubeObject['metadata'] };
  return world.store.put(resource, object);
}

export const isDryRun = (query: URLSearchParams): boolean => query.getAll('dryRun').includes('All');

function fresh(world: World, info: RequestInfo, object: KubeObject): KubeObject {
  const { metadata } = object;
  if (metadata.resourceVersion !== '') {
    throw new Failure('resourceVersion should not be set on objects to be created', { code: 500 });
  }
  const name = metadata.name === '' ? generatedName(metadata.generateName) : metadata.name;
  checkNamespace(world, info, name);
  const kept = without(metadata, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation');
  const born = { name, uid: randomUUID(), creationTimestamp: timestamp(world.now()) };
  const generation = info.resource.rules.generation ? { generation: 1 } : {};
  return { ...bodyOf(info, object), metadata: { ...kept, resourceVersion: '', ...born, ...generation } };
}

const bodyOf = ({ resource }: RequestInfo, object: KubeObject): KubeObject =>
  resource.subresources.includes('status') && resource.rules.keepsStatus !== true
    ? (without(object, 'status') as KubeObject)
    : object;

const generatedName = (prefix = ''): string =>
  prefix === '' ? '' : `${prefix}${randomBytes(3).toString('hex').slice(0, 5)}`;

/** Nothing is made in a namespace that is not there, or not for long. */
export function checkNamespace({ store, registry }: World, info: RequestInfo, name: string): void {
  const { resource, namespace } = info;
  if (!resource.namespaced) return;
  if (namespace === undefined) throw methodNotAllowed();
  const namespaces = registry.byKind('Namespace');
  const found = store.get(namespaces, undefined, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (asText(asObject(found['status'])['phase']) === 'Terminating') throw beingTerminated(info, name);
}

function beingTerminated({ resource, namespace = '' }: RequestInfo, name: string): Failure {
  const { group, plural } = resource;
  const field = 'metadata.namespace';
  const causes = [
    { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field },
  ];
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, causes };
  const message = `${resourceName(resource)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  return new Failure(message, { code: 403, reason: 'Forbidden', details });
}

function admitted({ resource }: RequestInfo, object: KubeObject): KubeObject {
  const { rules } = resource;
  const result = rules.admit(object, undefined);
  const causes = [...metadataCauses(object, undefined), ...result.causes];
  if (causes.length === 0) return result.object;
  throw invalid({ ...resource, group: rules.errorGroup ?? resource.group }, object.metadata.name, causes);
}
