import { describe, expect, test } from 'vitest';
import {
  containerTarget,
  decide,
  isRemoval,
  sandboxTarget,
  type Because,
  type ContainerGcTarget,
  type ContainerRemoval,
  type LogFileTarget,
} from '../../../../src/agent/containergc/facts.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { podStates } from '../../../../src/agent/containergc/pods.ts';
import { recheck, type LiveView } from '../../../../src/agent/containergc/recheck.ts';
import type { RuntimeContainer } from '../../../../src/cri/runtime.ts';
import { inventoryOf, withRemoved } from '../../../../src/agent/containergc/report.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
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

const pod = { uid: 'uid-pod', namespace: 'default', name: 'pod' };
const path = '/var/log/pods/default_pod_uid-pod';

function removalOf(target: ContainerGcTarget, because: Because): ContainerRemoval {
  const decision = decide({ target, policy: undefined }, because);
  if (!isRemoval(decision)) throw new Error(`${because.reason} is no reason to remove`);
  return decision;
}

const ofDead = (rank: number): ContainerRemoval =>
  removalOf(containerTarget(old, { rank, attempts: 2 }), { reason: 'DeadContainer', total: 2 });
/** Removals that depend on this: that a newer attempt exists, only that a limit is exceeded, or that the pod is gone. */
const superseded = ofDead(2);
const overLimit = ofDead(1);
const ofGone = removalOf(containerTarget(old), { reason: 'PodGone' });
const finished = { containers: [old], sandboxes: [], pods: [finishedPod('pod')] };
const unsynced = { ...finished, isCacheSynced: false };
const cached = { ...finished, pods: [finishedPod('pod'), apiPod('pod')] };
const as = (state: RuntimeContainer['state'], container = old): RuntimeContainer => ({ ...container, state });
const laterRuns = { containers: [old, as('Running', newer)] };
const over = (...pods: LiveView['pods']): Partial<LiveView> => ({ sandboxes: [], pods });
const early = { ...over(deletedPod('pod', 1)), now: new Date(minutesAgo(2)) };
const keeping = { pods: [apiPod('pod'), optedOut] };

const planned = down('pod', 60, { id: 'planned' });
const rival = down('pod', 50, { id: 'rival' });
const ofSandbox = (isPodGone: boolean): ContainerRemoval =>
  removalOf(sandboxTarget(planned, isPodGone), { reason: 'Sandbox' });
const older = ofSandbox(false);
const two = { containers: [], sandboxes: [planned, rival] };
const inPlanned = dead('a', 1, { sandboxId: 'planned' });

const directoryOf = (of: typeof pod | undefined): ContainerRemoval =>
  removalOf({ kind: 'LogDirectory', path, pod: of, links: [] }, { reason: 'OrphanedLogs' });
const linkOf = (isOutside: boolean): ContainerRemoval => {
  const link = '/var/log/containers/pod_default_main-0123456789.log';
  return removalOf({ kind: 'LogLink', path: link, pod: undefined, isOutside }, { reason: 'BrokenLink' });
};
const fileOf = (of: typeof pod | undefined, name: string): LogFileTarget => ({
  kind: 'LogFile',
  path: `${path}/main/${name}`,
  pod: of,
  containerName: 'main',
  place: undefined,
});
const rotatedOf = (of: typeof pod | undefined): ContainerRemoval =>
  removalOf(fileOf(of, '0.log.20260101-000001'), { reason: 'RotatedLog' });
const attemptOf = (of: typeof pod | undefined): ContainerRemoval =>
  removalOf({ ...fileOf(of, '0.log'), place: { rank: 2, attempts: 2 } }, { reason: 'ContainerGone' });
const directory = directoryOf(pod);
const broken = linkOf(false);
const outside = linkOf(true);
const rotated = rotatedOf(pod);
const attempt = attemptOf(pod);
const nothing = { containers: [], sandboxes: [], pods: [] };
const writer = { containers: [container('0123456789')] };
const deadWriter = { containers: [dead('0123456789', 9)] };
const ofEndedStatic = { ...nothing, sandboxes: [down('pod', 9, { annotations: staticSource })] };
const ofStatic = { sandboxes: [sandbox('pod', { annotations: staticSource })] };

