import { expect, test } from 'vitest';
import type { Observation, SeenContainer, SeenPod } from '../../stress/observation.ts';
import { Watch, type Deeds } from '../../stress/watch.ts';

const pod = (name: string, state: Partial<SeenPod> = {}): SeenPod => ({
  ...{ name, uid: `uid-${name}`, phase: 'Running', isBound: true, isDeleting: false },
  ...{ images: ['bed.test/used:1'], terminations: [], waiting: [], finishedAtMs: undefined },
  ...state,
});
const container = (podName: string, state: Partial<SeenContainer> = {}): SeenContainer => ({
  ...{ id: `id-${podName}`, pod: podName, podUid: `uid-${podName}`, name: 'main', attempt: 0 },
  ...{ image: 'bed.test/used:1', isRunning: true },
  ...state,
});
const ended = (podName: string, exitCode: number): SeenPod =>
  pod(podName, { terminations: [{ container: 'main', exitCode, reason: 'Error', containerId: 'c' }] });
const used = [{ id: 'sha256:1', tags: ['bed.test/used:1'] }];
const kept = [{ id: 'sha256:2', tags: ['bed.test/kept:1'] }];

interface Row {
  readonly name: string;
  /** One minute apart. */
  readonly seen: readonly Partial<Observation>[];
  readonly deeds?: Partial<Deeds>;
  readonly kubeletCollects?: boolean;
  /** Words of the only violation; absent = none. */
  readonly expected?: string;
}

const serving = { containers: [container('serves-1')] };
const exited = { containers: [container('serves-1', { isRunning: false })] };
const starting = pod('waits-1', { phase: 'Pending' });

const rows: readonly Row[] = [
  { name: 'a container keeps running', seen: [serving, serving] },
  { name: 'a running container ends', seen: [serving, exited], expected: 'was running and has ended' },
  { name: 'a running container is removed', seen: [serving, { containers: [] }], expected: 'is gone' },
  {
    name: 'another container follows',
    seen: [serving, { containers: [container('serves-1', { id: 'b' })] }],
    expected: 'is gone',
  },
  { name: 'an actor deleted the pod', seen: [serving, exited], deeds: { deleted: new Set(['serves-1']) } },
  { name: 'the runtime does not respond in between', seen: [serving, {}, serving] },
  {
    name: 'a container ends after the runtime did not respond',
    seen: [serving, {}, exited],
    expected: 'has ended',
  },
  {
    name: 'a container ends by itself',
    seen: [{ containers: [container('finishes-1')] }, { containers: [] }],
  },
  {
    name: 'a pod over its limit is evicted',
    seen: [{ containers: [container('fills-1')] }, { containers: [] }],
  },
  { name: 'a program ends with its own code', seen: [{ pods: [ended('fails-1', 4)] }] },
  { name: 'a program is killed', seen: [{ pods: [ended('fails-1', 137)] }], expected: 'ended with 137' },
  {
    name: 'an actor deleted the pod whose program is killed',
    seen: [{ pods: [ended('fails-1', 137)] }],
    deeds: { deleted: new Set(['fails-1']) },
  },
  {
    name: 'a finished pod is deleted',
    seen: [{ pods: [pod('finishes-1', { phase: 'Succeeded', isDeleting: true })] }],
  },
  {
    name: 'a running pod is deleted',
    seen: [{ pods: [pod('finishes-1', { isDeleting: true })] }],
    expected: 'has not finished',
  },
  { name: 'a kept pod stays', seen: [{ pods: [pod('kept-1')] }, { pods: [pod('kept-1')] }] },
  { name: 'a kept pod is deleted', seen: [{ pods: [pod('kept-1')] }, { pods: [] }], expected: 'keep label' },
  {
    name: 'a dead container of a kept pod is removed',
    seen: [{ containers: [container('kept-1', { isRunning: false })] }, { containers: [] }],
    expected: 'keep label',
  },
  {
    name: 'an image on the keep list is removed',
    seen: [{ images: kept }, { images: [] }],
    expected: 'keep list',
  },
  { name: 'the kubelet knows no keep list', seen: [{ images: kept }, { images: [] }], kubeletCollects: true },
  {
    name: 'an unused image is removed',
    seen: [
      { images: used, pods: [] },
      { images: [], pods: [] },
    ],
  },
  {
    name: 'the image of a pod is removed long after the pod was bound',
    seen: [{ pods: [starting] }, { images: used, pods: [starting] }, { images: [], pods: [starting] }],
    expected: 'pod waits-1 refers to it',
  },
  {
    name: 'the image of a pod was last seen when the pod was new',
    seen: [
      { images: used, pods: [starting] },
      { images: [], pods: [starting] },
    ],
  },
  {
    name: 'the image of a pod that an actor dropped',
    seen: [{ pods: [starting] }, { images: used, pods: [starting] }, { images: [], pods: [starting] }],
    deeds: { dropped: [{ tag: 'bed.test/used:1', atMs: 150_000 }] },
  },
  {
    name: 'the kubelet removes an image that a pod waits for',
    seen: [{ pods: [starting] }, { images: used, pods: [starting] }, { images: [], pods: [starting] }],
    kubeletCollects: true,
  },
  {
    name: 'the image of a running container is removed',
    seen: [
      { ...serving, images: used },
      { ...serving, images: [] },
    ],
    kubeletCollects: true,
    expected: 'serves-1) runs',
  },
];

test.each(rows)('$name', ({ seen, deeds, kubeletCollects = false, expected }) => {
  const watch = new Watch({ keptImages: ['bed.test/kept:1'], kubeletCollects });
  const found = seen.flatMap((one, index) =>
    watch.see(
      { atMs: (index + 1) * 60_000, images: undefined, containers: undefined, pods: undefined, ...one },
      { deleted: new Set(), dropped: [], ...deeds },
    ),
  );
  expect(found).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
});
