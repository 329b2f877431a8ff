import type { JsonObject } from './format/json.ts';
import { apiVersionOf, type Resource } from './resources.ts';

/** The response that lists the served APIs, from which kubectl learns its words; undefined for other paths. */
export function discoveryOf(path: string, resources: readonly Resource[]): JsonObject | undefined {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/openapi/v3') return { paths: openApiPaths(resources) };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(resources) };
  const served = resources.filter((one) => path.endsWith(pathOf(one)));
  const [first] = served;
  if (first === undefined) return undefined;
  const groupVersion = apiVersionOf(first);
  if (path === `/openapi/v3${pathOf(first)}`) return openApiOf(served);
  if (path !== pathOf(first)) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: served.flatMap(entriesOf) };
}

function groupsOf(resources: readonly Resource[]): readonly JsonObject[] {
  const named = resources.filter(({ group }) => group !== '');
  const versions = new Map(named.map((one) => [apiVersionOf(one), one]));
  return [...versions].map(([groupVersion, { group: name, version }]) => {
    const preferredVersion = { groupVersion, version };
    return { name, versions: [preferredVersion], preferredVersion };
  });
}

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

function entriesOf({ plural, kind, namespaced, subresources, shortNames }: Resource): readonly JsonObject[] {
  const all = { singularName: kind.toLowerCase(), namespaced, kind };
  return [
    { ...all, name: plural, shortNames, verbs },
    ...subresources.map((name) => ({ ...all, name: `${plural}/${name}`, verbs: ['get', 'patch', 'update'] })),
  ];
}

const pathOf = (resource: Resource): string =>
  resource.group === '' ? `/api/${resource.version}` : `/apis/${apiVersionOf(resource)}`;

const openApiPaths = (resources: readonly Resource[]): JsonObject =>
  Object.fromEntries(
    resources.map((one) => [pathOf(one).slice(1), { serverRelativeURL: `/openapi/v3${pathOf(one)}` }]),
  );

/** Without schemas: kubectl reads from it only that the server validates the fields that `apply` sends. */
function openApiOf(resources: readonly Resource[]): JsonObject {
  const patch = ({ group, version, kind }: Resource): JsonObject => ({
    parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
    responses: {},
    'x-kubernetes-group-version-kind': { group, version, kind },
  });
  const paths = resources.map((one) => [`${pathOf(one)}/${one.plural}/{name}`, { patch: patch(one) }]);
  const info = { title: 'Kubernetes', version: 'v1' };
  return { openapi: '3.0.0', info, paths: Object.fromEntries(paths) as JsonObject };
}
