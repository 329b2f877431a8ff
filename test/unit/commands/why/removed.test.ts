import { expect, test } from 'vitest';
import { containerReasons } from '../../../../src/agent/containergc/words.ts';
import { questionOf, type NodeQuestion } from '../../../../src/commands/why/question.ts';
import { podRemovalOf, removalsOf, type Removal } from '../../../../src/commands/why/removed.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import type { Collection } from '../../../../src/kube/events/collected-events.ts';
import { podReasons } from '../../../../src/controllers/podgc/words.ts';
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
const again = removedObject('Image', {
  id: 'sha256:dead01',
  name: 'docker.io/library/nginx:1.27',
  ...at(10),
});
const nodes = [
  { name: 'node-1', removed: first },
  { name: 'node-2', removed: [again] },
];

function asked(kind: 'image' | 'container', name: string, node?: string): readonly Removal[] {
  const question = questionOf({ text: `${kind} ${name}`, namespace: undefined, node });
  if ('problem' in question) throw new Error(question.problem);
  return removalsOf(question as NodeQuestion, nodes);
}

const evidence = 'The agent of node-1 recorded the removal.';
const recorded = { verdict: 'Remove', policy: 'nodes', bytes: null, evidence };
const place = { node: 'node-1', pod: 'web/api' };
const known = (minute: string, reason: keyof typeof containerReasons) => ({
  ...{ at: `2026-01-15T10:${minute}:00Z`, reason, sentence: containerReasons[reason].meaning },
});
const container = (id: string, name: string) => ({ kind: 'Container', id, name, ...place });
const onNode = (kind: string, path: string) => ({ kind, path, node: 'node-1' });
const logDirectory = { kind: 'LogDirectory', path: directory, ...place };
const logs = { ...known('03', 'OrphanedLogs'), bytes: 2048 };
const inside = `It contained ${directory}/main/0.log. ${evidence}`;
const fromNewer = { at: '2026-01-15T10:00:00Z', reason: 'FromNewerAgent', sentence: null };
const [link, podDirectory] = ['/var/log/containers/x.log', '/var/lib/kubelet/pods/u'];

test.each([
  ['cafe01', container('cafe01', 'main'), known('01', 'DeadContainer')],
  ['containerd://beef', { kind: 'Sandbox', id: 'beef01', ...place }, known('02', 'Sandbox')],
  [`${directory}/`, logDirectory, logs],
  [`${directory}/main/0.log`, logDirectory, { ...logs, evidence: inside }],
  [link, onNode('LogLink', link), known('04', 'BrokenLink')],
  [podDirectory, onNode('PodDirectory', podDirectory), known('05', 'OrphanedDirectory')],
  ['f00d01', container('f00d01', 'main'), known('09', 'nodefs.available')],
  ['f00d02', container('f00d02', 'side'), fromNewer],
])('container %s', (name, object, expected) => {
  expect(asked('container', name)).toEqual([{ ...recorded, object, ...expected }]);
});

test.each<{ name: string; kind?: 'image' | 'container'; node?: string; expected: readonly string[] }>([
  { name: 'nginx:1.27', expected: ['node-2 10:10 Space', 'node-1 10:06 Space'] },
  { name: 'nginx:1.27', node: 'node-1', expected: ['node-1 10:06 Space'] },
  { name: 'x@sha256:aa', expected: ['node-1 10:07 Age'] },
  { name: 'face01', expected: ['node-1 10:08 null'] },
  { name: 'cafe01', expected: [] },
  { name: 'dead01', kind: 'container', expected: [] },
  {
    ...{ name: 'f00d', kind: 'container' },
    expected: ['node-1 10:09 nodefs.available', 'node-1 10:00 FromNewerAgent'],
  },
  { name: `${directory}-2`, kind: 'container', expected: [] },
  { name: '/var/log', kind: 'container', expected: [] },
])('$kind $name on $node: latest first, $expected', ({ kind = 'image', name, node, expected }) => {
  const shown = asked(kind, name, node).map(
    ({ object, at, reason }) => `${'node' in object ? object.node : ''} ${at.slice(11, 16)} ${reason}`,
  );
  expect(shown).toEqual(expected);
});

const collection: Collection = {
  ...{ verb: 'deleted', owner: { kind: 'Job', name: 'report' }, at: '2026-01-15T11:00:00Z' },
  ...{ note: 'Deleted 1 pod (Expired, policy default): report-a', reason: 'Expired', policy: 'default' },
  ...{ names: ['report-a'], more: 0 },
};
const gone = { kind: 'Pod', namespace: 'batch', name: 'report-a' } as const;

const byPolicy = { verdict: 'Delete', reason: 'Expired', policy: 'default' } as const;
const evicted = { verb: 'evicted', note: 'The node is low.', reason: undefined, policy: undefined } as const;
const unexplained = { verdict: 'Evict', reason: null, policy: null, sentence: null } as const;

test.each<readonly [string, Partial<Collection>, Partial<Removal>]>([
  ['deleted', {}, { ...byPolicy, sentence: podReasons.Expired.meaning }],
  ['evicted', evicted, unexplained],
  [
    'deleted for a reason of a newer controller',
    { reason: 'Newer' },
    { ...byPolicy, reason: 'Newer', sentence: null },
  ],
])('a pod that was %s, by the Event about it', (_, given, expected) => {
  const event = { ...collection, ...given };
  const told = { at: event.at, object: gone, bytes: null, evidence: `Event on Job report: ${event.note}` };
  expect(podRemovalOf(event, gone)).toEqual({ ...told, ...expected });
});

const table = (removed: readonly Removal[]): string =>
  whyTable({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Explanation', generatedAt: '2026-01-15T12:00:00Z' },
    ...{ object: { kind: 'Image', text: 'x', node: null }, explanations: [], removed, notes: [] },
  });

test('the table has when, where and why it was removed, and who recorded it', async () => {
  const [logs] = asked('container', `${directory}/main/0.log`);
  if (logs === undefined) throw new Error('no removal');
  const several = Array.from({ length: 5 }, () => podRemovalOf({ ...collection, reason: undefined }, gone));
  const texts = [[logs], [podRemovalOf(collection, gone)], several].map(table);
  await expect(texts.join('\n---\n\n')).toMatchFileSnapshot('./__snapshots__/removed.txt');
});
