import { describe, expect, test } from 'vitest';
import { keep, remove, type Removal } from '../../../src/agent/containergc/facts.ts';
import { rotatedAt } from '../../../src/agent/containergc/log-names.ts';
import { podOf } from '../../../src/agent/containergc/naming.ts';
import { PodLook, standings } from '../../../src/agent/containergc/pods.ts';
import { recheck, type LiveView } from '../../../src/agent/containergc/recheck.ts';
import { inventoryOf } from '../../../src/agent/containergc/report.ts';
import { keepAllContainers } from '../../../src/agent/containergc/ungoverned.ts';
import { minutesAgo, now } from '../../builders.ts';
import { container, sandbox } from '../../fakes/runtime.ts';
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
  rule,
  staticSource,
} from './containergc.world.ts';

const marked = { uid: 'uid-pod', configHash: undefined, keepMarked: true };
const old = dead('old', 60, { attempt: 0 });
const newer = dead('newer', 50, { attempt: 1 });
const view = (over: Partial<LiveView> = {}): LiveView => ({
  ...{ containers: [old, newer], sandboxes: [sandbox('pod')], pods: [apiPod('pod')] },
  now,
  ...over,
});

const ofContainer = (because: Removal['because']): Removal =>
  remove({ kind: 'container', container: old }, 'DeadContainer', { because });

describe('a container', () => {
  test.each<{
    readonly name: string;
    readonly because?: Removal['because'];
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
    { name: 'cannot be told its age', live: { clockUnsure: true }, says: 'ClockUnsure' },
    { name: 'is gone, whatever the clock says', live: { clockUnsure: true, containers: [] }, says: 'absent' },
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
    readonly because?: Removal['because'];
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
    const removal = remove({ kind: 'sandbox', sandbox: planned }, 'Sandbox', { because });
    expect(recheck(removal, view({ containers: [], sandboxes: [planned, rival], ...live }))).toBe(says);
  });
});

describe('logs', () => {
  const path = '/var/log/pods/default_pod_uid-pod';
  const pod = { uid: 'uid-pod', namespace: 'default', name: 'pod' };
  const gone = { containers: [], sandboxes: [], pods: [] };
  const link = '/var/log/containers/pod_default_main-0123456789.log';
  const writer = container('0123456789');
  test.each<{
    readonly name: string;
    readonly object: Removal['object'];
    readonly live?: Partial<LiveView>;
    readonly says: string;
  }>([
    {
      name: 'a directory of a gone pod',
      object: { kind: 'logDirectory', path, pod, links: [] },
      live: gone,
      says: 'due',
    },
    {
      name: 'of one that has a container',
      object: { kind: 'logDirectory', path, pod, links: [] },
      says: 'InUse',
    },
    {
      name: 'of one that is back',
      object: { kind: 'logDirectory', path, pod, links: [] },
      live: { containers: [] },
      says: 'InUse',
    },
    {
      name: 'of nobody',
      object: { kind: 'logDirectory', path, pod: undefined, links: [] },
      live: gone,
      says: 'NotKubelets',
    },
    {
      name: 'a link of a container that is gone',
      object: { kind: 'logLink', path: link },
      live: gone,
      says: 'due',
    },
    {
      name: 'a link of one that runs',
      object: { kind: 'logLink', path: link },
      live: { containers: [writer] },
      says: 'InUse',
    },
    {
      name: 'a rotated log',
      object: { kind: 'logFile', path: `${path}/main/0.log.20260101-000001` },
      says: 'due',
    },
  ])('$name: $says', ({ object, live, says }) => {
    expect(recheck(remove(object, 'OrphanedLogs'), view(live))).toBe(says);
  });

  test('a link and a rotated log are of no pod by themselves', () => {
    expect(podOf({ object: { kind: 'logLink', path: link } })).toBeUndefined();
    expect(podOf({ object: { kind: 'logFile', path } })).toBeUndefined();
    expect(podOf({ object: { kind: 'logDirectory', path, pod, links: [] } })).toBe(pod);
  });

  test('the live log was rotated at no time', () => {
    expect(rotatedAt(`${path}/main/0.log`)).toBe('');
    expect(rotatedAt(`${path}/main/0.log.20260101-000001.gz`)).toBe('20260101-000001');
  });
});

describe('how pods stand', () => {
  test('a ready sandbox and a running container that are nobody’s keep nobody alive', () => {
    const sandboxes = [sandbox('stray', { labels: {} })];
    const look = new PodLook({ containers: [container('c', { labels: {} })], sandboxes, pods: [] }, now);
    expect(look.looksGone('uid-gone')).toBe(true);
    expect(look.looksGone('')).toBe(true);
  });

  test('a pod that looks gone, and that nobody has counted, is in quarantine', () => {
    expect(standings(factsOf({}), { policy: rule(), now })('uid-gone')).toBe('Quarantined');
  });
});

describe('what a node has', () => {
  const world = factsOf({
    containers: [old],
    sandboxes: [down('pod', 9)],
    logs: [log('default_pod_uid-pod/main/0.log')],
  });

  test('where nothing may be touched, everything stays for one reason', () => {
    const { removals, kept } = keepAllContainers(world, 'NoPolicy');
    expect(removals).toEqual([]);
    expect(kept.map(({ object, reason }) => `${nameOf(object)} ${reason}`)).toEqual([
      'old NoPolicy',
      'pod-sandbox NoPolicy',
      'pods/default_pod_uid-pod NoPolicy',
    ]);
    expect(
      keepAllContainers(factsOf({ containers: undefined, sandboxes: undefined, logs: undefined }), 'NoPolicy')
        .kept,
    ).toEqual([]);
  });

  test('what is not known counts for nothing, and without a plan nothing would go', () => {
    const unknown = factsOf({ containers: undefined, sandboxes: undefined, logs: undefined });
    const nothing = { total: 0, removable: 0 };
    expect(inventoryOf(unknown)).toEqual({
      ...{ containers: nothing, sandboxes: nothing, logs: { bytes: 0, removableBytes: 0 }, offenders: [] },
    });
    const kept = [keep({ kind: 'container', container: old }, 'NewestAttempt')];
    expect(inventoryOf(world, { removals: [], kept })).toMatchObject({
      ...{ containers: { total: 1, removable: 0 }, logs: { bytes: 100 } },
      offenders: [{ kind: 'LogDirectory', name: 'pod', bytes: 100, reason: undefined }],
    });
  });
});
