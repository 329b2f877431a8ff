import type { Cluster } from '../cluster/servers/cluster.ts';
import { etcdEntry, etcdKey, type StoredObject } from '../cluster/servers/etcd-objects.ts';
import type { EtcdClient, EtcdEntry } from '../cluster/servers/etcd.ts';
import type { ApiClient } from './api-client.ts';
import { PodTemplate, type ClonePlace } from './clone-pods.ts';
import { createTemplates, placeholder, type Variant } from './template-pods.ts';

/** How many pods there are, and how many of the finished ones are over the threshold. */
interface Size {
  readonly pods: number;
  readonly due: number;
}

/** The pods of a benchmark; the due ones are the oldest and live in namespaces of their own, so that they are quickly counted. */
export interface BenchPods {
  readonly threshold: number;
  readonly podBytes: number;
  /** Where the due pods are. */
  readonly due: readonly ClonePlace[];
  /** Writes the pods of these numbers, or all; the progress counts from the first of them. */
  load(etcd: EtcdClient, onProgress: (done: number) => void, numbers?: NumberRange): Promise<void>;
  /** Throws unless the API server serves the first clone and this one, or the last, as what they should be. */
  check(api: ApiClient, number?: number): Promise<void>;
  /** Where the pod of this number is. */
  placeOf(number: number): ClonePlace;
  /** Brings the due pods back. */
  restore(etcd: EtcdClient): Promise<void>;
  countDue(etcd: EtcdClient): Promise<number>;
}

/** From the first on, up to but not including the other. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

const dueNamespaces = 5;
const otherNamespaces = 40;
/** As many as their names have digits for. */
const nodes = 1_000;
/** Pods are this far apart. */
const spacingSeconds = 1;

/** Makes templates, takes them from the store, and prepares their clones. */
export async function prepareBenchPods(bed: Bed, { pods, due }: Size): Promise<BenchPods> {
  await bed.etcd.put(clusterObjects().map(etcdEntry));
  const templates = await storedTemplates(bed);
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const placeOf = (i: number): ClonePlace => place(i, { pods, due, nowSeconds });
  const entryOf = (i: number): EtcdEntry => template(templates, variantOf(i, due)).clone(placeOf(i));
  const entries = function* (from: number, to: number): Generator<EtcdEntry> {
    for (let i = from; i < to; i++) yield entryOf(i);
  };
  return {
    threshold: thresholdOf({ pods, due }),
    podBytes: template(templates, 'succeeded').sizeBytes,
    due: Array.from({ length: due }, (_, i) => placeOf(i)),
    load: async (etcd, onProgress, { from, to } = { from: 0, to: pods }) => {
      await etcd.putFast(entries(from, to), onProgress);
    },
    check: async (api, number = pods - 1) => {
      for (const i of [0, number]) await checkClone(api, placeOf(i));
    },
    placeOf,
    restore: async (etcd) => {
      await etcd.putFast(entries(0, due));
    },
    countDue: (etcd) => etcd.count('/registry/pods/bench-d'),
  };
}

/** The threshold over which that many pods are due. */
export function thresholdOf({ pods, due }: Size): number {
  let finished = 0;
  for (let i = 0; i < pods; i++) finished += Number(variantOf(i, due) !== 'running');
  return finished - due;
}

export interface Bed {
  readonly cluster: Cluster;
  readonly etcd: EtcdClient;
  readonly api: ApiClient;
}

/** Nine of ten pods have finished; a tenth of those failed. The due ones all have. */
function variantOf(i: number, due: number): Variant {
  if (i % 10 === 8) return 'failed';
  return i % 10 === 9 && i >= due ? 'running' : 'succeeded';
}

function place(i: number, { pods, due, nowSeconds }: Size & { readonly nowSeconds: number }): ClonePlace {
  const number = 20_000_000 + i;
  const namespace = i < due ? `bench-d${i % dueNamespaces}` : `bench-${digits(i % otherNamespaces, 2)}`;
  return {
    number,
    namespace,
    name: `nightly-${variantOf(i, due)}-${number}-x7k2p`,
    node: `node-${digits(i % nodes, 3)}`,
    createdAtSeconds: nowSeconds - 3_600 - (pods - i) * spacingSeconds,
  };
}

const digits = (n: number, count: number): string => String(n).padStart(count, '0');

function template(templates: ReadonlyMap<Variant, PodTemplate>, variant: Variant): PodTemplate {
  const found = templates.get(variant);
  if (!found) throw new Error(`no template ${variant}`);
  return found;
}

async function storedTemplates({ etcd, api }: Bed): Promise<ReadonlyMap<Variant, PodTemplate>> {
  const templates = new Map<Variant, PodTemplate>();
  for (const [variant, name] of await createTemplates(api)) {
    const { namespace } = placeholder;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const { metadata } = JSON.parse((await api.send('GET', path)).toString()) as ApiMetadata;
    const key = etcdKey('Pod', { namespace, name });
    const bytes = await etcd.get(key);
    if (!bytes) throw new Error(`${key} is not in etcd`);
    const createdAtSeconds = Date.parse(metadata.creationTimestamp) / 1_000;
    templates.set(variant, new PodTemplate(bytes, { uid: metadata.uid, createdAtSeconds }));
    await etcd.remove(key);
  }
  return templates;
}

interface ApiMetadata {
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
}

async function checkClone(
  api: ApiClient,
  { namespace, name, number, createdAtSeconds }: ClonePlace,
): Promise<void> {
  const answer = await api.send('GET', `/api/v1/namespaces/${namespace}/pods/${name}`);
  const { metadata } = JSON.parse(answer.toString()) as ApiMetadata;
  const isClone =
    metadata.name === name &&
    metadata.uid.endsWith(String(number)) &&
    Date.parse(metadata.creationTimestamp) === createdAtSeconds * 1_000;
  if (!isClone) throw new Error(`not a clone: ${answer.toString()}`);
}

function clusterObjects(): StoredObject[] {
  const range = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, i) => digits(i, length));
  const names = [...range(otherNamespaces, 2), ...range(dueNamespaces, 1).map((n) => `d${n}`)];
  return [
    ...names.map((name) => stored('Namespace', `bench-${name}`)),
    ...range(nodes, 3).map((name) => stored('Node', `node-${name}`)),
  ];
}

function stored(kind: 'Namespace' | 'Node', name: string): StoredObject {
  const uid = `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').slice(-12).padStart(12, '0')}`;
  const metadata = { name, uid, creationTimestamp: '2026-01-01T00:00:00Z' };
  const shared = { apiVersion: 'v1', kind, metadata } as const;
  return kind === 'Namespace'
    ? { ...shared, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }
    : { ...shared, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
}
