import { policiesPath, reportsPath } from '../../kube/cache/resources.ts';
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

const pageSize = 500;
/** For nodes, whose status lists their images, and reports, which may have 50 KB. */
const pageSizeOfLarge = 100;
const ours = 'gc.dustpan.dev/v1alpha1';

/**
 * The lists of a snapshot in the order in which they are read. Pods come first: every object that a listed pod refers to is then found, even if
 * it was created meanwhile.
 */
export const snapshotLists: readonly SnapshotList[] = [
  { name: 'pods', resource: 'pods', path: '/api/v1/pods', apiVersion: 'v1', kind: 'Pod', pageSize },
  {
    name: 'nodes',
    resource: 'nodes',
    path: '/api/v1/nodes',
    apiVersion: 'v1',
    kind: 'Node',
    pageSize: pageSizeOfLarge,
  },
  {
    name: 'namespaces',
    resource: 'namespaces',
    path: '/api/v1/namespaces',
    apiVersion: 'v1',
    kind: 'Namespace',
    pageSize,
  },
  {
    name: 'jobs',
    resource: 'jobs.batch',
    path: '/apis/batch/v1/jobs',
    apiVersion: 'batch/v1',
    kind: 'Job',
    pageSize,
  },
  {
    name: 'replicasets',
    resource: 'replicasets.apps',
    path: '/apis/apps/v1/replicasets',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    pageSize,
  },
  {
    name: 'policies',
    resource: 'gcpolicies.gc.dustpan.dev',
    path: policiesPath,
    apiVersion: ours,
    kind: 'GCPolicy',
    pageSize: pageSizeOfLarge,
    optional: true,
  },
  {
    name: 'nodegcreports',
    resource: 'nodegcreports.gc.dustpan.dev',
    path: reportsPath,
    apiVersion: ours,
    kind: 'NodeGCReport',
    pageSize: pageSizeOfLarge,
    optional: true,
  },
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
    .map((list) => (namespace === undefined ? list : within(list, namespace)))
    .map((list) =>
      list.kind === 'Pod' && selector !== undefined ? { ...list, query: { labelSelector: selector } } : list,
    );
}

function within(list: SnapshotList, namespace: string): SnapshotList {
  // Its owner may get it, and list no others.
  if (list.kind === 'Namespace') return { ...list, path: `${list.path}/${namespace}`, isOne: true };
  if (!ofNamespace.has(list.kind)) return list;
  return { ...list, path: list.path.replace(/(?=\/[^/]+$)/, `/namespaces/${namespace}`) };
}