test.each<readonly [string, ContainerRemoval, Partial<LiveView>, string]>([
  ['a container as it was', superseded, {}, 'due'],
  ['a container that is already gone', superseded, { containers: [newer] }, 'absent'],
  ['a container that runs', superseded, { containers: [as('Running'), newer] }, 'Running'],
  ['a container of another pod', superseded, { containers: [dead('old', 60, { pod: 'b' })] }, 'InUse'],
  ['a container of unknown state', superseded, { containers: [as('Unknown')] }, 'UnknownState'],
  ['a container of a pod that got the keep label', superseded, { pods: [optedOut] }, 'KeepMarked'],
  ['a container of a static pod', superseded, ofStatic, 'StaticPod'],
  ['a container that became the newest', superseded, { containers: [old] }, 'NewestAttempt'],
  ['a container that no dead attempt follows, only a running one', superseded, laterRuns, 'NewestAttempt'],
  ['over a limit: the newest of an unfinished pod', overLimit, { containers: [old] }, 'NewestAttempt'],
  ['over a limit: the newest of a finished pod', overLimit, finished, 'due'],
  ['over a limit: the same while the cache is not synced', overLimit, unsynced, 'NewestAttempt'],
  [
    'over a limit: the newest of a pod that has finished only in the cache',
    overLimit,
    cached,
    'NewestAttempt',
  ],
  ['over a limit, and a later attempt runs', overLimit, laterRuns, 'due'],
  ['a container of a gone pod', ofGone, over(), 'due'],
  ['a container of a gone pod that is back', ofGone, {}, 'InUse'],
  ['a container of an evicted pod', ofGone, over(evictedPod('pod')), 'due'],
  ['a container of an evicted pod that runs', ofGone, { pods: [evictedPod('pod')] }, 'InUse'],
  ['a container of a pod evicted only in the cache', ofGone, over(evictedPod('pod'), apiPod('pod')), 'InUse'],
  ['an evicted pod with the keep label', ofGone, over(evictedPod('pod', { isOptedOut: true })), 'KeepMarked'],
  ['a container of a pod whose deletion is over', ofGone, over(deletedPod('pod', 1)), 'due'],
  ['a container of a pod whose deletion is not over by the clock of the API server', ofGone, early, 'InUse'],
  ['a gone pod while the cache is not synced', ofGone, { ...over(), isCacheSynced: false }, 'PodsUnknown'],

  ['a sandbox as it was', older, two, 'due'],
  ['a sandbox that went by itself', older, { ...two, sandboxes: [rival] }, 'absent'],
  ['a sandbox that is ready', older, { sandboxes: [{ ...planned, state: 'Ready' }, rival] }, 'Running'],
  ['a sandbox with a container', older, { ...two, containers: [inPlanned] }, 'InUse'],
  ['a sandbox of a pod that got the keep label', older, { ...two, pods: [optedOut] }, 'KeepMarked'],
  ['a sandbox that became the newest', older, { ...two, sandboxes: [planned] }, 'NewestSandbox'],
  ['a sandbox of a gone pod', ofSandbox(true), { ...two, pods: [] }, 'due'],
  ['a sandbox of a gone pod that is back', ofSandbox(true), two, 'InUse'],

  ['a log directory of a gone pod', directory, nothing, 'due'],
  ['a log directory of a gone pod with a container', directory, { ...nothing, containers: [old] }, 'InUse'],
  ['a log directory of a pod that is back', directory, { containers: [] }, 'InUse'],
  ['a log directory of no pod', directoryOf(undefined), nothing, 'NotKubelets'],
  ['a link of a gone container', broken, nothing, 'due'],
  ['a link of a running container', broken, writer, 'InUse'],
  ['a link of a dead container', broken, deadWriter, 'due'],
  ['a link out of the log roots of a gone container', outside, nothing, 'due'],
  ['a link out of the log roots of a dead container: its target may exist', outside, deadWriter, 'InUse'],
  ['the log of a removed attempt', attempt, { containers: [newer] }, 'due'],
  ['the log of an attempt that the runtime lists', attempt, {}, 'InUse'],
  ['the log of an attempt of no pod', attemptOf(undefined), {}, 'NotKubelets'],
  [
    'the log of an attempt of a pod that got the keep label',
    attempt,
    { ...nothing, ...keeping },
    'KeepMarked',
  ],
  ['a rotated log', rotated, {}, 'due'],
  ['a rotated log of no pod', rotatedOf(undefined), {}, 'due'],
  ['a rotated log of a pod that got the keep label', rotated, keeping, 'KeepMarked'],
  ['a rotated log of a static pod that runs', rotated, ofStatic, 'due'],
  ['a rotated log of a static pod that has ended', rotated, ofEndedStatic, 'StaticPod'],
  [
    'a rotated log of a static pod whose mirror pod got the keep label',
    rotated,
    { ...ofStatic, pods: [{ ...apiPod('mirror', 'uid-pod'), isOptedOut: true }] },
    'KeepMarked',
  ],
  [
    'a rotated log of a pod whose UID a mirror pod with the keep label claims',
    rotated,
    { pods: [apiPod('pod'), { ...apiPod('mirror', 'uid-pod'), isOptedOut: true }] },
    'due',
  ],
  ['the log of an attempt of a static pod that runs', attempt, { ...nothing, ...ofStatic }, 'StaticPod'],
])('%s, right before its removal', (_, removal, live, expected) => {
  expect(recheck(removal, view(live))).toBe(expected);
});

test('a pod looks gone although a ready sandbox and a running container without a pod exist', () => {
  const sandboxes = [sandbox('stray', { labels: {} })];
  const states = podStates({ containers: [container('c', { labels: {} })], sandboxes, pods: [] }, now);
  expect(states.stateOf('uid-gone')).toBe('LooksGone');
  expect(states.stateOf('')).toBe('LooksGone');
});

test('a removal by an unknown policy is remembered without its name', () => {
  expect(withRemoved([], ofGone, 0, now)).toMatchObject([{ id: 'old', reason: 'PodGone', policy: '' }]);
});

describe('a node', () => {
  const ungoverned = keptBy('NoPolicy');
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

  test('adds up the logs of each pod, and those of no pod only to all', () => {
    const paths = ['default_pod_uid-pod/main/0.log', 'default_pod_uid-pod/main/1.log', 'odd/main/0.log'];
    const given = factsOf({ logs: paths.map((path) => log(path, { bytes: 5 })) });
    const { logs } = inventoryOf(given, planContainerGc(given, { governance: ungoverned, now }));
    expect(logs).toMatchObject({ bytes: 15, byPod: new Map([['uid-pod', 10]]) });
  });

  test('counts nothing that is unknown', () => {
    const unknown = factsOf({ containers: undefined, sandboxes: undefined, logs: undefined });
    const nothing = { total: 0, removable: 0 };
    const plan = planContainerGc(unknown, { governance: ungoverned, now });
    expect(inventoryOf(unknown, plan)).toEqual({
      ...{ containers: { ...nothing, running: 0 }, sandboxes: nothing, logs: undefined, offenders: [] },
      orphans: undefined,
    });
  });
});
