import { expect, test } from 'vitest';
import { observeGone } from '../../../../src/agent/containergc/pods.ts';
import { now } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import {
  apiPod,
  attempts,
  checkRow,
  dead,
  deletedPod,
  down,
  evictedPod,
  factsOf,
  finishedPod,
  log,
  logsRule,
  staticSource,
  type Row,
} from './builders.ts';

const pods = [apiPod('pod')];
const goneLogs = { logs: [log('default_gone_uid-gone/main/0.log')] };
const gone = { containers: [dead('g', 60, { pod: 'gone' })], sandboxes: [down('gone', 60)] };

test.each<Row>([
  {
    name: 'in quarantine the limits apply as for any pod',
    node: { containers: attempts(2, { pod: 'gone' }), sandboxes: [], sightings: { 'uid-gone': 1 } },
    given: { assumeGone: false, periodMs: 300_000 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 Quarantined 12:05:00'],
  },
  {
    name: 'a running container: not gone, and no sibling is removed',
    node: { ...gone, containers: [...gone.containers, container('live', { pod: 'gone', name: 'side' })] },
    removed: [],
    kept: ['g NewestAttempt', 'gone-sandbox InUse', 'live Running'],
  },
  {
    name: 'sandboxes unknown: everything is kept',
    node: { containers: attempts(3), sandboxes: undefined },
    removed: [],
    kept: ['c0 ContainersUnknown', 'c1 ContainersUnknown', 'c2 ContainersUnknown'],
  },
  {
    name: 'evicted with the keep label: everything is kept',
    node: { ...gone, ...goneLogs, pods: [evictedPod('gone', { isOptedOut: true })] },
    removed: [],
    kept: ['g KeepMarked', 'gone-sandbox KeepMarked', 'pods/default_gone_uid-gone KeepMarked'],
  },
  {
    name: 'evicted and static: left to the kubelet',
    node: {
      ...gone,
      sandboxes: [down('gone', 60, { annotations: staticSource })],
      pods: [evictedPod('mirror', { configHash: 'uid-gone' })],
    },
    removed: [],
    kept: ['g StaticPod', 'gone-sandbox StaticPod'],
  },
  {
    name: 'deleted, its grace period not over: exists',
    node: { ...gone, ...goneLogs, pods: [deletedPod('gone', 0)] },
    removed: [],
    kept: ['g NewestAttempt', 'gone-sandbox InUse', 'pods/default_gone_uid-gone InUse'],
  },
  {
    name: 'everything of a pod with the keep label is kept, whatever the limits, and counts for none',
    node: {
      pods: [{ ...apiPod('pod'), isOptedOut: true }, finishedPod('other')],
      containers: [...attempts(2), dead('lost', 60, { state: 'Unknown' }), dead('o', 90, { pod: 'other' })],
      sandboxes: [down('pod', 60), down('pod', 30, { id: 'newest' })],
      logs: [log('default_pod_uid-pod/main/0.log.20260101-000001')],
    },
    policy: { maxPerPodContainer: 0, maxContainers: 1, logs: logsRule({ maxRotatedPerContainer: 0 }) },
    removed: ['o DeadContainer'],
    kept: [
      ...['c0', 'c1', 'lost', 'newest', 'pod-sandbox', 'pods/default_pod_uid-pod'].map(
        (it) => `${it} KeepMarked`,
      ),
      'pods/default_pod_uid-pod/main/0.log.20260101-000001 KeepMarked',
    ],
  },
  {
    name: 'containers in unknown state or just created are removed',
    node: {
      ...gone,
      containers: [
        dead('u', 60, { pod: 'gone', state: 'Unknown' }),
        dead('c', 1, { pod: 'gone', state: 'Created' }),
      ],
    },
    removed: ['u PodGone', 'c PodGone', 'gone-sandbox Sandbox'],
  },
])('gone pods: $name', checkRow);

const sandboxRows: readonly Row[] = [
  {
    name: 'the newest of an existing pod is kept although it is not ready, older ones are removed oldest first',
    node: {
      pods,
      sandboxes: [down('pod', 9, { id: 's2' }), down('pod', 8, { id: 's3' }), down('pod', 10, { id: 's1' })],
    },
    removed: ['s1 Sandbox', 's2 Sandbox'],
    kept: ['s3 NewestSandbox'],
  },
  {
    name: 'one with a container is kept; one whose last container this plan removes is removed',
    node: {
      pods,
      sandboxes: [down('pod', 9, { id: 's1' }), down('pod', 8, { id: 's2' }), sandbox('pod')],
      containers: [dead('c1', 9, { sandboxId: 's1' }), dead('c2', 8, { sandboxId: 's2' })],
    },
    removed: ['c1 DeadContainer', 's1 Sandbox'],
    kept: ['c2 NewestAttempt', 'pod-sandbox Running', 's2 InUse'],
  },
  {
    name: 'one without the kubelet’s labels is kept',
    node: { sandboxes: [down('x', 9, { labels: {} }), down('x', 8, { labels: {}, id: 'y' })] },
    removed: [],
    kept: ['x-sandbox NotKubelets', 'y NotKubelets'],
  },
  {
    name: 'containers unknown: every one may be in use',
    node: { sandboxes: [down('pod', 9), down('pod', 8, { id: 'newer' })], containers: undefined },
    removed: [],
    kept: ['newer ContainersUnknown', 'pod-sandbox ContainersUnknown'],
  },
  {
    name: 'pods unknown: the newest is kept, older ones are removed',
    node: { sandboxes: [down('pod', 9), down('pod', 8, { id: 'newer' })], pods: undefined },
    removed: ['pod-sandbox Sandbox'],
    kept: ['newer NewestSandbox'],
  },
  {
    name: 'in quarantine the newest waits',
    node: { sandboxes: [down('gone', 9)], sightings: { 'uid-gone': 1 } },
    given: { assumeGone: false },
    removed: [],
    kept: ['gone-sandbox Quarantined 12:01:00'],
  },
];
test.each(sandboxRows)('sandboxes: $name', checkRow);

/** What a gone pod has left. */
const remains = factsOf({
  sandboxes: [down('gone', 300)],
  containers: [dead('gone-0', 660, { pod: 'gone' })],
  logs: [log('web_gone_uid-gone/main/0.log')],
});

test.each([
  { name: 'the pods were unknown', change: { pods: undefined } },
  { name: 'the pod existed', change: { pods: [apiPod('gone')] } },
  { name: 'the sandboxes were unknown', change: { sandboxes: undefined } },
  { name: 'a container of it ran', change: { containers: [container('gone-1', { pod: 'gone' })] } },
])('a pass in which $name resets the count', ({ change }) => {
  const between = observeGone(observeGone(new Map(), remains, { now }), { ...remains, ...change }, { now });
  expect(observeGone(between, remains, { now }).get('uid-gone')).toBe(1);
});
