import { expect, test } from 'vitest';
import { stuckDetail, stuckPods, type StuckCause } from '../../../../src/controllers/podgc/stuck.ts';
import type { NodeFacts, PodFacts, PodWait } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, now, pod } from '../../../builders.ts';

const ready = new Map([['node-1', node('node-1')]]);
const notReady = new Map([['node-1', node('node-1', { ready: false })]]);
const outOfService = new Map([
  ['node-1', node('node-1', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] })],
]);
const none = new Map<string, NodeFacts>();

const wait = (over: Partial<PodWait> = {}): PodWait => ({
  ...{ sinceMs: minutesAgo(60), reason: '', message: '', image: '', ...over },
});
const pending = (over: Partial<PodWait> = {}): PodFacts =>
  pod('web/api', { phase: 'Pending', wait: wait(over) });
const unbound = (over: Partial<PodWait> = {}): PodFacts => ({ ...pending(over), nodeName: undefined });
const ending = (over: Partial<PodFacts> = {}): PodFacts =>
  pod('web/api', {
    ...{ phase: 'Running', deletionAtMs: minutesAgo(10), deletionGracePeriodSeconds: 30, ...over },
  });
const held = (...finalizers: readonly string[]): PodFacts =>
  ending({ deletionGracePeriodSeconds: 0, phase: 'Failed', finalizers });

const describe = 'kubectl -n web describe pod api';
const force = 'kubectl -n web delete pod api --grace-period=0 --force';
/** Removes one finalizer, if it has that index. */
const unfinalize = (index: number, value: string): string =>
  `kubectl -n web patch pod api --type=json -p '[{"op":"test","path":"/metadata/finalizers/${index}","value":"${value}"},{"op":"remove","path":"/metadata/finalizers/${index}"}]'`;
const taint = 'kubectl taint nodes node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute';

interface Row {
  readonly name: string;
  readonly pod: PodFacts;
  readonly nodes?: ReadonlyMap<string, NodeFacts> | undefined;
  readonly cause: StuckCause;
  /** A part of the sentence. */
  readonly detail: string;
  readonly command: string;
}

test.each<Row>([
  {
    name: 'terminating on no node that exists',
    pod: ending(),
    nodes: none,
    cause: 'NoNode',
    detail: 'Node node-1 does not exist, so no kubelet ends the pod.',
    command: force,
  },
  {
    name: 'pending on no node that exists',
    pod: pending(),
    nodes: none,
    cause: 'NoNode',
    detail: 'so no kubelet starts the pod.',
    command: force,
  },
  {
    name: 'terminating on a dead node',
    pod: ending(),
    nodes: notReady,
    cause: 'NodeNotReady',
    detail: 'Node node-1 is not ready, so its kubelet does not end the pod.',
    command: taint,
  },
  {
    name: 'pending on a dead node',
    pod: pending(),
    nodes: notReady,
    cause: 'NodeNotReady',
    detail: 'its kubelet does not start the pod.',
    command: taint,
  },
  {
    name: 'terminating on a node that is out of service',
    pod: ending(),
    nodes: outOfService,
    cause: 'NodeNotReady',
    detail: 'It has the out-of-service taint.',
    command: 'kubectl get gcpolicies',
  },
  {
    name: 'a finalizer with a domain',
    pod: held('example.com/backup'),
    cause: 'Finalizer',
    detail: 'example.com/backup (probably of a controller of example.com)',
    command: unfinalize(0, 'example.com/backup'),
  },
  {
    name: 'finalizers of Kubernetes, and one without a domain',
    pod: held('batch.kubernetes.io/job-tracking', 'foregroundDeletion', 'mine'),
    cause: 'Finalizer',
    detail:
      'batch.kubernetes.io/job-tracking (the Job controller of Kubernetes), foregroundDeletion (the garbage collector of Kubernetes), mine (its controller is not known).',
    command: unfinalize(2, 'mine'),
  },
  {
    name: 'only the finalizer of the Job controller, which no command removes',
    pod: held('batch.kubernetes.io/job-tracking'),
    cause: 'Finalizer',
    detail: 'batch.kubernetes.io/job-tracking (the Job controller of Kubernetes).',
    command: describe,
  },
  {
    name: 'a finalizer after the grace, whatever its node',
    pod: held('example.com/backup'),
    nodes: none,
    cause: 'Finalizer',
    detail: 'example.com/backup',
    command: unfinalize(0, 'example.com/backup'),
  },
  {
    name: 'a finalizer, and its kubelet has not ended it',
    pod: ending({ finalizers: ['example.com/backup'] }),
    cause: 'Other',
    detail:
      'The kubelet of node node-1 has not reported that its containers have ended. Then it waits for its finalizers: example.com/backup.',
    command: describe,
  },
  {
    name: 'its kubelet has not ended it, and nodes are not known',
    pod: ending(),
    nodes: undefined,
    cause: 'Other',
    detail: 'has not reported that its containers have ended.',
    command: describe,
  },
  {
    name: 'deleted with grace 0, and no finalizer',
    pod: ending({ deletionGracePeriodSeconds: 0 }),
    cause: 'Other',
    detail: 'has not reported',
    command: describe,
  },
  {
    name: 'its containers have ended',
    pod: ending({ phase: 'Failed' }),
    cause: 'Volume',
    detail: 'a volume cannot be unmounted.',
    command: describe,
  },
  {
    name: 'terminating, never bound',
    pod: ending({ phase: 'Pending', nodeName: undefined }),
    cause: 'Other',
    detail: 'It was never bound to a node',
    command: force,
  },
  {
    name: 'no node fits',
    pod: unbound({ reason: 'Unschedulable', message: '0/3 nodes are available: 3 Insufficient cpu.' }),
    cause: 'Unschedulable',
    detail: 'The scheduler has not bound it (Unschedulable): 0/3 nodes are available: 3 Insufficient cpu.',
    command: describe,
  },
  {
    name: 'no scheduler',
    pod: unbound(),
    cause: 'Unschedulable',
    detail: 'No scheduler has judged it.',
    command: describe,
  },
  {
    name: 'a claim is missing',
    pod: unbound({ reason: 'Unschedulable', message: 'persistentvolumeclaim "data" not found' }),
    cause: 'Volume',
    detail: 'persistentvolumeclaim "data" not found',
    command: describe,
  },
  {
    name: 'an image cannot be pulled',
    pod: pending({ reason: 'ImagePullBackOff', message: 'Back-off pulling', image: 'nginx:nope' }),
    cause: 'Image',
    detail: 'Image nginx:nope cannot be pulled (ImagePullBackOff): Back-off pulling.',
    command: describe,
  },
  {
    name: 'no sandbox',
    pod: pending({ reason: 'PodReadyToStartContainers' }),
    cause: 'Volume',
    detail: 'a volume cannot be mounted.',
    command: describe,
  },
  {
    name: 'a Secret is missing',
    pod: pending({ reason: 'CreateContainerConfigError', message: 'secret "x" not found' }),
    cause: 'Other',
    detail: 'Its containers have not started (CreateContainerConfigError): secret "x" not found.',
    command: describe,
  },
  {
    name: 'no reason',
    pod: pending(),
    cause: 'Other',
    detail: 'Its containers have not started.',
    command: describe,
  },
  {
    name: 'Unknown',
    pod: { ...pending(), phase: 'Unknown' },
    cause: 'Other',
    detail: 'The kubelet of node node-1 does not report its state.',
    command: describe,
  },
])('$cause: $name', ({ pod: one, cause, detail, command, ...row }) => {
  const [found] = stuckPods([one], 'nodes' in row ? row.nodes : ready, now);
  expect(found?.obstacle.cause).toBe(cause);
  expect(found?.obstacle.help(one).command).toBe(command);
  expect(found && stuckDetail(found)).toContain(detail);
});

