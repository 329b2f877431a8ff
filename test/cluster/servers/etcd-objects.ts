import type { EtcdEntry } from './etcd.ts';

/** An object of the core group as JSON; metadata must be complete, because no server fills it in. */
export interface StoredObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod' | 'Node' | 'Namespace';
  readonly metadata: StoredMetadata;
  readonly spec?: object;
  readonly status?: object;
}

export interface StoredMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly object[];
}

/** Nodes were called minions when their key was chosen. */
const folders = { Pod: 'pods', Node: 'minions', Namespace: 'namespaces' } as const;

/** The key under which the API server stores this object. */
export function etcdKey(
  kind: StoredObject['kind'],
  { namespace, name }: { namespace?: string; name: string },
): string {
  return ['/registry', folders[kind], ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

/** The etcd entry of an object in JSON, which the API server reads as well as protobuf. */
export function etcdEntry(object: StoredObject): EtcdEntry {
  return { key: etcdKey(object.kind, object.metadata), value: Buffer.from(JSON.stringify(object)) };
}
