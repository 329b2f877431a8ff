import { Failure, methodNotAllowed } from './failure.ts';
import type { JsonObject } from './format/json.ts';
import type { Registry, Resource } from './resources.ts';
import type { Store } from './store.ts';

export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly accept: string;
  readonly contentType: string;
  readonly body: JsonObject | undefined;
}

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

export interface Call {
  readonly store: Store;
  readonly registry: Registry;
  readonly verb: Verb;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** '' for a collection. */
  readonly name: string;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: JsonObject;
}

/** The attributes for RBAC, derived from the path, whether or not it is served. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  /** Includes the subresource: `pods/eviction`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly path: string;
  /** false = a non-resource URL. */
  readonly isResource: boolean;
}

export function attributesOf(method: string, url: URL): Attributes {
  const path = url.pathname;
  const place = placeOf(path);
  if (place === undefined) {
    const none = { group: '', resource: '', namespace: undefined, name: '' };
    return { ...none, verb: method.toLowerCase(), path, isResource: false };
  }
  const { apiVersion, plural, subresource, name } = place;
  // A request for one Namespace is in that namespace (k8s.io/apiserver, requestinfo.go): a Role there can allow it.
  const namespace = plural === 'namespaces' && name !== '' ? name : place.namespace;
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const resource = subresource === '' ? plural : `${plural}/${subresource}`;
  const verb = verbOf(method, place.name, url.searchParams) ?? method.toLowerCase();
  return { verb, group, resource, namespace, name, path, isResource: true };
}

/** Throws like the real server if the path or the method is not served. */
export function callOf(
  { method, url, contentType, body = {} }: ApiRequest,
  { store, registry }: Pick<Call, 'store' | 'registry'>,
): Call {
  const { apiVersion, plural, ...place } = placeOf(url.pathname) ?? { apiVersion: '', plural: '' };
  const resource = registry.resource(apiVersion, plural);
  const { namespace, name = '', subresource = '' } = place as Partial<Place>;
  if (subresource !== '' && !resource.subresources.includes(subresource)) throw noSuchResource();
  const verb = verbOf(method, name, url.searchParams);
  if (verb === undefined || (subresource === 'eviction') !== (verb === 'create' && name !== ''))
    throw methodNotAllowed();
  const target = { resource, namespace, name, subresource };
  return { store, registry, verb, ...target, query: url.searchParams, contentType, body };
}

const noSuchResource = (): Failure =>
  new Failure('the server could not find the requested resource', {
    code: 404,
    reason: 'NotFound',
    details: {},
  });

interface Place {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string;
}

const belowVersion = /^\/(?:api\/(?<core>[^/]+)|apis\/(?<grouped>[^/]+\/[^/]+))\/(?<rest>.+)$/;

/** The parts of a resource's path; undefined for non-resource URLs. */
function placeOf(path: string): Place | undefined {
  const found = belowVersion.exec(path)?.groups;
  if (found === undefined) return undefined;
  const { core, grouped = '', rest = '' } = found;
  return { apiVersion: core ?? grouped, ...targetOf(rest.split('/').map(decodeURIComponent)) };
}

/** `namespaces/a/pods/b/status`, `nodes/n`; `namespaces/a/status` is the status of a namespace. */
function targetOf(parts: readonly string[]): Omit<Place, 'apiVersion'> {
  const isInNamespace = parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'status';
  const [plural = '', name = '', subresource = ''] = isInNamespace ? parts.slice(2) : parts;
  return { plural, namespace: isInNamespace ? parts[1] : undefined, name, subresource };
}

const objectVerbs: Readonly<Record<string, Verb>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function verbOf(method: string, name: string, query: URLSearchParams): Verb | undefined {
  if (name !== '') return objectVerbs[method];
  if (method === 'GET') return query.get('watch') === 'true' ? 'watch' : 'list';
  return method === 'POST' ? 'create' : undefined;
}
