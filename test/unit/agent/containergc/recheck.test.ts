import { describe, expect, test } from 'vitest';
import {
  containerTarget,
  decide,
  isKept,
  isRemoval,
  sandboxTarget,
  type Because,
  type ContainerGcTarget,
  type ContainerRemoval,
} from '../../../../src/agent/containergc/facts.ts';
import { rotatedAt } from '../../../../src/agent/containergc/log-names.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { PodStates, podsNow } from '../../../../src/agent/containergc/pods.ts';
import { podThatMustBeGone, recheck, type LiveView } from '../../../../src/agent/containergc/recheck.ts';
import { inventoryOf } from '../../../../src/agent/containergc/report.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import {
  apiPod,
  dead,
  deletedPod,
  down,
  evictedPod,
  factsOf,
  finishedPod,
  log,
  nameOf,
  staticSource,
} from './builders.ts';

const optedOut = { uid: 'uid-pod', configHash: undefined, isOptedOut: true };
const old = dead('old', 60, { attempt: 0 });
const newer = dead('newer', 50, { attempt: 1 });
const view = (over: Partial<LiveView> = {}): LiveView => ({
  ...{ containers: [old, newer], sandboxes: [sandbox('pod')], pods: [apiPod('pod')] },
  ...{ isCacheSynced: true, now },
  ...over,
});

/** What the removal depends on: that the pod is gone, that a newer object exists, or only that a limit is exceeded. */
type DependsOn = 'podGone' | 'superseded' | 'limit';

const pod = { uid: 'uid-pod', namespace: 'default', name: 'pod' };

function removalOf(target: ContainerGcTarget, because: Because): ContainerRemoval {
  const decision = decide({ target, policy: undefined }, because);
  if (!isRemoval(decision)) throw new Error(`${because.reason} is no reason to remove`);
  return decision;
}

function ofContainer(dependsOn: DependsOn): ContainerRemoval {
  if (dependsOn === 'podGone') return removalOf(containerTarget(old), { reason: 'PodGone' });
  const place = { rank: dependsOn === 'superseded' ? 2 : 1, attempts: 2 };
  return removalOf(containerTarget(old, place), { reason: 'DeadContainer', total: 2 });
}

describe('a container', () => {
  test.each<{
    readonly name: string;
    readonly dependsOn?: DependsOn;
    readonly live?: Partial<LiveView>;
    readonly expected: string;
  }>([
    { name: 'is due as it was', expected: 'due' },
    { name: 'is already gone', live: { containers: [newer] }, expected: 'absent' },
    { name: 'runs', live: { containers: [{ ...old, state: 'Running' }, newer] }, expected: 'Running' },
    {
      name: 'belongs to another pod',
      live: { containers: [dead('old', 60, { pod: 'other' })] },
      expected: 'InUse',
    },
    {
      name: 'is in unknown state',
      live: { containers: [{ ...old, state: 'Unknown' }, newer] },
      expected: 'UnknownState',
    },
    { name: 'belongs to a pod that got the keep label', live: { pods: [optedOut] }, expected: 'KeepMarked' },
    {
      name: 'belongs to a static pod',
      live: { sandboxes: [sandbox('pod', { annotations: staticSource })] },
      expected: 'StaticPod',
    },
    { name: 'became the newest', live: { containers: [old] }, expected: 'NewestAttempt' },
    {
      name: 'became the newest attempt of an unfinished pod',
      dependsOn: 'limit',
      live: { containers: [old] },
      expected: 'NewestAttempt',
    },
    {
      name: 'became the newest attempt over a limit in a finished pod',
      dependsOn: 'limit',
      live: { containers: [old], sandboxes: [], pods: [finishedPod('pod')] },
      expected: 'due',
    },
    {
      name: 'became the newest attempt over a limit in a finished pod, and the cache is not synced',
      dependsOn: 'limit',
      live: { containers: [old], sandboxes: [], pods: [finishedPod('pod')], isCacheSynced: false },
      expected: 'NewestAttempt',
    },
    {
      name: 'became the newest attempt in a pod that has finished only in the cache',
      dependsOn: 'limit',
      live: { containers: [old], sandboxes: [], pods: [finishedPod('pod'), apiPod('pod')] },
      expected: 'NewestAttempt',
    },
    {
      name: 'is over a limit, and a later attempt runs',
      dependsOn: 'limit',
      live: { containers: [old, { ...newer, state: 'Running' }] },
      expected: 'due',
    },
    {
      name: 'has no dead attempt after it, only a running one',
      live: { containers: [old, { ...newer, state: 'Running' }] },
      expected: 'NewestAttempt',
    },
    {
      name: 'of a gone pod is due',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [] },
      expected: 'due',
    },
    { name: 'of a gone pod that is back', dependsOn: 'podGone', expected: 'InUse' },
    {
      name: 'of an evicted pod is due',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [evictedPod('pod')] },
      expected: 'due',
    },
    {
      name: 'of an evicted pod that runs',
      dependsOn: 'podGone',
      live: { pods: [evictedPod('pod')] },
      expected: 'InUse',
    },
    {
      name: 'of a pod that is evicted only in the cache',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [evictedPod('pod'), apiPod('pod')] },
      expected: 'InUse',
    },
    {
      name: 'of an evicted pod that got the keep label',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [evictedPod('pod', { isOptedOut: true })] },
      expected: 'KeepMarked',
    },
    {
      name: 'of a pod whose deletion is over',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [deletedPod('pod', 1)] },
      expected: 'due',
    },
    {
      name: 'of a pod that is still being deleted by the clock of the API server',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [deletedPod('pod', 1)], now: new Date(minutesAgo(2)) },
      expected: 'InUse',
    },
    {
      name: 'of a gone pod while the cache is not synced',
      dependsOn: 'podGone',
      live: { sandboxes: [], pods: [], isCacheSynced: false },
      expected: 'PodsUnknown',
    },
  ])('$name: $expected', ({ dependsOn = 'superseded', live, expected }) => {
    expect(recheck(ofContainer(dependsOn), view(live))).toBe(expected);
  });
});

