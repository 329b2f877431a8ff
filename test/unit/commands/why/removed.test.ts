import { expect, test } from 'vitest';
import { questionOf, type NodeQuestion } from '../../../../src/evaluation/why/question.ts';
import { podRemovalOf, removalsOf, type Removal } from '../../../../src/evaluation/why/removed.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import type { Collection } from '../../../../src/kube/events/collected-events.ts';
import type { RemovedObject } from '../../../../src/kube/cache/removed-objects.ts';

const removedObject = (kind: RemovedObject['kind'], over: Partial<RemovedObject>): RemovedObject => ({
  ...{ id: 'x', name: undefined, pod: undefined, reason: 'Space', policy: 'nodes', bytes: undefined },
  ...{ atMs: 0, ...over, kind },
});

const pod = { uid: 'uid-api', namespace: 'web', name: 'api' };
const directory = '/var/log/pods/web_api_uid-api';
const at = (minute: number): { readonly atMs: number } => ({ atMs: Date.UTC(2026, 0, 15, 10, minute) });
const nginx = { id: 'sha256:dead01', name: 'docker.io/library/nginx:1.27' };
const first = [
  removedObject('Container', { id: 'cafe01', name: 'main', pod, reason: 'DeadContainer', ...at(1) }),
  removedObject('Sandbox', { id: 'beef01', pod, reason: 'Sandbox', ...at(2) }),
  removedObject('LogDirectory', { id: directory, pod, reason: 'OrphanedLogs', bytes: 2048, ...at(3) }),
  removedObject('Image', { ...nginx, ...at(6) }),
  removedObject('Image', { id: 'sha256:face01', reason: '', policy: '', ...at(8) }),
  removedObject('Container', { id: 'f00d01', name: 'main', pod, reason: 'nodefs.available', ...at(9) }),
  removedObject('Container', { id: 'f00d02', name: 'side', pod, reason: 'FromNewerAgent', ...at(0) }),
] as const;
const nodes = [
  { name: 'node-1', removed: first },
  { name: 'node-2', removed: [removedObject('Image', { ...nginx, ...at(10) })] },
];

function asked(kind: 'image' | 'container', name: string, node?: string): readonly Removal[] {
  const question = questionOf({ text: `${kind} ${name}`, namespace: undefined, node });
  if ('problem' in question) throw new Error(question.problem);
  return removalsOf(question as NodeQuestion, nodes);
}

const collection: Collection = {
  ...{ verb: 'deleted', owner: { kind: 'Job', name: 'report' }, at: '2026-01-15T11:00:00Z' },
  ...{ note: 'Deleted 1 pod (Expired, policy default): report-a', reason: 'Expired', policy: 'default' },
  ...{ names: ['report-a'], more: 0, lastAt: undefined },
};
const evicted = { verb: 'evicted', note: 'The node is low.', reason: undefined, policy: undefined } as const;
const podRemoval = (over: Partial<Collection> = {}): Removal =>
  podRemovalOf({ ...collection, ...over }, { kind: 'Pod', namespace: 'batch', name: 'report-a' });

const cases: Readonly<Record<string, readonly Removal[]>> = {
  'a container': asked('container', 'cafe01'),
  'a sandbox, by a part of its id': asked('container', 'containerd://beef'),
  'a log in it': asked('container', `${directory}/main/0.log`),
  'two containers, by a part of their ids, the latest first': asked('container', 'f00d'),
  'an image on two nodes': asked('image', 'nginx:1.27'),
  'an image on one of them': asked('image', 'nginx:1.27', 'node-1'),
  'an image, without a reason': asked('image', 'face01'),
  'a pod that was deleted, by the Event about it': [podRemoval()],
  'a pod that was deleted for a reason of a newer controller': [podRemoval({ reason: 'Newer' })],
  'a pod that was evicted': [podRemoval(evicted)],
  'many pods': Array.from({ length: 5 }, () => podRemoval({ reason: undefined })),
};

test('when, where and why it was removed, and who recorded it, is that of the file', async () => {
  const texts = Object.entries(cases).map(([name, removed]) => {
    const object = { kind: 'Image', text: 'x', node: null } as const;
    const table = whyTable({
      ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Explanation', generatedAt: '2026-01-15T12:00:00Z' },
      ...{ object, explanations: [], removed, notes: [] },
    });
    return `# ${name}\n\n${table}`;
  });
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/removed.txt');
});

test('nothing was recorded about an object of another kind, or beside or above the path', () => {
  const found = [
    ...[asked('image', 'cafe01'), asked('container', 'dead01')],
    ...[asked('container', `${directory}-2`), asked('container', '/var/log')],
  ];
  expect(found.flat()).toEqual([]);
});
