import { expect, test } from 'vitest';
import { removedObjectsResource } from '../../../../src/kube/cache/removed-objects.ts';

const { codec } = removedObjectsResource(undefined);
const time = '2026-01-15T10:00:00Z';
const entry = { time, reason: 'PodGone', policy: 'nodes' };
const report = (images: unknown, containers: unknown) => ({
  metadata: { name: 'node-1', uid: 'r1', resourceVersion: '1' },
  status: { images: { lastRemoved: images }, containers: { lastRemoved: containers } },
});
const read = (images: unknown, containers: unknown) => codec.fromJson(report(images, containers)).removed;

const known = { reason: 'PodGone', policy: 'nodes', bytes: undefined, atMs: Date.parse(time) };
const bare = { ...known, name: undefined, pod: undefined };

test('reads images and the other objects of a report', () => {
  const pod = { uid: 'u', namespace: 'web', name: 'api' };
  const images = [{ ...entry, id: 'sha256:a', name: 'x:1' }];
  const others = [
    { ...entry, kind: 'Container', id: 'c', name: 'main', pod, bytes: 7 },
    { ...entry, kind: 'PodCgroup', id: '/kubepods/u', pod: { uid: 'u' } },
  ];
  const unnamed = { uid: 'u', namespace: undefined, name: undefined };
  expect(read(images, others)).toEqual([
    { ...bare, kind: 'Image', id: 'sha256:a', name: 'x:1' },
    { ...known, kind: 'Container', id: 'c', name: 'main', pod, bytes: 7 },
    { ...bare, kind: 'PodCgroup', id: '/kubepods/u', pod: unnamed },
  ]);
});

test.each([
  { name: 'no report yet', containers: undefined },
  { name: 'a kind of a newer agent', containers: [{ ...entry, kind: 'Checkpoint', id: 'c' }] },
  { name: 'no id', containers: [{ ...entry, kind: 'Container', id: '' }] },
])('reads nothing from $name', ({ containers }) => {
  expect(read(undefined, containers)).toEqual([]);
});

test('lists one report for one node, else all', () => {
  expect(removedObjectsResource('node-1').query).toEqual({ fieldSelector: 'metadata.name=node-1' });
  expect(removedObjectsResource(undefined).query).toEqual({});
});
