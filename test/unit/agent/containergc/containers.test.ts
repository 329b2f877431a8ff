import { test } from 'vitest';
import { now } from '../../../builders.ts';
import { sandbox } from '../../../fakes/runtime.ts';
import {
  agoNs,
  apiPod,
  attempts,
  checkRow,
  dead,
  down,
  finishedPod,
  staticSource,
  type Row,
} from './builders.ts';

const pods = [apiPod('pod')];
const ready = [sandbox('pod')];
const here = { pods, sandboxes: ready };
const finished = { pods: [finishedPod('pod')], sandboxes: [down('pod', 60)] };
const threeByTwo = ['a', 'b', 'c'].flatMap((name, i) =>
  attempts(2, { name, createdAtNs: agoNs(50 - i) }, name),
);

test.each<Row>([
  {
    name: 'the newest dead attempt of a container is kept, the older ones are removed oldest first',
    node: { ...here, containers: attempts(3) },
    removed: ['c0 DeadContainer', 'c1 DeadContainer'],
    kept: ['c2 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'a limit of zero keeps none of a finished pod',
    node: { ...finished, containers: attempts(2) },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer', 'c1 DeadContainer'],
    kept: ['pod-sandbox NewestSandbox'],
  },
  {
    name: 'a pod that has finished in only one of cache and API server has not finished',
    node: { ...finished, pods: [...finished.pods, apiPod('pod')], containers: attempts(1) },
    policy: { maxPerPodContainer: 0 },
    removed: [],
    kept: ['c0 NewestAttempt', 'pod-sandbox InUse'],
  },
  {
    name: 'an unknown pod has not finished',
    node: { pods: undefined, containers: attempts(2) },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 NewestAttempt'],
  },
  {
    name: 'with equal creation times the later attempt is newer',
    node: { ...here, containers: [dead('z', 5, { attempt: 1 }), dead('a', 5, { attempt: 2 })] },
    removed: ['z DeadContainer'],
  },
  {
    name: 'age counts from creation; younger containers are kept and count for no limit',
    node: { ...here, containers: [dead('old', 11), dead('young', 9), dead('older', 12)] },
    policy: { minimumAgeMs: 600_000 },
    removed: ['older DeadContainer'],
    kept: ['old NewestAttempt 12:01:00', 'pod-sandbox Running', 'young TooYoung'],
  },
  {
    name: 'a container that was created and not started is dead after two minutes',
    node: {
      ...finished,
      containers: [
        dead('stuck', 5, { state: 'Created' }),
        dead('starting', 1, { state: 'Created', name: 'b' }),
      ],
    },
    policy: { maxPerPodContainer: 0 },
    removed: ['stuck DeadContainer'],
    kept: ['pod-sandbox InUse', 'starting TooYoung 12:01:00'],
  },
  {
    name: 'a container in unknown state of an existing pod is kept and counts for no limit',
    node: { ...here, containers: [dead('a', 9), dead('u', 5, { state: 'Unknown' })] },
    removed: [],
    kept: ['a NewestAttempt', 'pod-sandbox Running', 'u UnknownState'],
  },
  {
    name: 'a container without the kubelet’s labels is kept whatever its age, and counts for no limit',
    node: {
      ...here,
      containers: [
        dead('x', 999, { labels: {} }),
        dead('y', 999, { labels: { 'io.kubernetes.pod.uid': '' } }),
      ],
    },
    policy: { maxPerPodContainer: 0, maxContainers: 0 },
    removed: [],
    kept: ['pod-sandbox Running', 'x NotKubelets', 'y NotKubelets'],
  },
  {
    name: 'static pods are left to the kubelet: by the sandbox, by the mirror pod, by the form of the UID',
    node: {
      pods: [apiPod('mirror-of-b', 'uid-b')],
      sandboxes: [down('a', 60, { annotations: staticSource })],
      containers: [
        ...attempts(2, { pod: 'a' }, 'a'),
        ...attempts(2, { pod: 'b' }, 'b'),
        dead('h', 60, { labels: { 'io.kubernetes.pod.uid': '0123456789abcdef0123456789abcdef' } }),
      ],
    },
    policy: { maxPerPodContainer: 0, maxContainers: 0 },
    removed: [],
    kept: [
      'a-sandbox StaticPod',
      'a0 StaticPod',
      'a1 StaticPod',
      'b0 StaticPod',
      'b1 StaticPod',
      'h StaticPod',
    ],
  },
  {
    name: 'a mirror pod cannot make an API pod static: neither one that exists, nor one whose sandbox is left',
    node: {
      pods: [apiPod('b'), apiPod('forged', 'uid-b'), apiPod('forged-too', 'uid-a')],
      sandboxes: [down('a', 60)],
      containers: [...attempts(2, { pod: 'a' }, 'a'), ...attempts(2, { pod: 'b' }, 'b')],
    },
    removed: ['a0 PodGone', 'a1 PodGone', 'b0 DeadContainer', 'a-sandbox Sandbox'],
    kept: ['b1 NewestAttempt'],
  },
])('dead containers: $name', checkRow);

test.each<Row>([
  {
    name: 'a limit below the number of containers removes the oldest of all',
    node: { ...finished, containers: threeByTwo },
    policy: { maxPerPodContainer: undefined, maxContainers: 2 },
    removed: ['a0', 'a1', 'b0', 'c0'].map((id) => `${id} DeadContainer`),
    kept: ['b1 NewestAttempt', 'c1 NewestAttempt', 'pod-sandbox InUse'],
  },
])('total limit: $name', checkRow);

const hourMs = 3_600_000;
const jump = { untilMs: now.getTime() - hourMs - 10 * 60_000, ms: hourMs };

test.each<Row>([
  {
    name: 'no minimum age is judged in the pass after a jump',
    node: { containers: attempts(2, { pod: 'gone' }), clockUnsure: true },
    policy: { minimumAgeMs: 60_000 },
    removed: [],
    kept: ['c0 ClockUnsure 12:01:00', 'c1 ClockUnsure 12:01:00'],
  },
  {
    name: 'a jump does not matter without a minimum age',
    node: { containers: attempts(2, { pod: 'gone' }), clockUnsure: true },
    removed: ['c0 PodGone', 'c1 PodGone'],
  },
  {
    name: 'a container created before a jump is younger than it looks',
    node: { containers: [dead('before', 75), dead('old', 175), dead('after', 9)], jumps: [jump] },
    policy: { minimumAgeMs: 30 * 60_000 },
    removed: ['old PodGone'],
    kept: ['before TooYoung 12:15:00', 'after TooYoung 12:21:00'],
  },
])('jumps of the clock: $name', checkRow);