describe('a sandbox', () => {
  const planned = down('pod', 60, { id: 'planned' });
  const rival = down('pod', 50, { id: 'rival' });
  test.each<{
    readonly name: string;
    readonly dependsOn?: DependsOn;
    readonly live?: Partial<LiveView>;
    readonly expected: string;
  }>([
    { name: 'is due as it was', expected: 'due' },
    { name: 'went by itself', live: { sandboxes: [rival] }, expected: 'absent' },
    { name: 'is ready', live: { sandboxes: [{ ...planned, state: 'Ready' }, rival] }, expected: 'Running' },
    {
      name: 'has a container',
      live: { containers: [dead('a', 1, { sandboxId: 'planned' })] },
      expected: 'InUse',
    },
    { name: 'belongs to a pod that got the keep label', live: { pods: [optedOut] }, expected: 'KeepMarked' },
    { name: 'became the newest', live: { sandboxes: [planned] }, expected: 'NewestSandbox' },
    { name: 'of a gone pod is due', dependsOn: 'podGone', live: { pods: [] }, expected: 'due' },
    { name: 'of a gone pod that is back', dependsOn: 'podGone', expected: 'InUse' },
  ])('$name: $expected', ({ dependsOn = 'superseded', live, expected }) => {
    const removal = removalOf(sandboxTarget(planned, dependsOn === 'podGone'), { reason: 'Sandbox' });
    expect(recheck(removal, view({ containers: [], sandboxes: [planned, rival], ...live }))).toBe(expected);
  });
});

