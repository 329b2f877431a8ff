/** The parts of a resource's path. */
interface PathShape {
  readonly group: string;
  readonly groupVersion: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string;
}

/** Undefined for paths that are not below a version of the API. */
export function resourceShape(path: string): PathShape | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  const root = parts[0] === 'api' ? 2 : 3;
  if ((parts[0] !== 'api' && parts[0] !== 'apis') || parts.length <= root) return undefined;
  const group = root === 2 ? '' : (parts[1] ?? '');
  const groupVersion = parts.slice(1, root).join('/');
  return { group, groupVersion, ...placeOf(parts.slice(root)) };
}

type Place = Pick<PathShape, 'plural' | 'namespace' | 'name' | 'subresource'>;

/** `namespaces/a/pods/b/status`, `nodes/n`; and `namespaces/a/status` is a namespace's own. */
function placeOf(parts: readonly string[]): Place {
  const [, namespace] = parts;
  return isInNamespace(parts)
    ? { ...objectOf(parts.slice(2)), namespace }
    : { ...objectOf(parts), namespace: undefined };
}

function isInNamespace([first, , third]: readonly string[]): boolean {
  return first === 'namespaces' && third !== undefined && third !== 'status' && third !== 'finalize';
}

const objectOf = ([plural = '', name = '', subresource = '']: readonly string[]): Omit<
  Place,
  'namespace'
> => ({
  plural,
  name,
  subresource,
});
