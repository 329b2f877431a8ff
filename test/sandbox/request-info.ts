import { methodNotAllowed, noSuchResource, PageNotFound } from './failure.ts';
import type { Registry } from './registry.ts';
import { resourceShape } from './request-path.ts';
import type { Resource } from './resources.ts';
import { pinnedName } from './selectors.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What a request to a resource asks for. */
export interface RequestInfo {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** '' for a collection. */
  readonly name: string;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly query: URLSearchParams;
}

/** What RBAC decides on; made of the path alone, also when nothing is served there. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly path: string;
  /** False: `path` is all that counts. */
  readonly isResource: boolean;
}

export function attributesOf(method: string, url: URL): Attributes {
  const path = url.pathname;
  const shape = resourceShape(path);
  if (shape === undefined) {
    return {
      verb: method.toLowerCase(),
      group: '',
      resource: '',
      namespace: undefined,
      name: '',
      path,
      isResource: false,
    };
  }
  const { group, plural, namespace, subresource } = shape;
  const verb = verbOf(method, shape.name, url.searchParams) ?? method.toLowerCase();
  const name =
    shape.name === '' && (verb === 'list' || verb === 'watch') ? pinnedName(url.searchParams) : shape.name;
  const resource = subresource === '' ? plural : `${plural}/${subresource}`;
  return { verb, group, resource, namespace, name, path, isResource: true };
}

/** Throws what the real server answers when nothing is served there, or not by this method. */
export function requestInfo(method: string, url: URL, registry: Registry): RequestInfo {
  const shape = resourceShape(url.pathname);
  if (shape === undefined) throw new PageNotFound();
  const resource = registry.resource(shape.groupVersion, shape.plural);
  checkScope(resource, shape.namespace, shape.name);
  const { namespace, name, subresource } = shape;
  if (subresource !== '' && !resource.subresources.includes(subresource)) throw noSuchResource();
  const verb = verbOf(method, name, url.searchParams);
  if (verb === undefined || !isServed(verb, name, subresource)) throw methodNotAllowed();
  return { verb, resource, namespace, name, subresource, query: url.searchParams };
}

function checkScope(resource: Resource, namespace: string | undefined, name: string): void {
  const misplaced = resource.namespaced ? namespace === undefined && name !== '' : namespace !== undefined;
  if (!misplaced) return;
  throw resource.custom ? new PageNotFound() : noSuchResource();
}

function verbOf(method: string, name: string, query: URLSearchParams): Verb | undefined {
  switch (method) {
    case 'GET':
      return name === '' ? (isWatch(query) ? 'watch' : 'list') : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return undefined;
  }
}

const isWatch = (query: URLSearchParams): boolean => ['true', '1'].includes(query.get('watch') ?? '');

const onCollections: readonly Verb[] = ['list', 'watch', 'create', 'deletecollection'];
const onObjects: readonly Verb[] = ['get', 'update', 'patch', 'delete'];
const onStatus: readonly Verb[] = ['get', 'update', 'patch'];

function isServed(verb: Verb, name: string, subresource: string): boolean {
  if (subresource === 'eviction') return verb === 'create';
  if (subresource === 'status') return onStatus.includes(verb);
  return (name === '' ? onCollections : onObjects).includes(verb);
}
