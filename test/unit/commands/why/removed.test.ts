import { expect, test } from 'vitest';
import type { RemovedObject } from '../../../../src/api/report/node-pass.ts';
import { containerReasons } from '../../../../src/gc/reasons/containers.ts';
import { imageReasons } from '../../../../src/gc/reasons/images.ts';
import { questionOf, type NodeQuestion } from '../../../../src/commands/why/question.ts';
import { removedText } from '../../../../src/commands/why/removed.ts';
import { removedObject } from '../../agent/report/builders.ts';

const pod = { uid: 'uid-api', namespace: 'web', name: 'api' };
const directory = '/var/log/pods/web_api_uid-api';
const at = (minute: number): { readonly atMs: number } => ({ atMs: Date.UTC(2026, 0, 15, 10, minute) });
const first = [
  removedObject('Container', { id: 'cafe01', name: 'main', pod, reason: 'DeadContainer', ...at(1) }),
  removedObject('Sandbox', { id: 'beef01', pod, reason: 'Sandbox', ...at(2) }),
  removedObject('LogDirectory', { id: directory, pod, reason: 'OrphanedLogs', bytes: 2048, ...at(3) }),
  removedObject('LogLink', { id: '/var/log/containers/x.log', reason: 'BrokenLink', ...at(4) }),
  removedObject('PodDirectory', {
    ...{ id: '/var/lib/kubelet/pods/u', pod: { uid: 'u', namespace: undefined, name: undefined } },
    ...{ reason: 'OrphanedDirectory', ...at(5) },
  }),
  removedObject('Image', { id: 'sha256:dead01', name: 'docker.io/library/nginx:1.27', ...at(6) }),
  removedObject('Image', { id: 'sha256:dead02', name: 'docker.io/x@sha256:aa', reason: 'Age', ...at(7) }),
  removedObject('Image', { id: 'sha256:face01', reason: '', policy: '', ...at(8) }),
  removedObject('Container', { id: 'f00d01', name: 'main', pod, reason: 'nodefs.available', ...at(9) }),
  removedObject('Container', { id: 'f00d02', name: 'side', pod, reason: 'FromNewerAgent', ...at(0) }),
] as const;
const second: readonly RemovedObject[] = [
  removedObject('Image', { id: 'sha256:dead01', name: 'docker.io/library/nginx:1.27', ...at(10) }),
];
const nodes = [
  { name: 'node-1', removed: first },
  { name: 'node-2', removed: second },
];

function answer(kind: 'image' | 'container', name: string): string | undefined {
  const question = questionOf({ kind, name, namespace: undefined, node: undefined });
  if ('problem' in question) throw new Error(question.problem);
  return removedText(question as NodeQuestion, nodes);
}

const time = (minute: string): string => `from node-1 at 2026-01-15T10:${minute}:00Z`;

test.each([
  {
    name: 'cafe01',
    expected: `container cafe01 is gone: dustpan removed it ${time('01')} (container main of pod web/api, DeadContainer, GCPolicy nodes). ${containerReasons.DeadContainer.meaning}`,
  },
  {
    name: 'containerd://beef',
    expected: `sandbox beef is gone: dustpan removed it ${time('02')} (sandbox of pod web/api, Sandbox, GCPolicy nodes). ${containerReasons.Sandbox.meaning}`,
  },
  {
    name: `${directory}/`,
    expected: `${directory}/ is gone: dustpan removed it ${time('03')} (log directory of pod web/api, 2.0 KiB, OrphanedLogs, GCPolicy nodes). ${containerReasons.OrphanedLogs.meaning}`,
  },
  {
    name: `${directory}/main/0.log`,
    expected: `${directory}/main/0.log is gone: dustpan removed it ${time('03')} (log directory of pod web/api, 2.0 KiB, OrphanedLogs, GCPolicy nodes). ${containerReasons.OrphanedLogs.meaning}`,
  },
  { name: `${directory}-2`, expected: undefined },
  { name: '/var/log', expected: undefined },
  {
    name: '/var/log/containers/x.log',
    expected: `/var/log/containers/x.log is gone: dustpan removed it ${time('04')} (log link, BrokenLink, GCPolicy nodes). ${containerReasons.BrokenLink.meaning}`,
  },
  {
    name: '/var/lib/kubelet/pods/u',
    expected: `/var/lib/kubelet/pods/u is gone: dustpan removed it ${time('05')} (pod directory of pod u, OrphanedDirectory, GCPolicy nodes). ${containerReasons.OrphanedDirectory.meaning}`,
  },
  {
    name: 'f00d01',
    expected: `container f00d01 is gone: dustpan removed it ${time('09')} (container main of pod web/api, nodefs.available, GCPolicy nodes). ${containerReasons['nodefs.available'].meaning}`,
  },
  {
    name: 'f00d',
    expected: `container f00d is gone: dustpan removed it ${time('09')} (container main of pod web/api, nodefs.available, GCPolicy nodes), ${time('00')} (container side of pod web/api, FromNewerAgent, GCPolicy nodes). ${containerReasons['nodefs.available'].meaning}`,
  },
  { name: 'dead01', expected: undefined },
])('container $name', ({ name, expected }) => {
  expect(answer('container', name)).toBe(expected);
});

test.each([
  {
    name: 'nginx:1.27',
    expected: `image nginx:1.27 is gone: dustpan removed it from node-2 at 2026-01-15T10:10:00Z (Space, GCPolicy nodes), ${time('06')} (Space, GCPolicy nodes). ${imageReasons.Space.meaning}`,
  },
  {
    name: 'x@sha256:aa',
    expected: `image x@sha256:aa is gone: dustpan removed it ${time('07')} (Age, GCPolicy nodes). ${imageReasons.Age.meaning}`,
  },
  { name: 'face01', expected: `image face01 is gone: dustpan removed it ${time('08')}.` },
  { name: 'cafe01', expected: undefined },
])('image $name', ({ name, expected }) => {
  expect(answer('image', name)).toBe(expected);
});
