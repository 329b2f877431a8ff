import type { SnapshotKind } from './objects.ts';

/** One file of a snapshot and where its objects come from. */
export interface SnapshotList {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** For messages, as an argument of `kubectl get`. */
  readonly resource: string;
  readonly path: string;
  /** Of the request for the list. */
  readonly query?: Readonly<Record<string, string>>;
  /** The path is that of a single object. */
  readonly isOne?: boolean;
  readonly apiVersion: string;
  readonly kind: SnapshotKind;
  /** Objects per request: a whole page is held in memory. */
  readonly pageSize: number;
  /** A kind of dustpan: a cluster without the kind is known to have no such objects. */
  readonly optional?: boolean;
}

/** For nodes, whose status lists their images, and reports, which may have 50 KB. */
const pageSizeOfLarge = 100;

function list(
  kind: SnapshotKind,
  apiVersion: string,
  plural: string,
  { name = plural, pageSize = 500, optional = false }: Partial<SnapshotList> = {},
): SnapshotList {
  const [group, version] = apiVersion.split('/');
  const path = version === undefined ? `/api/${apiVersion}/${plural}` : `/apis/${apiVersion}/${plural}`;
  const resource = version === undefined ? plural : `${plural}.${group}`;
  return { name, resource, path, apiVersion, kind, pageSize, optional };
}

const ours = 'gc.dustpan.dev/v1alpha1';

/**
 * The lists of a snapshot in the order in which they are read. Pods come first: every object that a listed pod refers to is then found, even if
 * it was created meanwhile.
 */
export const snapshotLists: readonly SnapshotList[] = [
  list('Pod', 'v1', 'pods'),
  list('Node', 'v1', 'nodes', { pageSize: pageSizeOfLarge }),
  list('Namespace', 'v1', 'namespaces'),
  list('Job', 'batch/v1', 'jobs'),
  list('ReplicaSet', 'apps/v1', 'replicasets'),
  list('GCPolicy', ours, 'gcpolicies', { name: 'policies', pageSize: pageSizeOfLarge, optional: true }),
  list('NodeGCReport', ours, 'nodegcreports', { pageSize: pageSizeOfLarge, optional: true }),
];

/** The pods of a snapshot; undefined = all. */
export interface SnapshotPods {
  readonly namespace: string | undefined;
  /** As the API server reads it. */
  readonly selector: string | undefined;
}

const ofNamespace: ReadonlySet<SnapshotKind> = new Set(['Pod', 'Job', 'ReplicaSet']);

/** The lists of a snapshot of some pods. Reports are about pods of all namespaces: such a snapshot has none. */
export function listsOf({ namespace, selector }: SnapshotPods): readonly SnapshotList[] {
  if (namespace === undefined && selector === undefined) return snapshotLists;
  return snapshotLists
    .filter(({ kind }) => kind !== 'NodeGCReport')
    .map((one) => (namespace === undefined ? one : within(one, namespace)))
    .map((one) =>
      one.kind === 'Pod' && selector !== undefined ? { ...one, query: { labelSelector: selector } } : one,
    );
}

function within(one: SnapshotList, namespace: string): SnapshotList {
  const { kind, path } = one;
  // Its owner may get it, and list no others.
  if (kind === 'Namespace') return { ...one, path: `${path}/${namespace}`, isOne: true };
  if (!ofNamespace.has(kind)) return one;
  return { ...one, path: path.replace(/(?=\/[^/]+$)/, `/namespaces/${namespace}`) };
}
