import { test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
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
const fiveByTwo = Array.from({ length: 5 }, (_, i) => attempts(2, { name: `u${i}` }, `u${i}-`)).flat();

test.each<Row>([
  {
    name: 'of one container the newest dead one stays, the older go oldest first',
    node: { ...here, containers: attempts(3) },
    removed: ['c0 DeadContainer', 'c1 DeadContainer'],
    kept: ['c2 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'a running attempt does not count: the newest dead one stays beside it',
    node: { ...here, containers: [...attempts(2), container('live', { attempt: 2 })] },
    removed: ['c0 DeadContainer'],
    kept: ['c1 NewestAttempt', 'live Running', 'pod-sandbox Running'],
  },
  {
    name: 'a limit of two leaves two',
    node: { ...here, containers: attempts(3) },
    policy: { maxPerPodContainer: 2 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 UnderLimit', 'c2 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'a limit of zero leaves none of a pod that has finished',
    node: { ...finished, containers: attempts(2) },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer', 'c1 DeadContainer'],
    kept: ['pod-sandbox NewestSandbox'],
  },
  {
    name: 'a limit of zero leaves the newest attempt of a pod that has not finished',
    node: { ...here, containers: [...attempts(2), dead('init', 70, { name: 'init' })] },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 NewestAttempt', 'init NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'a dead attempt beside a later one that runs is not the newest: a limit of zero leaves none',
    node: { ...here, containers: [...attempts(2), container('live', { createdAtNs: agoNs(1) })] },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer', 'c1 DeadContainer'],
    kept: ['live Running', 'pod-sandbox Running'],
  },
  {
    name: 'a pod whose phase says finished while something of it is alive has not finished',
    node: { ...finished, sandboxes: ready, containers: attempts(2) },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'a pod that cache and API server tell differently has not finished',
    node: { ...finished, pods: [...finished.pods, apiPod('pod')], containers: attempts(1) },
    policy: { maxPerPodContainer: 0 },
    removed: [],
    kept: ['c0 NewestAttempt', 'pod-sandbox InUse'],
  },
  {
    name: 'pods not known, or one seen gone once: not finished',
    node: { pods: undefined, containers: attempts(2) },
    policy: { maxPerPodContainer: 0 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 NewestAttempt'],
  },
  {
    name: 'without limits all stay',
    node: { ...here, containers: attempts(3) },
    policy: { maxPerPodContainer: undefined },
    removed: [],
    kept: ['c0 UnderLimit', 'c1 UnderLimit', 'c2 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'containers of two names, or of two pods, are two units',
    node: {
      pods: [apiPod('pod'), apiPod('b')],
      sandboxes: [...ready, sandbox('b')],
      containers: [dead('a', 9), dead('b', 8, { name: 'init' }), dead('c', 7, { pod: 'b' })],
    },
    removed: [],
    kept: [
      'a NewestAttempt',
      'b NewestAttempt',
      'b-sandbox Running',
      'c NewestAttempt',
      'pod-sandbox Running',
    ],
  },
  {
    name: 'of two made at one moment the later attempt is the newer',
    node: { ...here, containers: [dead('z', 5, { attempt: 1 }), dead('a', 5, { attempt: 2 })] },
    removed: ['z DeadContainer'],
  },
  {
    name: 'of two alike in all the greater id stays',
    node: { ...here, containers: [dead('b', 5), dead('a', 5)] },
    removed: ['a DeadContainer'],
  },
  {
    name: 'a nanosecond decides which is newer',
    node: {
      ...here,
      containers: [dead('a', 5, { createdAtNs: agoNs(5) + 1n }), dead('b', 5, { createdAtNs: agoNs(5) })],
    },
    removed: ['b DeadContainer'],
  },
  {
    name: 'age counts from creation; younger ones are no candidates and count for no limit',
    node: { ...here, containers: [dead('old', 11), dead('young', 9), dead('older', 12)] },
    policy: { minimumAgeMs: 600_000 },
    removed: ['older DeadContainer'],
    kept: ['old NewestAttempt', 'pod-sandbox Running', 'young TooYoung 12:01:00'],
  },
  {
    name: 'made exactly the minimum age ago is old enough, a nanosecond later is not',
    node: {
      ...finished,
      containers: [dead('exact', 10), dead('later', 10, { createdAtNs: agoNs(10) + 1n, name: 'b' })],
    },
    policy: { minimumAgeMs: 600_000, maxPerPodContainer: 0 },
    removed: ['exact DeadContainer'],
    kept: ['later TooYoung 12:00:00', 'pod-sandbox InUse'],
  },
  {
    name: 'made in the future, as a clock that went back tells, is too young',
    node: { ...here, containers: [dead('future', -60)] },
    policy: { maxPerPodContainer: 0 },
    removed: [],
    kept: ['future TooYoung 13:00:00', 'pod-sandbox Running'],
  },
  {
    name: 'one that was made and never started is dead, but not in its first two minutes',
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
    name: 'one in unknown state of a pod that exists stays and counts for no limit',
    node: { ...here, containers: [dead('a', 9), dead('u', 5, { state: 'Unknown' })] },
    removed: [],
    kept: ['a NewestAttempt', 'pod-sandbox Running', 'u UnknownState'],
  },
  {
    name: 'one without the kubelet’s labels is not ours, whatever its age, and counts for no limit',
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
    name: 'a mirror cannot make an API pod static: neither one that exists, nor one whose sandbox is left',
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
    name: 'five units of two and a limit of six: one a unit, although six could stay',
    node: { ...here, containers: fiveByTwo },
    policy: { maxPerPodContainer: undefined, maxContainers: 6 },
    removed: ['u0-0', 'u1-0', 'u2-0', 'u3-0', 'u4-0'].sort().map((id) => `${id} DeadContainer`),
  },
  {
    name: 'a limit below the number of units: one a unit, then the oldest of all',
    node: { ...finished, containers: threeByTwo },
    policy: { maxPerPodContainer: undefined, maxContainers: 2 },
    removed: ['a0', 'a1', 'b0', 'c0'].map((id) => `${id} DeadContainer`),
    kept: ['b1 NewestAttempt', 'c1 NewestAttempt', 'pod-sandbox InUse'],
  },
  {
    name: 'the newest attempts of a pod that has not finished stay beyond the limit, and cost no other its place',
    node: { ...here, containers: threeByTwo },
    policy: { maxPerPodContainer: undefined, maxContainers: 2 },
    removed: ['a0', 'b0', 'c0'].map((id) => `${id} DeadContainer`),
    kept: ['a1 NewestAttempt', 'b1 NewestAttempt', 'c1 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'as many as the limit all stay',
    node: { ...here, containers: fiveByTwo },
    policy: { maxPerPodContainer: undefined, maxContainers: 10 },
    removed: [],
  },
  {
    name: 'the limit per container comes first and may be enough',
    node: { ...here, containers: fiveByTwo },
    policy: { maxPerPodContainer: 1, maxContainers: 5 },
    removed: ['u0-0', 'u1-0', 'u2-0', 'u3-0', 'u4-0'].map((id) => `${id} DeadContainer`),
  },
  {
    name: 'a total limit of zero leaves none of a pod that has finished',
    node: { ...finished, containers: attempts(2) },
    policy: { maxContainers: 0 },
    removed: ['c0 DeadContainer', 'c1 DeadContainer'],
  },
  {
    name: 'a total limit of zero leaves the newest attempt of a pod that has not finished',
    node: { ...here, containers: attempts(2) },
    policy: { maxContainers: 0 },
    removed: ['c0 DeadContainer'],
    kept: ['c1 NewestAttempt', 'pod-sandbox Running'],
  },
  {
    name: 'containers of gone pods are gone before anything is counted',
    node: { ...here, containers: [...attempts(3, { pod: 'gone' }, 'g'), ...attempts(2)] },
    policy: { maxPerPodContainer: undefined, maxContainers: 2 },
    removed: ['g0 PodGone', 'g1 PodGone', 'g2 PodGone'],
  },
])('total limit: $name', checkRow);