const second = 1000;
test.each<{ name: string; pod: PodFacts; sinceMs: number | undefined }>([
  { name: 'ten minutes after its grace period', pod: ending(), sinceMs: minutesAgo(10) },
  { name: 'a second less', pod: ending({ deletionAtMs: minutesAgo(10) + second }), sinceMs: undefined },
  {
    name: 'its grace period has not ended',
    pod: ending({ deletionAtMs: minutesAgo(-1) }),
    sinceMs: undefined,
  },
  { name: 'Pending for an hour', pod: pending(), sinceMs: minutesAgo(60) },
  { name: 'Unknown for an hour', pod: { ...pending(), phase: 'Unknown' }, sinceMs: minutesAgo(60) },
  { name: 'a second less', pod: pending({ sinceMs: minutesAgo(60) + second }), sinceMs: undefined },
  {
    name: 'Pending since a time in the future',
    pod: pending({ sinceMs: minutesAgo(-90) }),
    sinceMs: undefined,
  },
  { name: 'Pending since an unknown time', pod: { ...pending(), wait: undefined }, sinceMs: undefined },
  {
    name: 'Pending for hours, terminating for a minute',
    pod: { ...pending({ sinceMs: minutesAgo(300) }), deletionAtMs: minutesAgo(1) },
    sinceMs: undefined,
  },
  { name: 'a scheduling gate', pod: unbound({ reason: 'SchedulingGated' }), sinceMs: undefined },
  {
    name: 'a scheduling gate, and it is terminating',
    pod: { ...unbound({ reason: 'SchedulingGated' }), deletionAtMs: minutesAgo(10) },
    sinceMs: minutesAgo(10),
  },
  { name: 'running', pod: pod('web/api', { phase: 'Running' }), sinceMs: undefined },
])('since: $name', ({ pod: one, sinceMs }) => {
  expect(stuckPods([one], ready, now)[0]?.sinceMs).toBe(sinceMs);
});

test('the longest stuck are first', () => {
  const names = stuckPods([ending(), pending(), pod('fine')], ready, now).map(({ sinceMs }) => sinceMs);
  expect(names).toEqual([minutesAgo(60), minutesAgo(10)]);
});
