import { expect, test } from 'vitest';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { statusView as viewOf } from '../../../../src/commands/status/view.ts';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusImagesPull,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { NodeFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, node, pod, podWait, policy } from '../../../builders.ts';
import { condition, minutesAgo as timeBefore, installation, missed, report } from '../status/fixtures.ts';
import { outOfServiceNode } from '../../controllers/podgc/rows.ts';
import type { Facts } from '../facts.ts';
import { explained } from './catalogue.ts';

/** The pod `x` is terminating. */
const ending = (over: Partial<PodFacts> = {}, more: Facts = {}): Facts => ({
  pods: [
    pod('x', {
      ...{ deletionAtMs: minutesAgo(25), deletionGracePeriodSeconds: 30, phase: 'Running', ...over },
    }),
  ],
  ...more,
});
/** The pod `x` was deleted with grace 0, and waits for these finalizers. */
const held = (...finalizers: readonly string[]): Facts =>
  ending({ deletionGracePeriodSeconds: 0, phase: 'Failed', finalizers });
/** The pod `x` has not started. */
const pending = (wait: Parameters<typeof podWait>[0], over: Partial<PodFacts> = {}): Facts => ({
  pods: [pod('x', { phase: 'Pending', wait: podWait({ sinceMs: minutesAgo(180), ...wait }), ...over })],
});
const initEnded = (reason: string, exitCode: number): Facts =>
  pending({ reason: 'PodInitializing', container: 'restore', initEnd: { reason, exitCode } });

const unbound = { nodeName: undefined };
const dead = { nodes: [node('node-1', { ready: false })] };
const taintedBy = (mode: 'DryRun' | 'Enforce'): Facts => ({
  policies: [{ ...policy({ pods: { outOfService: true } }), mode }],
  nodes: [outOfServiceNode],
});

const gib = 1024 ** 3;
const pull = (over: Partial<NodeGCReportStatusImagesPull>): NodeGCReportStatusImagesPull => ({
  ...{ image: 'registry.test/model:2', pods: ['default/x'], podCount: 1, fit: 'Unknown' },
  ...over,
});
const sized = {
  totalBytes: 30 * gib,
  receivedBytes: 14 * gib,
  neededBytes: 52 * gib,
  availableBytes: 9 * gib,
};
/** Images that pods of node-1 wait for, by its report. */
const waitingFor = (...pulls: NodeGCReportStatusImagesPull[]) => ({
  nodeStates: [
    report('node-1', { conditions: [], images: { pulls } }),
    report('node-2', { images: { pulls: [pull({ pods: ['default/y'] })] } }),
  ],
});
const tooLarge = pull({ ...sized, fit: 'Short', reason: 'ImagePullBackOff', attempts: 4 });

