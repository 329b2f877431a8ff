import { describe, expect, test } from 'vitest';
import {
  containerTarget,
  decide,
  sandboxTarget,
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

const marked = { uid: 'uid-pod', configHash: undefined, keepMarked: true };
const old = dead('old', 60, { attempt: 0 });
const newer = dead('newer', 50, { attempt: 1 });
const view = (over: Partial<LiveView> = {}): LiveView => ({
  ...{ containers: [old, newer], sandboxes: [sandbox('pod')], pods: [apiPod('pod')] },
  now,
  ...over,
});

/** What the plan counted on: that its pod is gone, that a newer one stays, or only that a limit is exceeded. */
type CountedOn = 'podGone' | 'superseded' | 'limit';

const pod = { uid: 'uid-pod', namespace: 'default', name: 'pod' };
const ended = { pod, end: undefined };

function ofContainer(because: CountedOn): ContainerRemoval {
  const subject = { target: containerTarget(old), policy: undefined };
  if (because === 'podGone') return decide(subject, { reason: 'PodGone', evidence: ended });
  const limits = { maxPerPodContainer: 1, maxContainers: undefined };
  const place = because === 'superseded' ? 2 : 1;
  const evidence = { pod, container: 'main', place, attempts: 2, total: 2, limits };
  return decide(subject, { reason: 'DeadContainer', evidence });
}

describe('a container', () => {
  test.each<{
    readonly name: string;
    readonly because?: CountedOn;
    readonly live?: Partial<LiveView>;
    readonly says: string;
  }>([
    { name: 'is due as it was', says: 'due' },
    { name: 'went by itself', live: { containers: [newer] }, says: 'absent' },
    { name: 'runs', live: { containers: [{ ...old, state: 'Running' }, newer] }, says: 'Running' },
    {
      name: 'is of another pod by now',
      live: { containers: [dead('old', 60, { pod: 'other' })] },
      says: 'InUse',
    },
    {
      name: 'is in no known state',
      live: { containers: [{ ...old, state: 'Unknown' }, newer] },
      says: 'UnknownState',
    },
    { name: 'is of a pod that is marked by now', live: { pods: [marked] }, says: 'KeepMarked' },
    {
      name: 'is of a static pod',
      live: { sandboxes: [sandbox('pod', { annotations: staticSource })] },
      says: 'StaticPod',
    },
    { name: 'is the newest by now', live: { containers: [old] }, says: 'NewestAttempt' },
    {
      name: 'is the newest by now, and its pod has not finished',
      because: 'limit',
      live: { containers: [old] },
      says: 'NewestAttempt',
    },
    {
      name: 'is the newest by now, but over a limit, and its pod has finished',
      because: 'limit',
      live: { containers: [old], sandboxes: [], pods: [finishedPod('pod')] },
      says: 'due',
    },
    {
      name: 'is the newest by now, and only the cache says that its pod has finished',
      because: 'limit',
      live: { containers: [old], sandboxes: [], pods: [finishedPod('pod'), apiPod('pod')] },
      says: 'NewestAttempt',
    },
    {
      name: 'is over a limit, and a later attempt runs',
      because: 'limit',
      live: { containers: [old, { ...newer, state: 'Running' }] },
      says: 'due',
    },
    {
      name: 'is followed by a running one alone',
      live: { containers: [old, { ...newer, state: 'Running' }] },
      says: 'NewestAttempt',
    },
    { name: 'of a gone pod is due', because: 'podGone', live: { sandboxes: [], pods: [] }, says: 'due' },
    { name: 'of a gone pod that is back', because: 'podGone', says: 'InUse' },
    {
      name: 'of an evicted pod is due',
      because: 'podGone',
      live: { sandboxes: [], pods: [evictedPod('pod')] },
      says: 'due',
    },
    {
      name: 'of an evicted pod that runs',
      because: 'podGone',
      live: { pods: [evictedPod('pod')] },
      says: 'InUse',
    },
    {
      name: 'of a pod that only the cache holds for evicted',
      because: 'podGone',
      live: { sandboxes: [], pods: [evictedPod('pod'), apiPod('pod')] },
      says: 'InUse',
    },
    {
      name: 'of an evicted pod that got the keep label',
      because: 'podGone',
      live: { sandboxes: [], pods: [evictedPod('pod', { keepMarked: true })] },
      says: 'KeepMarked',
    },
    {
      name: 'of a pod whose deletion is over',
      because: 'podGone',
      live: { sandboxes: [], pods: [deletedPod('pod', 1)] },
      says: 'due',
    },
    {
      name: 'of a pod that is being deleted, by the clock of the API server',
      because: 'podGone',
      live: { sandboxes: [], pods: [deletedPod('pod', 1)], now: new Date(minutesAgo(2)) },
      says: 'InUse',
    },
    {
      name: 'of a gone pod that nobody can tell of',
      because: 'podGone',
      live: { pods: undefined },
      says: 'PodsUnknown',
    },
  ])('$name: $says', ({ because = 'superseded', live, says }) => {
    expect(recheck(ofContainer(because), view(live))).toBe(says);
  });
});

describe('a sandbox', () => {
  const planned = down('pod', 60, { id: 'planned' });
  const rival = down('pod', 50, { id: 'rival' });
  test.each<{
    readonly name: string;
    readonly because?: CountedOn;
    readonly live?: Partial<LiveView>;
    readonly says: string;
  }>([
    { name: 'is due as it was', says: 'due' },
    { name: 'went by itself', live: { sandboxes: [rival] }, says: 'absent' },
    { name: 'is ready', live: { sandboxes: [{ ...planned, state: 'Ready' }, rival] }, says: 'Running' },
    {
      name: 'has a container',
      live: { containers: [dead('a', 1, { sandboxId: 'planned' })] },
      says: 'InUse',
    },
    { name: 'is of a marked pod', live: { pods: [marked] }, says: 'KeepMarked' },
    { name: 'is the newest by now', live: { sandboxes: [planned] }, says: 'NewestSandbox' },
    { name: 'of a gone pod is due', because: 'podGone', live: { pods: [] }, says: 'due' },
    { name: 'of a gone pod that is back', because: 'podGone', says: 'InUse' },
  ])('$name: $says', ({ because = 'superseded', live, says }) => {
    const evidence = { ...ended, isPodGone: because === 'podGone' };
    const subject = { target: sandboxTarget(planned), policy: undefined };
    const removal = decide(subject, { reason: 'Sandbox', evidence });
    expect(recheck(removal, view({ containers: [], sandboxes: [planned, rival], ...live }))).toBe(says);
  });
});

describe('logs', () => {
  const path = '/var/log/pods/default_pod_uid-pod';
  const gone = { containers: [], sandboxes: [], pods: [] };
  const link = '/var/log/containers/pod_default_main-0123456789.log';
  const directory = (of: typeof pod | undefined): ContainerRemoval =>
    decide(
      { target: { kind: 'LogDirectory', path, pod: of, links: [] }, policy: undefined },
      { reason: 'OrphanedLogs', evidence: { pod: of, end: undefined } },
    );
  const brokenLink: ContainerRemoval = decide(
    { target: { kind: 'LogLink', path: link, pod: undefined }, policy: undefined },
    { reason: 'BrokenLink', evidence: undefined },
  );
  const rotated: ContainerRemoval = decide(
    {
      target: { kind: 'LogFile', path: `${path}/main/0.log.20260101-000001`, pod: undefined },
      policy: undefined,
    },
    { reason: 'RotatedLog', evidence: { limits: undefined } },
  );
  const writer = container('0123456789');
  test.each<{
    readonly name: string;
    readonly removal: ContainerRemoval;
    readonly live?: Partial<LiveView>;
    readonly says: string;
  }>([
    {
      name: 'a directory of a gone pod',
      removal: directory(pod),
      live: gone,
      says: 'due',
    },
    {
      name: 'of one that has a container',
      removal: directory(pod),
      says: 'InUse',
    },
    {
      name: 'of one that is back',
      removal: directory(pod),
      live: { containers: [] },
      says: 'InUse',
    },
    {
      name: 'of nobody',
      removal: directory(undefined),
      live: gone,
      says: 'NotKubelets',
    },
    {
      name: 'a link of a container that is gone',
      removal: brokenLink,
      live: gone,
      says: 'due',
    },
    {
      name: 'a link of one that runs',
      removal: brokenLink,
      live: { containers: [writer] },
      says: 'InUse',
    },
    {
      name: 'a rotated log',
      removal: rotated,
      says: 'due',
    },
  ])('$name: $says', ({ removal, live, says }) => {
    expect(recheck(removal, view(live))).toBe(says);
  });

  test('a link and a rotated log count on no pod to be gone', () => {
    expect(podThatMustBeGone(brokenLink)).toBeUndefined();
    expect(podThatMustBeGone(rotated)).toBeUndefined();
    expect(podThatMustBeGone(directory(pod))).toBe(pod);
  });

  test('the live log was rotated at no time', () => {
    expect(rotatedAt(`${path}/main/0.log`)).toBe('');
    expect(rotatedAt(`${path}/main/0.log.20260101-000001.gz`)).toBe('20260101-000001');
  });
});

describe('how pods stand', () => {
  test('a ready sandbox and a running container that are nobody’s keep nobody alive', () => {
    const sandboxes = [sandbox('stray', { labels: {} })];
    const states = new PodStates({ containers: [container('c', { labels: {} })], sandboxes, pods: [] }, now);
    expect(states.standing('uid-gone')).toBe('LooksGone');
    expect(states.standing('')).toBe('LooksGone');
  });

  test('a pod that looks gone, and that nobody has counted, is in quarantine', () => {
    expect(podsNow(factsOf({}), { now }).standing('uid-gone')).toBe('Quarantined');
  });
});

describe('what a node has', () => {
  const ungoverned = { kind: 'keep', reason: 'NoPolicy', policy: undefined } as const;
  const world = factsOf({
    containers: [old],
    sandboxes: [down('pod', 9)],
    logs: [log('default_pod_uid-pod/main/0.log')],
  });

  test('where nothing may be touched, everything stays for one reason', () => {
    const { removals, kept } = planContainerGc(world, { governance: ungoverned, now });
    expect(removals).toEqual([]);
    expect(kept.map(({ target, reason }) => `${nameOf(target)} ${reason}`)).toEqual([
      'old NoPolicy',
      'pod-sandbox NoPolicy',
      'pods/default_pod_uid-pod NoPolicy',
    ]);
    const unknown = factsOf({ containers: undefined, sandboxes: undefined, logs: undefined });
    expect(planContainerGc(unknown, { governance: ungoverned, now }).kept).toEqual([]);
  });

  test('what is not known counts for nothing, and without a plan nothing would go', () => {
    const unknown = factsOf({ containers: undefined, sandboxes: undefined, logs: undefined });
    const nothing = { total: 0, removable: 0 };
    expect(inventoryOf(unknown)).toEqual({
      ...{ containers: nothing, sandboxes: nothing, logs: { bytes: 0, removableBytes: 0 }, offenders: [] },
    });
    const subject = { target: containerTarget(old), policy: undefined };
    const kept = [decide(subject, { reason: 'UnknownState', evidence: { pod } })];
    expect(inventoryOf(world, { removals: [], kept })).toMatchObject({
      ...{ containers: { total: 1, removable: 0 }, logs: { bytes: 100 } },
      offenders: [{ kind: 'LogDirectory', name: 'pod', bytes: 100, reason: undefined }],
    });
  });
});
