import { describe, expect, test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { minutesAgo } from '../../../builders.ts';
import type { KnownPod } from '../../../../src/agent/containergc/facts.ts';
import { apiPod, checkRow, dead, down, log, logsRule, planOf, staticSource, type Row } from './builders.ts';

const dir = 'default_pod_uid-pod/main';
/** A log that was written so many minutes ago. */
const written = (name: string, minutes = 30, bytes = 100) =>
  log(`${dir}/${name}`, { mtimeMs: minutesAgo(minutes), bytes });
/** A rotation of the log `0.log`: `1.gz` is the first, compressed. */
const rotation = (name: string): string => `0.log.20260101-00000${name}`;
const rotated = (name: string, minutes = 30) => written(rotation(name), minutes);
const set = [
  ...[rotated('1.gz', 50), rotated('2.gz', 40), rotated('3', 30)],
  ...[written('0.log', 0, 1000), written('1.log', 20, 1000)],
];
const exists = { pods: [apiPod('pod')], sandboxes: [sandbox('pod')] };
const here = { ...exists, containers: [dead('c0', 9), container('c1', { attempt: 1 })] };
const kept = ['pods/default_pod_uid-pod InUse', 'pod-sandbox Running', 'c0 NewestAttempt', 'c1 Running'];
const isStatic = { sandboxes: [sandbox('pod', { annotations: staticSource })] };
const wasStatic = { sandboxes: [down('pod', 9, { annotations: staticSource })] };
const mirror = (over: Partial<KnownPod> = {}) => ({ pods: [{ ...apiPod('mirror', 'uid-pod'), ...over }] });

type Limits = Parameters<typeof logsRule>[0];
const none = { maxRotatedPerContainer: 0 };
const one = { maxRotatedPerContainer: 1 };
const zero = { ...none, maxBytesPerPod: 0 };
const fresh = [rotated('1', 1), rotated('2', 0)];
const others = [
  ...['main/0.log.1', 'main/0.log.bak', 'main/x.log.20260101-000001', '0.log.20260101-000001'].map((it) =>
    log(`default_pod_uid-pod/${it}`),
  ),
  { ...rotated('9', 50), target: '/etc/shadow' },
];
const each = (texts: string): string[] =>
  texts === '' ? [] : texts.split(', ').map((it) => `pods/${dir}/${rotation(it)}`);

test.each<
  [
    string,
    logs: Row['node']['logs'],
    Limits,
    removed: string,
    alsoKept?: string | undefined,
    node?: Row['node'],
  ]
>([
  [
    'are kept up to the limit per container, newest first',
    set.toReversed(),
    one,
    '1.gz, 2.gz',
    '3 UnderLimit',
  ],
  ['are all removed by limits of zero, current logs of any size are kept', set, zero, '1.gz, 2.gz, 3', ''],
  ['are removed oldest first down to the bytes of the pod', set, { maxBytesPerPod: 150 }, '1.gz, 2.gz'],
  [
    'of exactly as many bytes as allowed are kept, current logs do not count',
    set,
    { maxBytesPerPod: 300 },
    '',
  ],
  ['are ordered by name, not by the compression', [rotated('1.gz', 10), rotated('2', 11)], one, '1.gz'],
  [
    'of the same time are ordered by path',
    ['1', '0', '2'].map((attempt) => written(`${attempt}.log.20260101-000001`)),
    { maxBytesPerPod: 200 },
    '1',
  ],
  ['are kept without limits', set.slice(0, 1), {}, '', '1.gz RuleOff'],
  ['do not include other names, links and other depths', others, none, '', ''],
  ['are kept while they are compressed', [rotated('1.tmp', 1), rotated('2.tmp', 60)], none, '2.tmp'],
  ['are kept just after a write: the runtime has not opened the new log', fresh, zero, '1', '2 UnderLimit'],
  ['are limited while the pods are unknown', set, one, '1.gz, 2.gz', undefined, { ...here, pods: undefined }],
  ['of a static pod that runs follow the limits', set, one, '1.gz, 2.gz', undefined, isStatic],
  ['of a mirrored static pod do so too', set, one, '1.gz, 2.gz', undefined, { ...isStatic, ...mirror() }],
  ['of a static pod that does not run are kept', set.slice(0, 1), none, '', undefined, wasStatic],
  [
    'of a static pod whose mirror pod has the keep label are kept',
    ...([set, none, '', undefined] as const),
    { ...isStatic, ...mirror({ isOptedOut: true }) },
  ],
])('rotated logs %s', (_, logs, limits, ...[removed, alsoKept, node = here]) => {
  checkRow({
    node: { ...node, logs },
    policy: { logs: logsRule(limits) },
    removed: each(removed).map((it) => `${it} RotatedLog`),
    ...(alsoKept !== undefined && { kept: [...kept, ...each(alsoKept)] }),
  });
});

test.each<Row>([
  {
    name: 'in a directory that the kubelet did not create are kept',
    node: { logs: [log(`mine/main/${rotation('1')}`)] },
    removed: [],
    kept: ['pods/mine NotKubelets', `pods/mine/main/${rotation('1')} NotKubelets`],
  },
  {
    name: 'are kept while the sandboxes are unknown: the pod may be static',
    node: { pods: here.pods, sandboxes: undefined, logs: set.slice(0, 1) },
    removed: [],
    kept: ['pods/default_pod_uid-pod', `pods/${dir}/${rotation('1.gz')}`].map(
      (it) => `${it} ContainersUnknown`,
    ),
  },
])('rotated logs $name', (row) => checkRow({ ...row, policy: { logs: logsRule(none) } }));

const running = (number: number) => container('live', { attempt: number });
/** As after three times RestartAllContainers. */
const logs = [written('0.log'), written('1.log'), written('2.log'), written('3.log', 0)];
const restarted = { ...exists, containers: [running(3)], logs };

describe('logs of attempts that the runtime no longer has', () => {
  const optedOut = { pods: [{ ...apiPod('pod'), isOptedOut: true }] };
  const noFiles = [
    ...['main/x.log', 'main/log', '1.log', 'main/deep/1.log'].map((it) => log(`default_pod_uid-pod/${it}`)),
    { ...written('1.log'), target: '/var/lib/docker/x.log' },
  ];
  const justWritten = [written('0.log', 30), written('1.log', 9), written('2.log', 5)];
  const rotations = [
    ...[written('0.log', 30), rotated('1.gz', 1)],
    ...[written('1.log.20260101-000001', 30), written('1.log.20260101-000002', 1), written('2.log', 5)],
  ];
  const beside = ['live Running', 'pod-sandbox Running', 'pods/default_pod_uid-pod InUse'];
  const notOne = { maxPerPodContainer: 0 };
  const tenMinutes = { minimumAgeMs: 600_000 };
  const off = { logs: logsRule({ orphanedDirectories: false }) };
  const side = container('side', { attempt: 3, name: 'side' });

  test.each<[string, Row['node'], removed: readonly number[], Pick<Row, 'kept' | 'policy' | 'given'>?]>([
    [
      'are limited as dead attempts are: the newest is kept',
      restarted,
      [0, 1],
      { kept: [...beside, `pods/${dir}/2.log NewestAttempt`] },
    ],
    [
      'are kept up to the limit, with the newest',
      restarted,
      [0],
      {
        policy: { maxPerPodContainer: 2 },
        kept: [...beside, `pods/${dir}/2.log NewestAttempt`, `pods/${dir}/1.log UnderLimit`],
      },
    ],
    [
      'are kept if newest, whatever the limit: restarts are counted by it',
      { ...exists, logs },
      [0, 1, 2],
      { policy: notOne },
    ],
    ['have no place after a container of another name', { ...restarted, containers: [side] }, [0, 1, 2]],
    ['of a pod that looks gone once are kept', { logs }, [], { given: { assumeGone: false } }],
    ['of a static pod are kept', { ...restarted, ...isStatic }, []],
    ['of an opted-out pod are kept', { ...restarted, ...optedOut }, []],
    ['are kept while the pods are unknown', { ...restarted, pods: undefined }, []],
    ['are kept while the containers are unknown', { ...restarted, containers: undefined }, []],
    ['are kept if the rule is off', restarted, [], { policy: off }],
    [
      'are files: links, other names and other depths do not count',
      { ...exists, containers: [running(9)], logs: noFiles },
      [],
      { policy: notOne },
    ],
    [
      'are kept for the minimum age after they were last written',
      { ...restarted, logs: justWritten },
      [0],
      {
        policy: tenMinutes,
        kept: [
          ...beside,
          ...['1.log TooYoung 12:01:00', '2.log NewestAttempt'].map((it) => `pods/${dir}/${it}`),
        ],
      },
    ],
    [
      'are as old as the last write: N.log, or the newest rotation where it is missing',
      { ...restarted, logs: rotations },
      [0],
      { policy: tenMinutes },
    ],
  ])('%s', (_, node, removed, rest) =>
    checkRow({ node, removed: removed.map((number) => `pods/${dir}/${number}.log ContainerGone`), ...rest }),
  );

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
