import { once } from 'node:events';
import { createWriteStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { podWriter, type PodForm, type PodPlace } from './plan-pods.ts';
import { policyManifest } from '../manifests.ts';

const nodes = 1_000;
/** A few of the nodes that pods are bound to are gone. */
const goneNodes = 3;
const namespaces = 50;
/** Pods are this far apart. */
const spacingMs = 1_000;
/** When all of it is planned. */
export const plannedAt = '2026-03-01T00:00:00Z';
const batch = 500;

/** The policy of the measured plans: several rules at work. */
const policy = policyManifest('default', {
  mode: 'DryRun',
  pods: {
    terminated: {
      threshold: 12_500,
      ttlAfterFinished: '24h',
      ttlByReason: [{ phase: 'Failed', ttl: '1h' }],
    },
    orphaned: { quarantine: '40s' },
    unscheduledTerminating: {},
    outOfService: {},
  },
});

/** Writes a snapshot with so many pods, nine of ten finished; returns the bytes of the list of pods. */
export async function writeWorld(directory: string, form: PodForm, pods: number): Promise<number> {
  mkdirSync(directory);
  const list = (name: string, items: readonly object[]): void => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 4);
    writeFileSync(join(directory, `${name}.json`), `${text}\n`);
  };
  list('policies', [policy]);
  list('nodes', numbered(nodes, 3).slice(goneNodes).map(nodeObject));
  list('namespaces', numbered(namespaces, 2).map(namespaceObject));
  const file = join(directory, 'pods.json');
  await writePods(file, form, pods);
  return statSync(file).size;
}

/** The pod that `why` is asked about: one in the middle. */
export function somePod(pods: number): string {
  const { namespace, variant, number } = place(Math.floor(pods / 20) * 10, pods);
  return `${namespace}/nightly-${variant}-${number}-x7k2p`;
}

async function writePods(file: string, form: PodForm, pods: number): Promise<void> {
  const writer = podWriter(form);
  const stream = createWriteStream(file);
  stream.write(writer.before);
  for (let from = 0; from < pods; from += batch) {
    const texts = Array.from({ length: Math.min(batch, pods - from) }, (_, i) =>
      writer.pod(place(from + i, pods)),
    );
    const isWritten = stream.write(`${from === 0 ? '' : writer.between}${texts.join(writer.between)}`);
    if (!isWritten) await once(stream, 'drain');
  }
  stream.end(writer.after);
  await once(stream, 'finish');
}

function place(i: number, pods: number): PodPlace {
  return {
    variant: i % 10 === 9 ? 'running' : i % 10 === 8 ? 'failed' : 'succeeded',
    number: 20_000_000 + i,
    namespace: `bench-${padded(i % namespaces, 2)}`,
    node: `node-${padded((i * 7) % nodes, 3)}`,
    time: `${new Date(Date.parse(plannedAt) - (pods - i) * spacingMs).toISOString().slice(0, 19)}Z`,
  };
}

const padded = (n: number, digits: number): string => String(n).padStart(digits, '0');
const numbered = (count: number, digits: number): string[] =>
  Array.from({ length: count }, (_, i) => padded(i, digits));

const meta = (name: string, uid: string): object => ({
  name,
  uid: `00000000-0000-4000-8000-${uid.padStart(12, '0')}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { 'kubernetes.io/metadata.name': name },
});

const nodeObject = (number: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: meta(`node-${number}`, `1${number}`),
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

const namespaceObject = (number: string): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: meta(`bench-${number}`, `2${number}`),
  status: { phase: 'Active' },
});
