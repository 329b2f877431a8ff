import { describe, expect, test } from 'vitest';
import { LiveNode } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { systemClock as clock } from '../../../../src/runtime/scheduling/clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;
const on = (transport: FakeTransport, nodeName = 'node-1') => new LiveNode({ transport, clock, nodeName });
const named = { uid: 'u1', namespace: 'shop', name: 'web' };
const unnamed = { uid: 'u1', namespace: undefined, name: undefined };
const annotations = {
  'kubernetes.io/config.source': 'file',
  'kubernetes.io/config.hash': 'u1',
  'kubernetes.io/config.mirror': 'u1',
};
const ownedBy = (node: string): object => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: 'n1', controller: true }],
});
const listOf = (items: readonly object[], more: object = {}): object => ({
  kind: 'PodList',
  metadata: { resourceVersion: '1', ...more },
  items,
});
const rejection = (status: number, reason: string) => (): never => {
  throw new ApiError('no', { status, reason });
};

describe.each([
  { known: 'namespace and name', remains: named },
  { known: 'only the UID', remains: unnamed },
])('with $known', ({ remains }) => {
  const mirrorOfOther = { ...annotations, 'kubernetes.io/config.mirror': 'u3' };
  test.each<readonly [string, object, string]>([
    ['the pod itself', { uid: 'u1' }, 'exists'],
    ['another pod', { uid: 'u2' }, 'gone'],
    ['its mirror', { uid: 'u2', annotations, ...ownedBy('node-1') }, 'exists'],
    ['a pod with the annotations', { uid: 'u2', annotations }, 'gone'],
    [
      'a pod with the annotations that another Node owns',
      { uid: 'u2', annotations, ...ownedBy('node-2') },
      'gone',
    ],
    ['a mirror of another pod', { uid: 'u2', annotations: mirrorOfOther, ...ownedBy('node-1') }, 'gone'],
  ])('%s: %s', async (_name, metadata, expected) => {
    const pod = { metadata: { name: 'web', ...metadata }, spec: { nodeName: 'node-1' } };
    const transport = new FakeTransport({ send: () => pod, stream: () => [JSON.stringify(listOf([pod]))] });
    expect(await on(transport).podState(remains, never)).toBe(expected);
  });

  test('throws the reason of an abort', async () => {
    const stream = rejection(403, 'Forbidden');
    const stopped = AbortSignal.abort(new Error('stopping'));
    await expect(on(new FakeTransport({ stream })).podState(remains, stopped)).rejects.toThrow('stopping');
  });
});

test.each([
  { name: 'NotFound', send: rejection(404, 'NotFound'), expected: 'gone' },
  { name: 'a 404 of a proxy', send: rejection(404, ''), expected: 'unknown' },
  { name: 'a missing right', send: rejection(403, 'Forbidden'), expected: 'unknown' },
  { name: 'a server error', send: rejection(500, ''), expected: 'unknown' },
  { name: 'a response without metadata', send: () => ({}), expected: 'unknown' },
  { name: 'a response that is not JSON', send: () => Buffer.from('<html>'), expected: 'unknown' },
])('by name, $name: $expected', async ({ send, expected }) => {
  const transport = new FakeTransport({ send });
  expect(await on(transport).podState(named, never)).toBe(expected);
  const request = { path: '/api/v1/namespaces/shop/pods/web', timeoutMs: 10_000 };
  expect(transport.requests[0]).toMatchObject(request);
});

test('by UID if only the namespace is known', async () => {
  const transport = new FakeTransport({ stream: () => [JSON.stringify(listOf([]))] });
  expect(await on(transport, 'n').podState({ ...unnamed, namespace: 'shop' }, never)).toBe('gone');
  expect(transport.requests.map(({ path }) => path)).toEqual(['/api/v1/pods']);
});

const streaming = (response: object) => () => [JSON.stringify(response)];
test.each([
  { name: 'an empty list', stream: streaming(listOf([])), expected: 'gone' },
  { name: 'a part of a list', stream: streaming(listOf([], { continue: 'x' })), expected: 'unknown' },
  { name: 'another kind', stream: streaming({ kind: 'Status' }), expected: 'unknown' },
  { name: 'a missing right', stream: rejection(403, 'Forbidden'), expected: 'unknown' },
])('by UID, $name: $expected', async ({ stream, expected }) => {
  const transport = new FakeTransport({ stream });
  expect(await on(transport, 'n').podState(unnamed, never)).toBe(expected);
  expect(transport.requests).toMatchObject([{ query: { fieldSelector: 'spec.nodeName=n' } }]);
});
