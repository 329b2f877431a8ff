import { snapshotObject } from '../../src/commands/snapshot/objects.ts';
import { placeholder, statusOf, templatePod, type Variant } from './template-pods.ts';

/** How a list of pods is written down. */
export type PodForm = 'kubectl' | 'snapshot';

/** A pod of the list. */
export interface PodPlace {
  readonly variant: Variant;
  /** Of eight digits. */
  readonly number: number;
  /** As long as the placeholders. */
  readonly namespace: string;
  readonly node: string;
  readonly time: string;
}

/** The text of a list around and between its pods, and of any pod in it. */
interface PodWriter {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  pod(place: PodPlace): string;
}

/** Writes pods as `kubectl get pods -A -o json` and as `dustpan snapshot` do. */
export function podWriter(form: PodForm): PodWriter {
  const write = writers[form];
  const texts = new Map(variants.map((variant) => [variant, write(serverPod(variant))]));
  return { ...frames[form], pod: (place) => filled(texts.get(place.variant) ?? '', place) };
}

const variants: readonly Variant[] = ['succeeded', 'failed', 'running'];

const frames = {
  kubectl: {
    before: '{\n    "apiVersion": "v1",\n    "items": [\n        ',
    between: ',\n        ',
    after: '\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n',
  },
  snapshot: {
    before: '{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[\n',
    between: ',\n',
    after: '\n]}\n',
  },
} as const;

const writers: Readonly<Record<PodForm, (pod: object) => string>> = {
  kubectl: (pod) => JSON.stringify(sorted(pod), undefined, 4).replaceAll('\n', '\n        '),
  snapshot: (pod) => JSON.stringify(snapshotObject({ apiVersion: 'v1', kind: 'Pod' }, pod)),
};

/** As Go writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).map(([key, one]) => [key, sorted(one)] as const);
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const anyTime = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

function filled(text: string, { number, namespace, node, time }: PodPlace): string {
  return text
    .replaceAll(placeholder.number, String(number))
    .replaceAll(placeholder.namespace, namespace)
    .replaceAll(placeholder.node, node)
    .replaceAll(anyTime, time);
}

/** The template with what server, scheduler and admission add to it. */
function serverPod(variant: Variant): object {
  const name = `nightly-${variant}-${placeholder.number}-x7k2p`;
  const { metadata, spec } = templatePod(name, variant) as Template;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      namespace: placeholder.namespace,
      uid: `7d0a8f61-33f4-4d0e-9a1b-0000${placeholder.number}`,
      resourceVersion: placeholder.number,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      ...spec,
      containers: spec.containers.map((container) => ({
        ...container,
        imagePullPolicy: 'IfNotPresent',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      })),
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      nodeName: placeholder.node,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      schedulerName: 'default-scheduler',
      serviceAccount: 'nightly-report',
      terminationGracePeriodSeconds: 30,
    },
    status: statusOf(variant),
  };
  return pod;
}

interface Template {
  readonly metadata: object;
  readonly spec: { readonly containers: readonly object[] };
}
