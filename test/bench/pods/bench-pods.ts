import { etcdEntry, etcdKey, type StoredObject } from '../../cluster/servers/etcd-objects.ts';
import type { EtcdEntry } from '../../cluster/servers/etcd.ts';
import { strategicMergePatch } from '../api-client.ts';
import { progress } from '../bench.ts';
import { settled, type Servers } from '../servers.ts';
import { PodTemplate, type Place } from './clone.ts';
import { placeholder, podManifest, podName, podStatus, variantOf, type Variant } from './manifest.ts';

interface Size {
  readonly pods: number;
  /** Finished pods over the threshold: the oldest, in namespaces of their own, so that they are counted quickly. */
  readonly due: number;
}

/** The pods of a bench in etcd. */
export interface BenchPods {
  /** `due` finished pods exceed it. */
  readonly threshold: number;
  readonly podBytes: number;
  readonly due: readonly Place[];
  placeOf(index: number): Place;
  readonly countDue: () => Promise<number>;
  /** Writes the due pods again. */
  restore(): Promise<void>;
}

const dueNamespaces = 5;
const otherNamespaces = 40;
/** Their names have three digits. */
const nodes = 1_000;

/** Creates one pod of each variant through the API, and writes clones of their stored form past it. */
export async function loadPods(servers: Servers, { pods, due }: Size): Promise<BenchPods> {
  const { etcd, cluster } = servers;
  await etcd.put(clusterObjects().map(etcdEntry));
  const templates = {
    succeeded: await storedTemplate(servers, 'succeeded'),
    failed: await storedTemplate(servers, 'failed'),
    running: await storedTemplate(servers, 'running'),
  };
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const placeOf = (index: number): Place => ({
    ...placeIn(index, due),
    // A second apart, the oldest first.
    createdAtSeconds: nowSeconds - 3_600 - (pods - index),
  });
  const clones = function* (count: number): Generator<EtcdEntry> {
    for (let i = 0; i < count; i++) yield templates[variantIn(i, due)].clone(placeOf(i));
  };
  await etcd.putFast(clones(pods));
  for (const index of [0, pods - 1]) await checkClone(servers, placeOf(index));
  await settled(cluster);
  const podBytes = templates.succeeded.sizeBytes;
  progress(`wrote ${pods} pods of ${podBytes} bytes`);
  return {
    threshold: finishedOf(pods, due) - due,
    podBytes,
    due: Array.from({ length: due }, (_, i) => placeOf(i)),
    placeOf,
    countDue: () => etcd.count('/registry/pods/bench-d'),
    restore: async () => {
      await etcd.putFast(clones(due));
      await settled(cluster);
    },
  };
}

/** All due pods have finished. */
function variantIn(index: number, due: number): Variant {
  const variant = variantOf(index);
  return index < due && variant === 'running' ? 'succeeded' : variant;
}

const finishedOf = (pods: number, due: number): number =>
  Array.from({ length: pods }, (_, i) => variantIn(i, due)).filter((variant) => variant !== 'running').length;

function placeIn(index: number, due: number): Omit<Place, 'createdAtSeconds'> {
  const number = 20_000_000 + index;
  return {
    number,
    namespace:
      index < due ? `bench-d${index % dueNamespaces}` : `bench-${digits(index % otherNamespaces, 2)}`,
    name: podName(variantIn(index, due), number),
    node: `node-${digits(index % nodes, 3)}`,
  };
}

export const digits = (n: number, count: number): string => String(n).padStart(count, '0');
export const numbered = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, i) => digits(i, length));

const podsPath = `/api/v1/namespaces/${placeholder.namespace}/pods`;

/** A pod that scheduler and kubelet have handled, taken out of etcd. */
async function storedTemplate({ etcd, api }: Servers, variant: Variant): Promise<PodTemplate> {
  const name = podName(variant, placeholder.number);
  const created = `${podsPath}?fieldManager=kube-controller-manager`;
  await api.send('POST', created, { body: podManifest(name, variant) });
  const target = { apiVersion: 'v1', kind: 'Node', name: placeholder.node };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
  await api.send('POST', `${podsPath}/${name}/binding`, { body: binding });
  const status = { body: { status: podStatus(variant) }, contentType: strategicMergePatch };
  await api.send('PATCH', `${podsPath}/${name}/status?fieldManager=kubelet`, status);
  const { uid, creationTimestamp } = await metadataOf(api, `${podsPath}/${name}`);
  const key = etcdKey('Pod', { namespace: placeholder.namespace, name });
  const bytes = await etcd.get(key);
  if (!bytes) throw new Error(`${key} is not in etcd`);
  await etcd.remove(key);
  return new PodTemplate(bytes, { uid, createdAtSeconds: Date.parse(creationTimestamp) / 1_000 });
}

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
}

async function metadataOf(api: Servers['api'], path: string): Promise<Metadata> {
  return (JSON.parse((await api.send('GET', path)).toString()) as { metadata: Metadata }).metadata;
}

/** Throws unless the API server returns the clone as it should be. */
async function checkClone(
  { api }: Servers,
  { namespace, name, number, createdAtSeconds }: Place,
): Promise<void> {
  const metadata = await metadataOf(api, `/api/v1/namespaces/${namespace}/pods/${name}`);
  const isClone =
    metadata.name === name &&
    metadata.uid.endsWith(String(number)) &&
    Date.parse(metadata.creationTimestamp) === createdAtSeconds * 1_000;
  if (!isClone) throw new Error(`not a clone: ${JSON.stringify(metadata)}`);
}

function clusterObjects(): StoredObject[] {
  const namespaces = [...numbered(otherNamespaces, 2), ...numbered(dueNamespaces, 1).map((n) => `d${n}`)];
  return [
    ...namespaces.map((name) => activeNamespace(`bench-${name}`)),
    ...numbered(nodes, 3).map((name) => readyNode(`node-${name}`)),
  ];
}

/** An active namespace, to be written into etcd. */
export const activeNamespace = (name: string): StoredObject => ({
  ...stored('Namespace', name),
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});

/** A ready node, to be written into etcd. */
export const readyNode = (name: string): StoredObject => ({
  ...stored('Node', name),
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

function stored(kind: 'Namespace' | 'Node', name: string): StoredObject {
  const uid = `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').slice(-12).padStart(12, '0')}`;
  const metadata = { name, uid, creationTimestamp: '2026-01-01T00:00:00Z' };
  return { apiVersion: 'v1', kind, metadata };
}
