import { expect, test } from 'vitest';
import type { SeenContainer, SeenPod } from '../../stress/observation.ts';
import { offPolicy, type Limits, type Rest } from '../../stress/remains.ts';

const atMs = 1_000_000;
const limits: Limits = {
  ...{ terminatedPods: 1, failedTtlMs: 20_000, deadPerContainer: 1, rotatedPerContainer: 1 },
  ...{ highThresholdPercent: 45, imageMaximumAgeMs: 20_000, keptImages: [] },
};

const pod = (name: string, phase: string, state: Partial<SeenPod> = {}): SeenPod => ({
  ...{ name, uid: `uid-${name}`, phase, isBound: true, isDeleting: false, images: [] },
  ...{ terminations: [], waiting: [], finishedAtMs: atMs },
  ...state,
});
const dead = (podName: string, attempt: number): SeenContainer => ({
  ...{ id: `${podName}-${attempt}`, pod: podName, podUid: `uid-${podName}`, name: 'main', attempt },
  ...{ image: 'bed.test/used:1', isRunning: false },
});
const image = (tag: string) => ({ id: `sha256:${tag}`, tags: [tag] });
const rotated = (ageMs: number, name: string) => ({
  log: '/l/0.log',
  path: `/l/0.log.${name}`,
  rotatedAtMs: atMs - ageMs,
});

interface Row {
  readonly name: string;
  readonly rest: Partial<Rest>;
  readonly limits?: Partial<Limits>;
  readonly expected?: string;
}

const rows: readonly Row[] = [
  { name: 'as many finished pods as allowed', rest: { pods: [pod('finishes-1', 'Succeeded')] } },
  {
    name: 'a finished pod too many',
    rest: { pods: [pod('finishes-1', 'Succeeded'), pod('finishes-2', 'Succeeded')] },
    expected: '1 finished pods beyond the threshold',
  },
  {
    name: 'finished pods with the keep label count for nothing',
    rest: { pods: [pod('finishes-1', 'Succeeded'), pod('kept-2', 'Succeeded')] },
  },
  {
    name: 'a failed pod past its time',
    rest: { pods: [pod('fails-1', 'Failed', { finishedAtMs: atMs - 60_000 })] },
    expected: 'past its time to live',
  },
  { name: 'a failed pod in its time', rest: { pods: [pod('fails-1', 'Failed')] } },
  { name: 'a pod over its limit', rest: { pods: [pod('fills-1', 'Running')] }, expected: 'is not evicted' },
  { name: 'a pod that runs', rest: { pods: [pod('serves-1', 'Running')] } },
  {
    name: 'a pod that cannot start',
    rest: { pods: [pod('serves-1', 'Pending', { waiting: ['ImagePullBackOff'] })] },
    expected: 'does not run: Pending, ImagePullBackOff',
  },
  {
    name: 'a pod that does not end',
    rest: { pods: [pod('crashes-1', 'Running', { isDeleting: true })] },
    expected: 'still being deleted',
  },
  {
    name: 'a dead container',
    rest: { pods: [pod('crashes-1', 'Running')], containers: [dead('crashes-1', 0)] },
  },
  {
    name: 'a dead container too many',
    rest: { pods: [pod('crashes-1', 'Running')], containers: [dead('crashes-1', 0), dead('crashes-1', 1)] },
    expected: '2 dead containers main of pod crashes-1',
  },
  {
    name: 'a container of a gone pod',
    rest: { containers: [dead('fails-1', 0)] },
    expected: 'which is gone',
  },
  {
    name: 'a sandbox of a gone pod',
    rest: { sandboxes: [{ id: 's', podUid: 'u', isReady: false }] },
    expected: 'sandbox s of pod u, which is gone',
  },
  { name: 'logs of a gone pod', rest: { logDirectories: ['u'] }, expected: 'log directory of pod u' },
  { name: 'logs of a pod', rest: { pods: [pod('serves-1', 'Running')], logDirectories: ['uid-serves-1'] } },
  { name: 'a broken link', rest: { brokenLinks: ['/var/log/containers/a'] }, expected: 'points to nothing' },
  {
    name: 'a rotated log too many',
    rest: { rotatedLogs: [rotated(60_000, 'a'), rotated(90_000, 'b')] },
    expected: '2 rotated files',
  },
  { name: 'a log that was just rotated', rest: { rotatedLogs: [rotated(1_000, 'a'), rotated(90_000, 'b')] } },
  { name: 'an unused image', rest: { images: [image('bed.test/unused:1')] }, expected: 'is unused' },
  {
    name: 'an unused image without a maximum age',
    rest: { images: [image('bed.test/unused:1')] },
    limits: { imageMaximumAgeMs: undefined },
  },
  {
    name: 'a full disk with an unused image',
    rest: { images: [image('bed.test/unused:1')], usedPercent: 45 },
    limits: { imageMaximumAgeMs: undefined },
    expected: '45 % full',
  },
  {
    name: 'images of pods, containers and sandboxes',
    rest: {
      images: ['bed.test/used:1', 'bed.test/used:2', 'bed.test/pause:1'].map(image),
      pods: [pod('serves-1', 'Running', { images: ['bed.test/used:2'] }), pod('fails-1', 'Failed')],
      containers: [dead('fails-1', 0)],
      usedPercent: 99,
    },
  },
  {
    name: 'an unused image on the keep list',
    rest: { images: [image('bed.test/kept:1')] },
    limits: { keptImages: ['bed.test/kept:1'] },
  },
];

test.each(rows)('$name', ({ rest, limits: given, expected }) => {
  const none = { pods: [], containers: [], sandboxes: [], images: [] };
  const noLogs = { logDirectories: [], brokenLinks: [], rotatedLogs: [] };
  const found = offPolicy({ atMs, ...none, ...noLogs, usedPercent: 10, ...rest }, { ...limits, ...given });
  expect(found).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
});
