import { test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { minutesAgo } from '../../../builders.ts';
import { apiPod, checkRow, dead, log, logsRule, staticSource, type Row } from './builders.ts';

const dir = 'default_pod_uid-pod/main';
const rotated = (name: string, age: number, bytes = 100) =>
  log(`${dir}/${name}`, { mtimeMs: minutesAgo(age), bytes });
const set = [
  rotated('0.log.20260101-000001.gz', 50),
  rotated('0.log.20260101-000002.gz', 40),
  rotated('0.log.20260101-000003', 30),
  rotated('0.log', 0, 1000),
  rotated('1.log', 20, 1000),
];
const here = {
  ...{ pods: [apiPod('pod')], sandboxes: [sandbox('pod')] },
  containers: [dead('c0', 9), container('c1', { attempt: 1 })],
};
const kept = ['pods/default_pod_uid-pod InUse', 'pod-sandbox Running', 'c0 NewestAttempt', 'c1 Running'];
const bounded = (over: Parameters<typeof logsRule>[0]) => ({ logs: logsRule(over) });

test.each<Row>([
  {
    name: 'in a removed directory have no decision of their own',
    node: { logs: [log('default_gone_uid-gone/main/0.log.20260101-000001')] },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: ['pods/default_gone_uid-gone OrphanedLogs'],
    kept: [],
  },
  {
    name: 'in a directory that the kubelet did not create are kept',
    node: { ...here, logs: [log('mine/main/0.log.20260101-000001')] },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: [],
    kept: [
      ...kept.filter((it) => !it.startsWith('pods/')),
      'pods/mine NotKubelets',
      'pods/mine/main/0.log.20260101-000001 NotKubelets',
    ],
  },
  {
    name: 'up to the limit per container are kept, newest first',
    node: { ...here, logs: set },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    removed: ['0.log.20260101-000001.gz', '0.log.20260101-000002.gz'].map(
      (it) => `pods/${dir}/${it} RotatedLog`,
    ),
    kept: [...kept, `pods/${dir}/0.log.20260101-000003 UnderLimit`],
  },
  {
    name: 'are all removed by limits of zero, live logs of any size are kept',
    node: { ...here, logs: set },
    policy: bounded({ maxRotatedPerContainer: 0, maxBytesPerPod: 0 }),
    removed: ['0.log.20260101-000001.gz', '0.log.20260101-000002.gz', '0.log.20260101-000003'].map(
      (it) => `pods/${dir}/${it} RotatedLog`,
    ),
    kept,
  },
  {
    name: 'are removed oldest first until they are within the bytes of the pod; current logs do not count',
    node: { ...here, logs: set },
    policy: bounded({ maxBytesPerPod: 150 }),
    removed: ['0.log.20260101-000001.gz', '0.log.20260101-000002.gz'].map(
      (it) => `pods/${dir}/${it} RotatedLog`,
    ),
  },
  {
    name: 'are ordered by name: one that was compressed after the next was written is older',
    node: { ...here, logs: [rotated('0.log.20260101-000001.gz', 10), rotated('0.log.20260101-000002', 11)] },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    removed: [`pods/${dir}/0.log.20260101-000001.gz RotatedLog`],
    kept: [...kept, `pods/${dir}/0.log.20260101-000002 UnderLimit`],
  },
  {
    name: 'of exactly as many bytes as allowed are kept',
    node: { ...here, logs: set },
    policy: bounded({ maxBytesPerPod: 300 }),
    removed: [],
  },
  {
    name: 'are kept without limits',
    node: { ...here, logs: set.slice(0, 1) },
    removed: [],
    kept: [...kept, `pods/${dir}/0.log.20260101-000001.gz RuleOff`],
  },
  {
    name: 'do not include other names, links and other depths',
    node: {
      ...here,
      logs: [
        ...['main/0.log.1', 'main/0.log.bak', 'main/x.log.20260101-000001', '0.log.20260101-000001'].map(
          (it) => log(`default_pod_uid-pod/${it}`),
        ),
        { ...rotated('0.log.20260101-000009', 50), target: '/etc/shadow' },
      ],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: [],
    kept,
  },
  {
    name: 'that the kubelet is compressing into are kept, abandoned ones are removed',
    node: {
      ...here,
      logs: [rotated('0.log.20260101-000001.tmp', 1), rotated('0.log.20260101-000002.tmp', 60)],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: [`pods/${dir}/0.log.20260101-000002.tmp RotatedLog`],
  },
  {
    name: 'that were just written to are kept: the runtime has not opened the new log yet',
    node: { ...here, logs: [rotated('0.log.20260101-000001', 1), rotated('0.log.20260101-000002', 0)] },
    policy: bounded({ maxRotatedPerContainer: 0, maxBytesPerPod: 0 }),
    removed: [`pods/${dir}/0.log.20260101-000001 RotatedLog`],
    kept: [...kept, `pods/${dir}/0.log.20260101-000002 UnderLimit`],
  },
  {
    name: 'that were just written to count for the limit',
    node: { ...here, logs: [rotated('0.log.20260101-000001', 1), rotated('0.log.20260101-000002', 0)] },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    removed: [`pods/${dir}/0.log.20260101-000001 RotatedLog`],
  },
  {
    name: 'of a removed container have no decision of their own',
    node: {
      ...here,
      containers: [dead('c0', 9, { attempt: 0 }), dead('c1', 8, { attempt: 1 })],
      logs: [rotated('0.log.20260101-000001', 9), rotated('1.log.20260101-000001', 8)],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: ['c0 DeadContainer', `pods/${dir}/1.log.20260101-000001 RotatedLog`],
  },
  {
    name: 'are limited while the pods are unknown',
    node: { ...here, pods: undefined, logs: set },
    policy: bounded({ maxRotatedPerContainer: 2 }),
    removed: [`pods/${dir}/0.log.20260101-000001.gz RotatedLog`],
  },
  {
    name: 'are kept while the sandboxes are unknown: the pod may be static',
    node: { pods: here.pods, sandboxes: undefined, logs: set.slice(0, 1) },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: [],
    kept: [
      'pods/default_pod_uid-pod ContainersUnknown',
      `pods/${dir}/0.log.20260101-000001.gz ContainersUnknown`,
    ],
  },
  {
    name: 'of static pods are kept',
    node: { sandboxes: [sandbox('pod', { annotations: staticSource })], logs: set.slice(0, 1) },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: [],
  },
])('rotated logs: $name', checkRow);