/** About the pod `x`. */
const cases: Readonly<Record<string, Facts>> = {
  'a dead node': ending({}, dead),
  'a dead node that is out of service': ending({}, taintedBy('Enforce')),
  'a dead node that is out of service, in mode DryRun': ending({}, taintedBy('DryRun')),
  'a dead node, where it has not started': { ...pending({}), ...dead },
  'no node': ending({}, { nodes: [] }),
  'a finalizer': ending({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/backup'] }),
  'finalizers of Kubernetes, and one without a domain': held(
    ...['batch.kubernetes.io/job-tracking', 'foregroundDeletion', 'mine'],
  ),
  'only a finalizer of Kubernetes, which no command removes': held('batch.kubernetes.io/job-tracking'),
  'its kubelet, and then a finalizer': ending({ finalizers: ['example.com/backup'] }),
  'a volume, after its containers': ending({ phase: 'Failed' }),
  'nothing: it was never bound': ending({ phase: 'Pending', ...unbound }),
  'an image': pending({
    reason: 'ImagePullBackOff',
    message: 'Back-off pulling image "nginx:nope"',
    image: 'nginx:nope',
  }),
  'an image that is too large': {
    ...pending({ reason: 'ImagePullBackOff', image: 'registry.test/model:2' }),
    ...waitingFor(tooLarge, pull({ image: 'registry.test/side:1', pods: ['default/y'] })),
  },
  'no node fits': pending(
    { reason: 'Unschedulable', message: '0/3 nodes are available: 3 Insufficient cpu.' },
    unbound,
  ),
  'no scheduler': pending({}, unbound),
  'a claim is missing': pending(
    { reason: 'Unschedulable', message: 'persistentvolumeclaim "data" not found' },
    unbound,
  ),
  'a volume, before its containers': pending({ reason: 'PodReadyToStartContainers' }),
  'a Secret is missing': pending({ reason: 'CreateContainerConfigError', message: 'secret "x" not found' }),
  'a container cannot be created': pending({ reason: 'CrashLoopBackOff', container: 'migrate' }),
  'an init container ended': initEnded('OOMKilled', 0),
  'an init container ended without a reason': initEnded('', 3),
  'a taint that stayed': ending(
    {},
    { nodes: [node('node-1', { taintKeys: ['node.kubernetes.io/out-of-service'] })] },
  ),
  'a long grace period on a lost node': ending(
    { deletionAtMs: minutesAgo(-300), deletionGracePeriodSeconds: 8 * 3600 },
    { nodes: [node('node-1', { ready: false, readyChangedAtMs: minutesAgo(60) })] },
  ),
  'a kubelet that does not report': pending({}, { phase: 'Unknown' }),
  'nothing after nine minutes': ending({ deletionAtMs: minutesAgo(9) }),
};

test('why names what holds a stuck pod, and the command that helps', async () => {
  const text = Object.entries(cases).map(
    ([name, facts]) =>
      `# ${name}\n\n${whyTable(explained({ kind: 'pod', namespace: 'default', name: 'x' }, facts))}`,
  );
  await expect(text.join('\n')).toMatchFileSnapshot('./__snapshots__/stuck.txt');
});

const nearFull = condition('KeepListAtRisk', 'True', {
  reason: 'DiskNearSignal',
  message:
    "The image file system is near the kubelet's eviction signal (imagefs.available below 15 %, its default), at which it removes every unused image",
});

/** About node-1, which was not read unless there is a part. */
const nodeCases: Readonly<Record<string, Facts>> = {
  'a taint that stayed': cases['a taint that stayed'] ?? {},
  'a taint that stayed, and the node was read': { ...cases['a taint that stayed'], part: {} },
  'out of service': cases['a dead node that is out of service'] ?? {},
  'a dead node': cases['a dead node'] ?? {},
  'ready, with a pod that has ended': ending({ deletionAtMs: minutesAgo(9) }),
  'ready, it was read, and only other agents report': { part: {}, nodeStates: [report('node-2')] },
  'ready, it was read, and its agent reports nothing': {
    ...{ part: {}, nodeStates: [report('node-1', { conditions: [] })] },
  },
  'ready, it was read, and the conditions of its agent are unknown': {
    ...{ part: {}, nodeStates: [report('node-1')] },
  },
  'a taint that stayed, it was read, and its agent reports': {
    ...cases['a taint that stayed'],
    ...{ part: {}, nodeStates: [report('node-1', { conditions: [] })] },
  },
  'a disk that is almost full': { part: {}, nodeStates: [report('node-1', { conditions: [nearFull] })] },
  'a disk that fills up, and a target missed in mode DryRun': {
    part: {},
    nodeStates: [
      report('node-1', {
        conditions: [missed],
        policy: { name: 'default', observedGeneration: 2, mode: 'DryRun' },
        usage: {
          measuredTime: timeBefore(1),
          fileSystems: [
            {
              ...{ name: 'imagefs', capacityBytes: 20 * gib, availableBytes: gib, usedBytes: 19 * gib },
              ...{ collectableBytes: 0, fullAfterCollectionTime: timeBefore(-30) },
            },
          ],
        },
      }),
    ],
  },
  'images that pods wait for': {
    part: {},
    ...waitingFor(
      pull({ ...sized, fit: 'Fits' }),
      pull({ ...sized, fit: 'Freeing', podCount: 3, attempts: 1 }),
      tooLarge,
      pull({ ...sized, fit: 'Off' }),
      pull({ reason: 'ErrImagePull' }),
      pull({ neededBytes: gib, receivedBytes: undefined }),
    ),
  },
  'only its objects are known': { nodes: undefined, part: {} },
};

test('why names what is wrong with a node, and its stuck pods, by its object alone', async () => {
  const text = Object.entries(nodeCases).map(
    ([name, facts]) =>
      `# ${name}\n\n${whyTable(explained({ kind: 'node', text: 'node-1', node: 'node-1' }, facts))}`,
  );
  await expect(text.join('\n')).toMatchFileSnapshot('./__snapshots__/nodes.txt');
});

const elsewhere = condition('Degraded', 'True', { reason: 'PassFailed', message: 'On the other node' });
const failedUnit = { name: 'imagegc', result: 'Failed', lastPassTime: timeBefore(2) } as const;

test.each<readonly [string, Partial<NodeFacts>, NodeGCReportStatus, readonly string[]]>([
  ['nothing', {}, { conditions: [condition('KeepListAtRisk', 'False')] }, []],
  ['a disk near the signal of the kubelet', {}, { conditions: [nearFull] }, ['DiskNearSignal']],
  [
    'a unit that failed, and pressure',
    {},
    {
      conditions: [
        condition('PressureAhead', 'True', { reason: 'ThresholdAhead' }),
        condition('Degraded', 'True', { reason: 'PassFailed' }),
      ],
      units: [failedUnit],
    },
    ['PassFailed', 'ThresholdAhead'],
  ],
  [
    'an image that cannot fit',
    {},
    { images: { pulls: [pull({ ...sized, fit: 'Off' }), tooLarge] } },
    ['PullTooLarge'],
  ],
  ['an agent that is silent', {}, { reportTime: timeBefore(20) }, ['Stale']],
  [
    'a node that is lost and short of memory',
    { ready: false, readyChangedAtMs: minutesAgo(9), taintKeys: ['node.kubernetes.io/memory-pressure'] },
    { conditions: [nearFull] },
    ['NotReady', 'MemoryPressure', 'DiskNearSignal'],
  ],
])('why has each problem of a node that status has: %s', (_, over, status, reasons) => {
  const reports = [report('node-1', status), report('node-2', { conditions: [elsewhere] })];
  const facts = { nodes: [node('node-1', over)], nodeStates: reports };
  const why = explained({ kind: 'node', text: 'node-1', node: 'node-1' }, facts);
  const { trouble } = viewOf(
    { policies: [], reports, installation, nodes: facts.nodes },
    new Date(why.generatedAt),
  );
  const ofNode = trouble.filter(({ names }) => names.includes('node-1'));
  expect(why.node?.problems).toEqual(ofNode);
  expect(ofNode.map(({ reason }) => reason)).toEqual(reasons);
});

const explainedPod = (facts: Facts) => explained({ kind: 'pod', namespace: 'default', name: 'x' }, facts);
const starting = pending({ reason: 'ImagePullBackOff' });
const reportedAt = (reportTime: string | undefined) => ({
  nodeStates: [report('node-1', { reportTime, images: { pulls: [tooLarge] } })],
});

test.each<readonly [string, Facts, number]>([
  ['a pod that has not started', { ...starting, ...reportedAt(timeBefore(5)) }, 1],
  ['a report without a time', { ...starting, ...reportedAt(undefined) }, 1],
  ['a report without a status', { ...starting, nodeStates: [{ ...report('node-1'), status: undefined }] }, 0],
  ['a report that is stale', { ...starting, ...reportedAt(timeBefore(16)) }, 0],
  ['a pod whose containers run', { pods: [pod('x', { phase: 'Running' })], ...reportedAt(timeBefore(5)) }, 0],
  [
    'another pod runs',
    { pods: [...(starting.pods ?? []), pod('y', { phase: 'Running' })], ...reportedAt(timeBefore(5)) },
    1,
  ],
])('why names the images that a pod waits for by a fresh report: %s', (_, facts, count) => {
  const why = explainedPod(facts);
  expect(why.pulls ?? []).toHaveLength(count);
  expect(whyTable(why).includes('It waits for 1 image')).toBe(count > 0);
});
