import { describe, expect, test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { minutesAgo } from '../../../builders.ts';
import { apiPod, checkRow, dead, log, logsRule, planOf, staticSource, type Row } from './builders.ts';

const dir = 'default_pod_uid-pod/main';
/** A log that was written so many minutes ago. */
const written = (name: string, minutes = 30, bytes = 100) =>
  log(`${dir}/${name}`, { mtimeMs: minutesAgo(minutes), bytes });
const set = [
  written('0.log.20260101-000001.gz', 50),
  written('0.log.20260101-000002.gz', 40),
  written('0.log.20260101-000003', 30),
  written('0.log', 0, 1000),
  written('1.log', 20, 1000),
];
const exists = { pods: [apiPod('pod')], sandboxes: [sandbox('pod')] };
const here = { ...exists, containers: [dead('c0', 9), container('c1', { attempt: 1 })] };
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
    node: { ...here, logs: [written('0.log.20260101-000001.gz', 10), written('0.log.20260101-000002', 11)] },
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
        { ...written('0.log.20260101-000009', 50), target: '/etc/shadow' },
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
      logs: [written('0.log.20260101-000001.tmp', 1), written('0.log.20260101-000002.tmp', 60)],
    },
    policy: bounded({ maxRotatedPerContainer: 0 }),
    removed: [`pods/${dir}/0.log.20260101-000002.tmp RotatedLog`],
  },
  {
    name: 'that were just written to are kept: the runtime has not opened the new log yet',
    node: { ...here, logs: [written('0.log.20260101-000001', 1), written('0.log.20260101-000002', 0)] },
    policy: bounded({ maxRotatedPerContainer: 0, maxBytesPerPod: 0 }),
    removed: [`pods/${dir}/0.log.20260101-000001 RotatedLog`],
    kept: [...kept, `pods/${dir}/0.log.20260101-000002 UnderLimit`],
  },
  {
    name: 'that were just written to count for the limit',
    node: { ...here, logs: [written('0.log.20260101-000001', 1), written('0.log.20260101-000002', 0)] },
    policy: bounded({ maxRotatedPerContainer: 1 }),
    removed: [`pods/${dir}/0.log.20260101-000001 RotatedLog`],
  },
  {
    name: 'of a removed container have no decision of their own',
    node: {
      ...here,
      containers: [dead('c0', 9, { attempt: 0 }), dead('c1', 8, { attempt: 1 })],
      logs: [written('0.log.20260101-000001', 9), written('1.log.20260101-000001', 8)],
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

const gone = (...numbers: readonly number[]): readonly string[] =>
  numbers.map((number) => `pods/${dir}/${number}.log ContainerGone`);
const running = (number: number) => container('live', { attempt: number });
/** As after three times RestartAllContainers. */
const logs = [written('0.log'), written('1.log'), written('2.log'), written('3.log', 0)];
const restarted = { ...exists, containers: [running(3)], logs };

describe('logs of attempts that the runtime no longer has', () => {
  test.each<Row>([
    {
      name: 'are limited as dead attempts are: the newest is kept',
      node: restarted,
      removed: gone(0, 1),
      kept: [
        'live Running',
        'pod-sandbox Running',
        'pods/default_pod_uid-pod InUse',
        `pods/${dir}/2.log NewestAttempt`,
      ],
    },
    {
      name: 'and if no attempt is left, the newest is kept whatever the limit: the kubelet counts restarts by it',
      node: { ...exists, logs },
      policy: { maxPerPodContainer: 0 },
      removed: gone(0, 1, 2),
    },
    {
      name: 'have a place after a dead container that is newer',
      node: { ...restarted, containers: [running(3), dead('c2', 9, { attempt: 2 })] },
      removed: gone(0, 1),
    },
    {
      name: 'have no place after a container of another name',
      node: { ...restarted, containers: [container('side', { attempt: 3, name: 'side' })] },
      removed: gone(0, 1, 2),
    },
    {
      name: 'of a pod that looks gone once are kept',
      node: { logs },
      given: { assumeGone: false },
      removed: [],
    },
    {
      name: 'of a static pod are kept',
      node: { ...restarted, sandboxes: [sandbox('pod', { annotations: staticSource })] },
      removed: [],
    },
    {
      name: 'of an opted-out pod are kept',
      node: { ...restarted, pods: [{ ...apiPod('pod'), isOptedOut: true }] },
      removed: [],
    },
    { name: 'are kept while the pods are unknown', node: { ...restarted, pods: undefined }, removed: [] },
    {
      name: 'are kept while the containers are unknown',
      node: { ...restarted, containers: undefined },
      removed: [],
    },
    {
      name: 'are kept if the rule is off',
      node: restarted,
      policy: { logs: logsRule({ orphanedDirectories: false }) },
      removed: [],
    },
    {
      name: 'are files: links, other names and other depths do not count',
      node: {
        ...exists,
        containers: [running(9)],
        logs: [
          ...['main/x.log', 'main/log', '1.log', 'main/deep/1.log'].map((it) =>
            log(`default_pod_uid-pod/${it}`),
          ),
          { ...written('1.log'), target: '/var/lib/docker/x.log' },
        ],
      },
      policy: { maxPerPodContainer: 0 },
      removed: [],
    },
    {
      name: 'are kept for the minimum age after they were last written',
      node: { ...restarted, logs: [written('0.log', 30), written('1.log', 9), written('2.log', 5)] },
      policy: { minimumAgeMs: 600_000 },
      removed: gone(0),
      kept: [
        ...['live Running', 'pod-sandbox Running', 'pods/default_pod_uid-pod InUse'],
        ...['1.log TooYoung 12:01:00', '2.log NewestAttempt'].map((it) => `pods/${dir}/${it}`),
      ],
    },
    {
      name: 'are as old as the last write: N.log, or the newest rotation where it is missing',
      node: {
        ...restarted,
        logs: [
          ...[written('0.log', 30), written('0.log.20260101-000001.gz', 1)],
          ...[written('1.log.20260101-000001', 30), written('1.log.20260101-000002', 1), written('2.log', 5)],
        ],
      },
      policy: { minimumAgeMs: 600_000 },
      removed: gone(0),
    },
  ])('$name', checkRow);

  test('are kept for the minimum age while the clock is unsure, and longer after it jumped', () => {
    const { removals, kept } = planOf({ ...restarted, clockUnsure: true }, { minimumAgeMs: 60_000 });
    expect(removals).toEqual([]);
    expect(kept.map(({ reason }) => reason)).toContain('ClockUnsure');
    const jumps = [{ untilMs: minutesAgo(20), ms: 1_500_000 }];
    expect(planOf({ ...restarted, jumps }, { minimumAgeMs: 600_000 }).removals).toEqual([]);
    expect(planOf({ ...restarted, clockUnsure: true }, { minimumAgeMs: 0 }).removals).toHaveLength(2);
  });

  test('are removed with their rotations, which have no decision of their own', () => {
    const rotated = [written('0.log.20260101-000001', 40, 30), written('2.log.20260101-000002', 20)];
    const plan = planOf(
      { ...restarted, logs: [...logs, ...rotated] },
      { logs: logsRule({ maxRotatedPerContainer: 0 }) },
    );
    expect(plan.removals).toMatchObject([
      { reason: 'ContainerGone', bytes: 130, target: { path: `/var/log/pods/${dir}/0.log` } },
      { reason: 'ContainerGone', bytes: 100 },
      { reason: 'RotatedLog', target: { path: `/var/log/pods/${dir}/2.log.20260101-000002` } },
    ]);
  });

  test('do not count for maxBytesPerPod: rotated logs of a running container are not removed for them', () => {
    const large = [written('1.log', 30, 10_000), written('2.log', 30, 10_000)];
    const rotated = written('3.log.20260101-000001', 20, 400);
    const { removals } = planOf(
      { ...restarted, logs: [...large, rotated, written('3.log', 0, 900)] },
      { logs: logsRule({ maxBytesPerPod: 500 }) },
    );
    expect(removals.map(({ reason }) => reason)).toEqual(['ContainerGone']);
  });
});
