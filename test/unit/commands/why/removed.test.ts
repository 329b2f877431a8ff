import { expect, test } from 'vitest';
import type { RemovedObject } from '../../../../src/api/report/node-pass.ts';
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
const second: readonly RemovedObject[] = [
  removedObject('Image', { id: 'sha256:dead01', name: 'docker.io/library/nginx:1.27', ...at(10) }),
];
const nodes = [
  { name: 'node-1', removed: first },
  { name: 'node-2', removed: second },
];

function asked(kind: 'image' | 'container', name: string, node?: string): readonly Removal[] {
  const question = questionOf({ kind, name, namespace: undefined, node });
  if ('problem' in question) throw new Error(question.problem);
  return removalsOf(question as NodeQuestion, nodes);
}

const recorded = {
  ...{ verdict: 'Remove', policy: 'nodes', bytes: null },
  evidence: 'The agent of node-1 recorded the removal.',
};
const api = { node: 'node-1', pod: 'web/api' };
const time = (minute: string): { at: string } => ({ at: `2026-01-15T10:${minute}:00Z` });
const because = (reason: keyof typeof containerReasons) => ({
  reason,
  sentence: containerReasons[reason].meaning,
});
const logs = {
  ...{ ...recorded, ...time('03'), ...because('OrphanedLogs'), bytes: 2048 },
  object: { kind: 'LogDirectory', path: directory, ...api },
};

test.each([
  {
    name: 'cafe01',
    object: { kind: 'Container', id: 'cafe01', name: 'main', ...api },
    expected: { ...time('01'), ...because('DeadContainer') },
  },
  {
    name: 'containerd://beef',
    object: { kind: 'Sandbox', id: 'beef01', ...api },
    expected: { ...time('02'), ...because('Sandbox') },
  },
  { name: `${directory}/`, object: logs.object, expected: logs },
  {
    name: `${directory}/main/0.log`,
    object: logs.object,
    expected: { ...logs, evidence: `It contained ${directory}/main/0.log. ${logs.evidence}` },
  },
  {
    name: '/var/log/containers/x.log',
    object: { kind: 'LogLink', path: '/var/log/containers/x.log', node: 'node-1' },
    expected: { ...time('04'), ...because('BrokenLink') },
  },
  {
    name: '/var/lib/kubelet/pods/u',
    object: { kind: 'PodDirectory', path: '/var/lib/kubelet/pods/u', node: 'node-1' },
    expected: { ...time('05'), ...because('OrphanedDirectory') },
  },
  {
    name: 'f00d01',
    object: { kind: 'Container', id: 'f00d01', name: 'main', ...api },
    expected: { ...time('09'), ...because('nodefs.available') },
  },
  {
    name: 'f00d02',
    object: { kind: 'Container', id: 'f00d02', name: 'side', ...api },
    expected: { ...time('00'), reason: 'FromNewerAgent', sentence: null },
  },
])('container $name', ({ name, object, expected }) => {
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
    name: 'f00d',
    kind: 'container',
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

test.each<{ name: string; given: Partial<Collection>; expected: Partial<Removal> }>([
  {
    name: 'deleted',
    given: {},
    expected: {
      verdict: 'Delete',
      reason: 'Expired',
      policy: 'default',
      sentence: podReasons.Expired.meaning,
    },
  },
  {
    name: 'evicted',
    given: { verb: 'evicted', note: 'The node is low.', reason: undefined, policy: undefined },
    expected: { verdict: 'Evict', reason: null, policy: null, sentence: null },
  },
  {
    name: 'deleted for a reason of a newer controller',
    given: { reason: 'Newer' },
    expected: { verdict: 'Delete', reason: 'Newer', policy: 'default', sentence: null },
  },
])('a pod that was $name, by the Event about it', ({ given, expected }) => {
  const event = { ...collection, ...given };
  expect(podRemovalOf(event, gone)).toEqual({
    ...{ at: event.at, object: gone, bytes: null },
    evidence: `Event on Job report: ${event.note}`,
    ...expected,
  });
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
