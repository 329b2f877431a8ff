import { policiesPath } from '../../kube/actions/live-policies.ts';
import type { SnapshotKind } from './objects.ts';

/** One file of a snapshot and where its objects come from. */
export interface SnapshotList {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** For messages, as an argument of `kubectl get`. */
  readonly resource: string;
  readonly path: string;
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
    ...{ name: 'nodes', resource: 'nodes', path: '/api/v1/nodes' },
    ...{ apiVersion: 'v1', kind: 'Node', pageSize: pageSizeOfLarge },
  },
  {
    ...{ name: 'namespaces', resource: 'namespaces', path: '/api/v1/namespaces' },
    ...{ apiVersion: 'v1', kind: 'Namespace', pageSize },
  },
  {
    ...{ name: 'jobs', resource: 'jobs.batch', path: '/apis/batch/v1/jobs' },
    ...{ apiVersion: 'batch/v1', kind: 'Job', pageSize },
  },
  {
    ...{ name: 'replicasets', resource: 'replicasets.apps', path: '/apis/apps/v1/replicasets' },
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', pageSize },
  },
  {
    ...{ name: 'policies', resource: 'gcpolicies.gc.dustpan.dev', path: policiesPath },
    ...{ apiVersion: ours, kind: 'GCPolicy', pageSize: pageSizeOfLarge, optional: true },
  },
  {
    ...{ name: 'nodegcreports', resource: 'nodegcreports.gc.dustpan.dev' },
    path: '/apis/gc.dustpan.dev/v1alpha1/nodegcreports',
    ...{ apiVersion: ours, kind: 'NodeGCReport', pageSize: pageSizeOfLarge, optional: true },
  },
];
