import { test } from 'vitest';
import { sandbox } from '../../../fakes/runtime.ts';
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
const here = { pods: [apiPod('pod')], sandboxes: [sandbox('pod')] };
const kept = ['pods/default_pod_uid-pod InUse', 'pod-sandbox Running'];
const bounded = (over: Parameters<typeof logsRule>[0]) => ({ logs: logsRule(over) });

test.each<Row>([
  {
    name: 'those in a directory that goes are no removals of their own',
    world: { logs: [log('default_gone_uid-gone/main/0.log.20260101-000001')] },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: ['pods/default_gone_uid-gone OrphanedLogs'],
    stays: [],
  },
  {
    name: 'in a directory that is not the kubelet’s nothing goes',
    world: { ...here, logs: [log('mine/main/0.log.20260101-000001')] },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: [],
    stays: [
      'pod-sandbox Running',
      'pods/mine NotKubelets',
      'pods/mine/main/0.log.20260101-000001 NotKubelets',
    ],
  },
  {
    name: 'the newest so many of a container stay',
    world: { ...here, logs: set },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    goes: ['0.log.20260101-000001.gz', '0.log.20260101-000002.gz'].map(
      (it) => `pods/${dir}/${it} RotatedLog`,
    ),
    stays: [...kept, `pods/${dir}/0.log.20260101-000003 UnderLimit`],
  },
  {
    name: 'none at all, but live logs stay, whatever they weigh',
    world: { ...here, logs: set },
    policy: bounded({ maxRotatedPerContainer: 0, maxBytesPerPod: 0 }),
    goes: ['0.log.20260101-000001.gz', '0.log.20260101-000002.gz', '0.log.20260101-000003'].map(
      (it) => `pods/${dir}/${it} RotatedLog`,
    ),
    stays: kept,
  },
  {
    name: 'the oldest go until the pod is within its bytes, live logs counted',
    world: { ...here, logs: set },
    policy: bounded({ maxBytesPerPod: 2150 }),
    goes: ['0.log.20260101-000001.gz', '0.log.20260101-000002.gz'].map(
      (it) => `pods/${dir}/${it} RotatedLog`,
    ),
  },
  {
    name: 'one that was compressed after the next was written is still the older: the name tells',
    world: {
      ...here,
      logs: [rotated('0.log.20260101-000001.gz', 10), rotated('0.log.20260101-000002', 11)],
    },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    goes: [`pods/${dir}/0.log.20260101-000001.gz RotatedLog`],
    stays: [...kept, `pods/${dir}/0.log.20260101-000002 UnderLimit`],
  },
  {
    name: 'exactly as many bytes as allowed stay',
    world: { ...here, logs: set },
    policy: bounded({ maxBytesPerPod: 2300 }),
    goes: [],
  },
  {
    name: 'without limits',
    world: { ...here, logs: set.slice(0, 1) },
    goes: [],
    stays: [...kept, `pods/${dir}/0.log.20260101-000001.gz RuleOff`],
  },
  {
    name: 'other names, links and other depths are none',
    world: {
      ...here,
      logs: [
        ...['main/0.log.1', 'main/0.log.bak', 'main/x.log.20260101-000001', '0.log.20260101-000001'].map(
          (it) => log(`default_pod_uid-pod/${it}`),
        ),
        { ...rotated('0.log.20260101-000009', 50), target: '/etc/shadow' },
      ],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: [],
    stays: kept,
  },
  {
    name: 'one that the kubelet is just compressing into stays, a forgotten one goes',
    world: {
      ...here,
      logs: [rotated('0.log.20260101-000001.tmp', 1), rotated('0.log.20260101-000002.tmp', 60)],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: [`pods/${dir}/0.log.20260101-000002.tmp RotatedLog`],
  },
  {
    name: 'one that was written to a moment ago is still written to: the runtime has not opened the new one yet',
    world: {
      ...here,
      logs: [rotated('0.log.20260101-000001', 1), rotated('0.log.20260101-000002', 0)],
    },
    policy: bounded({ maxRotatedPerContainer: 0, maxBytesPerPod: 0 }),
    goes: [`pods/${dir}/0.log.20260101-000001 RotatedLog`],
    stays: [...kept, `pods/${dir}/0.log.20260101-000002 UnderLimit`],
  },
  {
    name: 'such a one counts all the same',
    world: {
      ...here,
      logs: [rotated('0.log.20260101-000001', 1), rotated('0.log.20260101-000002', 0)],
    },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    goes: [`pods/${dir}/0.log.20260101-000001 RotatedLog`],
  },
  {
    name: 'logs of a container that this plan removes go with it',
    world: {
      ...here,
      containers: [dead('c0', 9, { attempt: 0 }), dead('c1', 8, { attempt: 1 })],
      logs: [rotated('0.log.20260101-000001', 9), rotated('1.log.20260101-000001', 8)],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: ['c0 DeadContainer', `pods/${dir}/1.log.20260101-000001 RotatedLog`],
  },
  {
    name: 'pods not known: the limits hold all the same',
    world: { ...here, pods: undefined, logs: set },
    policy: bounded({ maxRotatedPerContainer: 2 }),
    goes: [`pods/${dir}/0.log.20260101-000001.gz RotatedLog`],
  },
  {
    name: 'sandboxes not known: it might be a static pod',
    world: { pods: here.pods, sandboxes: undefined, logs: set.slice(0, 1) },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: [],
    stays: [
      'pods/default_pod_uid-pod ContainersUnknown',
      `pods/${dir}/0.log.20260101-000001.gz ContainersUnknown`,
    ],
  },
  {
    name: 'static pods are left to the kubelet',
    world: { sandboxes: [sandbox('pod', { annotations: staticSource })], logs: set.slice(0, 1) },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    goes: [],
  },
])('rotated logs: $name', checkRow);
