import type { JsonObject } from './json.ts';
import type { Registry } from './registry.ts';
import { apiVersionOf, type Resource } from './resources.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** What answers on the paths that clients ask before they know the API; undefined for other paths. */
export function discovery(path: string, { resources }: Registry): JsonObject | undefined {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') return groupList(resources);
  const groupVersion = /^\/(?:api|apis\/[^/]+)\/[^/]+$/.test(path) ? path.replace(/^\/apis?\//, '') : '';
  const served = resources.filter((resource) => apiVersionOf(resource) === groupVersion);
  if (served.length === 0) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: served.flatMap(entries) };
}

function groupList(resources: readonly Resource[]): JsonObject {
  const names = [...new Set(resources.map(({ group }) => group))].filter((name) => name !== '');
  const groups = names.map((name) => {
    const version = resources.find(({ group }) => group === name)?.version ?? '';
    const entry = { groupVersion: `${name}/${version}`, version };
    return { name, versions: [entry], preferredVersion: entry };
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

function entries({ plural, kind, namespaced, subresources }: Resource): readonly JsonObject[] {
  const base = { singularName: kind.toLowerCase(), namespaced, kind };
  return [
    { name: plural, ...base, verbs },
    ...subresources.map((name) => ({
      name: `${plural}/${name}`,
      ...base,
      singularName: '',
      verbs: ['get', 'patch', 'update'],
    })),
  ];
}
