import { describe, expect, test } from 'vitest';
import { minutesAgo } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import {
  apiPod,
  checkRow,
  dead,
  finishedPod,
  log,
  logsRule,
  planOf,
  staticSource,
  type Row,
} from './builders.ts';

const dir = 'default_pod_uid-pod';
const attempt = (name: string, minutes = 30, bytes = 100) =>
  log(`${dir}/main/${name}`, { mtimeMs: minutesAgo(minutes), bytes });
const gone = (...numbers: readonly number[]): readonly string[] =>
  numbers.map((number) => `pods/${dir}/main/${number}.log ContainerGone`);
const pod = { pods: [apiPod('pod')], sandboxes: [sandbox('pod')] };
const running = (number: number) => container('live', { attempt: number });
/** As after three times RestartAllContainers. */
const logs = [attempt('0.log'), attempt('1.log'), attempt('2.log'), attempt('3.log', 0)];
const restarted = { ...pod, containers: [running(3)], logs };

describe('logs of attempts that the runtime no longer has', () => {
  test.each<Row>([
    {
      name: 'are limited as dead attempts are: the newest is kept',
      node: restarted,
      removed: gone(0, 1),
      kept: [
        'live Running',
        'pod-sandbox Running',
        `pods/${dir} InUse`,
        `pods/${dir}/main/2.log NewestAttempt`,
      ],
    },
    {
      name: 'and if no attempt is left, the newest is kept whatever the limit: the kubelet counts restarts by it',
      node: { ...pod, logs },
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
      name: 'of a gone pod are removed with its directory',
      node: { logs },
      removed: [`pods/${dir} OrphanedLogs`],
      kept: [],
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
        ...pod,
        containers: [running(9)],
        logs: [
          ...['main/x.log', 'main/log', '1.log', 'main/deep/1.log'].map((it) => log(`${dir}/${it}`)),
          { ...attempt('1.log'), target: '/var/lib/docker/x.log' },
        ],
      },
      policy: { maxPerPodContainer: 0 },
      removed: [],
    },
    {
      name: 'are kept for the minimum age after they were last written',
      node: { ...restarted, logs: [attempt('0.log', 30), attempt('1.log', 9), attempt('2.log', 5)] },
      policy: { minimumAgeMs: 600_000 },
      removed: gone(0),
      kept: [
        ...['live Running', 'pod-sandbox Running', `pods/${dir} InUse`],
        ...['1.log TooYoung 12:01:00', '2.log NewestAttempt'].map((it) => `pods/${dir}/main/${it}`),
      ],
    },
    {
      name: 'are as old as the last write: N.log, or the newest rotation where it is missing',
      node: {
        ...restarted,
        logs: [
          ...[attempt('0.log', 30), attempt('0.log.20260101-000001.gz', 1)],
          ...[attempt('1.log.20260101-000001', 30), attempt('1.log.20260101-000002', 1), attempt('2.log', 5)],
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
    const rotated = [attempt('0.log.20260101-000001', 40, 30), attempt('2.log.20260101-000002', 20)];
    const plan = planOf(
      { ...restarted, logs: [...logs, ...rotated] },
      { logs: logsRule({ maxRotatedPerContainer: 0 }) },
    );
    expect(plan.removals).toMatchObject([
      { reason: 'ContainerGone', bytes: 130, target: { path: `/var/log/pods/${dir}/main/0.log` } },
      { reason: 'ContainerGone', bytes: 100 },
      { reason: 'RotatedLog', target: { path: `/var/log/pods/${dir}/main/2.log.20260101-000002` } },
    ]);
  });

  test('do not count for maxBytesPerPod: rotated logs of a running container are not removed for them', () => {
    const large = [attempt('1.log', 30, 10_000), attempt('2.log', 30, 10_000)];
    const rotated = attempt('3.log.20260101-000001', 20, 400);
    const { removals } = planOf(
      { ...restarted, logs: [...large, rotated, attempt('3.log', 0, 900)] },
      { logs: logsRule({ maxBytesPerPod: 500 }) },
    );
    expect(removals.map(({ reason }) => reason)).toEqual(['ContainerGone']);
  });
});
