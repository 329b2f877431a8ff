import { etcdEntry, type StoredObject } from '../servers/etcd-objects.ts';
import type { EtcdClient } from '../servers/etcd.ts';
import { randomNodes, type RandomNodes } from './nodes.ts';
import { podOf, type PodTraits } from './pods.ts';
import { seededRandom, type Random } from './random.ts';

/** Everything that is in a cluster before its collector starts. */
export interface Population {
  readonly namespaces: readonly StoredObject[];
  readonly nodes: readonly StoredObject[];
  readonly pods: readonly StoredObject[];
}

const namespaceNames = ['team-a', 'team-b', 'team-c', 'batch', 'zz'] as const;

/** The earliest creation of a pod. */
const epochMs = Date.parse('2026-01-01T00:00:00Z');

/**
 * Random but valid states. Held back are the few in which dustpan differs on purpose (docs/deviations.md): pods with finalizers
 * are the newest and never evicted, so that no threshold reaches them, and namesakes of one second are the oldest or the
 * newest of the others, because upstream leaves their order open.
 */
export function randomPopulation(seed: number, { pods }: { readonly pods: number }): Population {
  const random = seededRandom(seed);
  const nodes = randomNodes(random);
  return {
    namespaces: namespaceNames.map((name) => namespaceOf(name, random)),
    nodes: nodes.objects,
    pods: [
      ...twins(random, { nodes, second: 0 }),
      ...Array.from({ length: pods - 4 * twinPairs }, (_, i) => randomPod(random, { nodes, number: i })),
      ...twins(random, { nodes, second: lastSecond }),
    ],
  };
}

/** Writes a population to etcd: nodes and namespaces first, so that no pod is seen without them. */
export async function loadPopulation(
  etcd: EtcdClient,
  { namespaces, nodes, pods }: Population,
): Promise<void> {
  await etcd.put([...namespaces, ...nodes].map(etcdEntry));
  await etcd.put(pods.map(etcdEntry));
}

const twinPairs = 4;
/** Seconds of creation of the ordinary pods; few enough that many pods share one. */
const lastSecond = 60;
const finalizerShare = 0.12;

interface Setting {
  readonly nodes: RandomNodes;
}

/** Pods of equal names and times in two namespaces. */
function twins(random: Random, { nodes, second }: Setting & { second: number }): StoredObject[] {
  return Array.from({ length: twinPairs }, (_, i) => {
    const traits: PodTraits = {
      name: `twin-${second}-${i}`,
      createdMs: epochMs + second * 1_000,
      nodeName: nodes.ready,
      phase: 'Succeeded',
      reason: '',
      terminating: false,
      finalizers: [],
    };
    return ['team-a', 'team-b'].map((namespace) => podOf(random, { ...traits, namespace }));
  }).flat();
}

function randomPod(random: Random, { nodes, number }: Setting & { number: number }): StoredObject {
  const held = random.chance(finalizerShare);
  const second = held ? lastSecond + 1 + random.int(20) : 1 + random.int(lastSecond - 1);
  const phase = random.pick(phases);
  return podOf(random, {
    namespace: random.pick(namespaceNames),
    name: `${random.pick(['web', 'job', 'a', 'z'])}-${random.int(1_000)}-${number}`,
    createdMs: epochMs + second * 1_000,
    nodeName: placeOf(random, nodes),
    phase,
    reason: phase === 'Failed' && !held ? random.pick(failures) : random.pick(['', '', 'NodeLost']),
    terminating: random.chance(0.35),
    finalizers: held ? [random.pick(finalizers)] : [],
  });
}

function placeOf(random: Random, nodes: RandomNodes): string | undefined {
  if (random.chance(0.18)) return undefined;
  return random.chance(0.25) ? random.pick(vanishedNodes) : random.pick(nodes.names);
}

const vanishedNodes = ['gone-1', 'gone-2', 'gone-3', 'node', 'node-1.example.com'] as const;
const finalizers = ['example.com/backup', 'batch.kubernetes.io/job-tracking', 'foregroundDeletion'] as const;
const failures = ['Evicted', 'Evicted', '', 'evicted', 'NodeLost', 'DeadlineExceeded'] as const;
const phases = [
  'Succeeded',
  'Succeeded',
  'Succeeded',
  'Failed',
  'Failed',
  'Failed',
  'Running',
  'Running',
  'Pending',
  'Unknown',
  '',
] as const;

function namespaceOf(name: string, random: Random): StoredObject {
  const creationTimestamp = new Date(epochMs).toISOString().replace('.000', '');
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, uid: random.uid(), creationTimestamp, labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}
