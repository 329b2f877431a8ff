import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import type { KubeObject } from '../../../sandbox/api/format/json.ts';

/** As a real API server sent it, with fields that we do not read. */
export const evicted: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-7d5f',
    namespace: 'shop',
    uid: '19525d50-d62a-4820-84eb-e2e4c9dec1be',
    resourceVersion: '217',
    generation: 2,
    generateName: 'web-',
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-03T00:00:30Z',
    deletionGracePeriodSeconds: 30,
    labels: { app: 'web', 'pod-template-hash': '7d5f' },
    annotations: { note: 'äöü', 'gc.dustpan.dev/ttl-after-finished': '10m' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Other', name: 'x', uid: '1' },
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '2', controller: true },
    ],
    finalizers: ['example.com/hold'],
  },
  spec: { nodeName: 'node-a', containers: [{ name: 'c', image: 'nginx' }] },
  status: {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'The node was low on resource: memory.',
    startTime: '2026-01-01T00:00:10Z',
    conditions: [
      { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-03T12:00:00Z' },
      {
        ...{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' },
        lastTransitionTime: '2026-01-02T12:00:00Z',
      },
    ],
    initContainerStatuses: [{ state: { terminated: { finishedAt: '2026-01-01T00:01:00Z' } } }],
    containerStatuses: [
      { state: { terminated: { finishedAt: '2026-01-02T00:00:00Z' } } },
      { state: { terminated: { finishedAt: null } } },
    ],
  },
};

/** Its facts, if the label `app` is required. */
export const evictedFacts: PodFacts = {
  uid: '19525d50-d62a-4820-84eb-e2e4c9dec1be',
  name: 'web-7d5f',
  namespace: 'shop',
  resourceVersion: '217',
  generation: 2,
  createdAtMs: Date.parse('2026-01-01T00:00:00Z'),
  deletionAtMs: Date.parse('2026-01-03T00:00:30Z'),
  deletionGracePeriodSeconds: 30,
  labels: { app: 'web' },
  ttlAnnotation: undefined,
  controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '2' },
  finalizers: ['example.com/hold'],
  nodeName: 'node-a',
  nodeExisted: true,
  ready: false,
  phase: 'Failed',
  reason: 'Evicted',
  endedByKubelet: true,
  markedByPodGc: false,
  ends: [],
  ttlRules: new Map(),
  // A main container has no end: the disruption counts.
  finishedAtMs: Date.parse('2026-01-02T12:00:00Z'),
  finishedByMs: undefined,
  wait: undefined,
  partlyEnded: undefined,
};

/** The facts as a plain object, for comparison. */
export const plain = (facts: PodFacts): PodFacts =>
  Object.fromEntries(
    Object.keys(evictedFacts).map((key) => [key, facts[key as keyof PodFacts]]),
  ) as unknown as PodFacts;

/** A pod with this status. */
export const pod = (status: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'a',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...metadata,
  },
  status,
});
