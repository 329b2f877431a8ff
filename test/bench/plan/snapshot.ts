import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { snapshotObject } from '../../../src/commands/snapshot/objects.ts';
import { policyManifest } from '../../manifests.ts';
import { activeNamespace, digits, numbered, readyNode } from '../pods/bench-pods.ts';
import { placeholder, podManifest, podName, podStatus, variantOf, variants } from '../pods/manifest.ts';

/** How the list of pods is written: as `kubectl get pods -A -o json` or as `dustpan snapshot`. */
export type PodForm = 'kubectl' | 'snapshot';

/** When all of it is planned. */
export const plannedAt = '2026-03-01T00:00:00Z';

const nodes = 1_000;
/** The first nodes that pods are bound to do not exist. */
const missingNodes = 3;
const namespaces = 50;

/** Several rules at work. */
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

/** Writes a snapshot with this many pods; returns the size of the list of pods in bytes. */
export async function writeSnapshot(directory: string, form: PodForm, pods: number): Promise<number> {
  mkdirSync(directory);
  const list = (name: string, items: readonly object[]): void =>
    writeFileSync(join(directory, `${name}.json`), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  list('policies', [policy]);
  const nodeNumbers = numbered(nodes, 3).slice(missingNodes);
  list(
    'nodes',
    nodeNumbers.map((number) => readyNode(`node-${number}`)),
  );
  list(
    'namespaces',
    numbered(namespaces, 2).map((number) => activeNamespace(`bench-${number}`)),
  );
  const file = join(directory, 'pods.json');
  await writePods(file, form, pods);
  return statSync(file).size;
}

/** A pod in the middle of the list. */
export function somePod(pods: number): string {
  const { namespace, number, variant } = placeOf(Math.floor(pods / 20) * 10, pods);
  return `${namespace}/${podName(variant, number)}`;
}

const frames = {
  kubectl: {
    before: '{"apiVersion": "v1", "items": [',
    after: '], "kind": "List", "metadata": {"resourceVersion": ""}}\n',
  },
  snapshot: {
    before: '{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[\n',
    after: '\n]}\n',
  },
} as const;

async function writePods(file: string, form: PodForm, pods: number): Promise<void> {
  const texts = new Map(variants.map((variant) => [variant, write[form](servedPod(variant))]));
  const textOf = (index: number): string => {
    const { variant, number, namespace, node, time } = placeOf(index, pods);
    return (texts.get(variant) ?? '')
      .replaceAll(placeholder.number, String(number))
      .replaceAll(placeholder.namespace, namespace)
      .replaceAll(placeholder.node, node)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, time);
  };
  const pieces = function* (): Generator<string> {
    yield frames[form].before;
    for (let i = 0; i < pods; i++) yield `${i === 0 ? '' : ',\n'}${textOf(i)}`;
    yield frames[form].after;
  };
  await writeFile(file, pieces());
}

const write: Readonly<Record<PodForm, (pod: object) => string>> = {
  kubectl: (pod) => JSON.stringify(pod, undefined, 4).replaceAll('\n', '\n        '),
  snapshot: (pod) => JSON.stringify(snapshotObject({ apiVersion: 'v1', kind: 'Pod' }, pod)),
};

/** A pod as the API server returns it, with placeholders. */
function servedPod(variant: (typeof variants)[number]): object {
  const { metadata, spec, ...kind } = podManifest(podName(variant, placeholder.number), variant);
  return {
    ...kind,
    metadata: {
      ...metadata,
      namespace: placeholder.namespace,
      uid: `7d0a8f61-33f4-4d0e-9a1b-0000${placeholder.number}`,
      resourceVersion: placeholder.number,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { ...spec, nodeName: placeholder.node, preemptionPolicy: 'PreemptLowerPriority', priority: 0 },
    status: podStatus(variant),
  };
}

function placeOf(index: number, pods: number) {
  // Pods are a second apart.
  const time = new Date(Date.parse(plannedAt) - (pods - index) * 1_000);
  return {
    variant: variantOf(index),
    number: 20_000_000 + index,
    namespace: `bench-${digits(index % namespaces, 2)}`,
    node: `node-${digits((index * 7) % nodes, 3)}`,
    time: time.toISOString().replace('.000', ''),
  };
}