describe('logs', () => {
  const path = '/var/log/pods/default_pod_uid-pod';
  const gone = { containers: [], sandboxes: [], pods: [] };
  const link = '/var/log/containers/pod_default_main-0123456789.log';
  const directory = (of: typeof pod | undefined): ContainerRemoval =>
    removalOf({ kind: 'LogDirectory', path, pod: of, links: [] }, { reason: 'OrphanedLogs' });
  const linkOf = (isOutside: boolean): ContainerRemoval =>
    removalOf({ kind: 'LogLink', path: link, pod: undefined, isOutside }, { reason: 'BrokenLink' });
  const brokenLink = linkOf(false);
  const file = { kind: 'LogFile', containerName: 'main' } as const;
  const rotated = (of: typeof pod | undefined): ContainerRemoval =>
    removalOf(
      { ...file, path: `${path}/main/0.log.20260101-000001`, pod: of, place: undefined },
      { reason: 'RotatedLog' },
    );
  const logOf = (of: typeof pod | undefined): ContainerRemoval =>
    removalOf(
      { ...file, path: `${path}/main/0.log`, pod: of, place: { rank: 2, attempts: 2 } },
      { reason: 'ContainerGone' },
    );
  const attemptLog = logOf(pod);
  const writer = container('0123456789');
  test.each<{
    readonly name: string;
    readonly removal: ContainerRemoval;
    readonly live?: Partial<LiveView>;
    readonly expected: string;
  }>([
    { name: 'a directory of a gone pod', removal: directory(pod), live: gone, expected: 'due' },
    { name: 'a directory of a pod that has a container', removal: directory(pod), expected: 'InUse' },
    {
      name: 'a directory of a pod that is back',
      removal: directory(pod),
      live: { containers: [] },
      expected: 'InUse',
    },
    { name: 'a directory of no pod', removal: directory(undefined), live: gone, expected: 'NotKubelets' },
    { name: 'a link of a gone container', removal: brokenLink, live: gone, expected: 'due' },
    {
      name: 'a link of a running container',
      removal: brokenLink,
      live: { containers: [writer] },
      expected: 'InUse',
    },
    {
      name: 'a link of a dead container',
      removal: brokenLink,
      live: { containers: [dead('0123456789', 9)] },
      expected: 'due',
    },
    {
      name: 'a link out of the log roots of a gone container',
      removal: linkOf(true),
      live: gone,
      expected: 'due',
    },
    {
      name: 'a link out of the log roots of a dead container: its target may exist',
      removal: linkOf(true),
      live: { containers: [dead('0123456789', 9)] },
      expected: 'InUse',
    },
    {
      name: 'the log of a removed attempt',
      removal: attemptLog,
      live: { containers: [newer] },
      expected: 'due',
    },
    { name: 'the log of an attempt that the runtime lists', removal: attemptLog, expected: 'InUse' },
    { name: 'the log of an attempt of no pod', removal: logOf(undefined), expected: 'NotKubelets' },
    {
      name: 'the log of an attempt of a pod that got the keep label',
      removal: attemptLog,
      live: { containers: [], pods: [optedOut] },
      expected: 'KeepMarked',
    },
    { name: 'a rotated log', removal: rotated(pod), expected: 'due' },
    { name: 'a rotated log of no pod', removal: rotated(undefined), expected: 'due' },
    {
      name: 'a rotated log of a pod that got the keep label',
      removal: rotated(pod),
      live: { pods: [apiPod('pod'), optedOut] },
      expected: 'KeepMarked',
    },
    {
      name: 'a rotated log of a pod that got the keep label while the cache is not synced',
      removal: rotated(pod),
      live: { pods: [optedOut], isCacheSynced: false },
      expected: 'KeepMarked',
    },
    {
      name: 'a rotated log of a static pod',
      removal: rotated(pod),
      live: { sandboxes: [sandbox('pod', { annotations: staticSource })] },
      expected: 'StaticPod',
    },
  ])('$name: $expected', ({ removal, live, expected }) => {
    expect(recheck(removal, view(live))).toBe(expected);
  });

  test('removing a link or a rotated log requires no pod to be gone', () => {
    expect(podThatMustBeGone(brokenLink)).toBeUndefined();
    expect(podThatMustBeGone(rotated(pod))).toBeUndefined();
    expect(podThatMustBeGone(directory(pod))).toBe(pod);
  });

  test('a live log has no rotation time', () => {
    expect(rotatedAt(`${path}/main/0.log`)).toBe('');
    expect(rotatedAt(`${path}/main/0.log.20260101-000001.gz`)).toBe('20260101-000001');
  });
});

describe('pods', () => {
  test('look gone although a ready sandbox and a running container without a pod exist', () => {
    const sandboxes = [sandbox('stray', { labels: {} })];
    const states = new PodStates({ containers: [container('c', { labels: {} })], sandboxes, pods: [] }, now);
    expect(states.stateOf('uid-gone')).toBe('LooksGone');
    expect(states.stateOf('')).toBe('LooksGone');
  });

  test('are quarantined when they look gone and were not counted before', () => {
    expect(podsNow(factsOf({}), { now }).stateOf('uid-gone')).toBe('Quarantined');
  });
});

describe('a node', () => {
  const ungoverned = { kind: 'keep', reason: 'NoPolicy', policy: undefined } as const;
  const node = factsOf({
    containers: [old],
    sandboxes: [down('pod', 9)],
    logs: [log('default_pod_uid-pod/main/0.log')],
  });

  test('without a policy keeps everything for one reason', () => {
    const { removals, kept } = planContainerGc(node, { governance: ungoverned, now });
    expect(removals).toEqual([]);
    expect(kept.map(({ target, reason }) => `${nameOf(target)} ${reason}`)).toEqual([
      'old NoPolicy',
      'pod-sandbox NoPolicy',
      'pods/default_pod_uid-pod NoPolicy',
    ]);
    const unknown = factsOf({ containers: undefined, sandboxes: undefined, logs: undefined });
    expect(planContainerGc(unknown, { governance: ungoverned, now }).kept).toEqual([]);
  });

  test('counts nothing that is unknown, and no removals without a plan', () => {
    const unknown = factsOf({ containers: undefined, sandboxes: undefined, logs: undefined });
    const nothing = { total: 0, removable: 0 };
    const plan = { rule: undefined, ends: new Map(), removals: [], kept: [], warnings: [] };
    expect(inventoryOf(unknown, plan)).toEqual({
      ...{ containers: nothing, sandboxes: nothing, logs: { bytes: 0, removableBytes: 0 }, offenders: [] },
      orphans: undefined,
    });
    const subject = { target: containerTarget(old), policy: undefined };
    const kept = [decide(subject, { reason: 'UnknownState' })].filter(isKept);
    expect(inventoryOf(node, { ...plan, kept })).toMatchObject({
      ...{ containers: { total: 1, removable: 0 }, logs: { bytes: 100 } },
      offenders: [{ kind: 'LogDirectory', name: 'pod', bytes: 100, reason: undefined }],
    });
  });
});
