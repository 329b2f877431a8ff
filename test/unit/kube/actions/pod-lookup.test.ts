import { describe, expect, test } from 'vitest';
import { podLookup } from '../../../../src/kube/actions/pod-lookup.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;
const annotations = {
  'kubernetes.io/config.source': 'file',
  'kubernetes.io/config.hash': 'u1',
  'kubernetes.io/config.mirror': 'u1',
};
const ownedBy = (node: string): object => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: 'n1', controller: true }],
});

describe.each([
  { known: 'namespace and name', remains: { uid: 'u1', namespace: 'shop', name: 'web' } },
  { known: 'the UID alone', remains: { uid: 'u1', namespace: undefined, name: undefined } },
])('of a pod $known is known', ({ remains }) => {
  test.each([
    { name: 'the pod itself', metadata: { uid: 'u1' }, expected: 'exists' },
    { name: 'another pod', metadata: { uid: 'u2' }, expected: 'gone' },
    { name: 'its mirror', metadata: { uid: 'u2', annotations, ...ownedBy('node-1') }, expected: 'exists' },
    { name: 'a pod with the annotations', metadata: { uid: 'u2', annotations }, expected: 'gone' },
    {
      name: 'a pod with them that another Node owns',
      metadata: { uid: 'u2', annotations, ...ownedBy('node-2') },
      expected: 'gone',
    },
    {
      name: 'a pod with the first two of them that the Node owns',
      metadata: {
        ...{ uid: 'u2', ...ownedBy('node-1') },
        annotations: { ...annotations, 'kubernetes.io/config.mirror': 'u3' },
      },
      expected: 'gone',
    },
  ])('$name: $expected', async ({ metadata, expected }) => {
    const pod = { metadata: { name: 'web', ...metadata }, spec: { nodeName: 'node-1' } };
    const list = { kind: 'PodList', metadata: { resourceVersion: '1' }, items: [pod] };
    const transport = new FakeTransport({ send: () => pod, stream: () => [JSON.stringify(list)] });
    expect(await podLookup(transport, 'node-1')(remains, never)).toBe(expected);
  });
});

describe('whether a pod is still there', () => {
  const pod = { namespace: 'shop', name: 'web', uid: 'u1' };
  const mirrorOf = (uid: string): object => ({
    uid: 'u2',
    annotations: {
      ...{ 'kubernetes.io/config.mirror': uid, 'kubernetes.io/config.hash': uid },
      'kubernetes.io/config.source': 'file',
    },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n1', controller: true }],
  });
  const refused =
    (status: number, reason: string): (() => never) =>
    () => {
      throw new ApiError('no', { status, reason });
    };

  test.each([
    { name: 'the same one', send: () => ({ metadata: { uid: 'u1' } }), expected: 'exists' },
    { name: 'a namesake', send: () => ({ metadata: { uid: 'u2' } }), expected: 'gone' },
    {
      name: 'the mirror of a static pod',
      send: () => ({ metadata: mirrorOf('u1') }),
      expected: 'exists',
    },
    {
      name: 'a namesake with the annotations of a static pod',
      send: () => ({ metadata: { ...mirrorOf('u1'), ownerReferences: [] } }),
      expected: 'gone',
    },
    { name: 'no pod', send: refused(404, 'NotFound'), expected: 'gone' },
    { name: 'a 404 of a proxy', send: refused(404, ''), expected: 'unknown' },
    { name: 'no right to know', send: refused(403, 'Forbidden'), expected: 'unknown' },
    { name: 'a server in trouble', send: refused(500, ''), expected: 'unknown' },
    { name: 'an answer that is none', send: () => ({}), expected: 'unknown' },
    { name: 'an answer that is no JSON', send: () => Buffer.from('<html>'), expected: 'unknown' },
  ])('$name: $expected', async ({ send, expected }) => {
    const transport = new FakeTransport({ send });
    expect(await podLookup(transport, 'node-1')(pod, never)).toBe(expected);
    expect(transport.requests[0]?.path).toBe('/api/v1/namespaces/shop/pods/web');
  });

  test('a stop is not an answer', async () => {
    const stopped = AbortSignal.abort(new Error('stopping'));
    await expect(podLookup(new FakeTransport({}), 'node-1')(pod, stopped)).rejects.toThrow('stopping');
  });
});

describe('among the pods of the node', () => {
  const mirror = {
    annotations: { 'kubernetes.io/config.mirror': 'static' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n1', controller: true }],
  };
  const items = [
    { metadata: { name: 'a', uid: 'u1' } },
    { metadata: { name: 'b', uid: 'u2', ...mirror }, spec: { nodeName: 'n' } },
  ];
  const list = (more: object = {}) => ({
    kind: 'PodList',
    metadata: { resourceVersion: '1' },
    items,
    ...more,
  });

  const uidAlone = (uid: string) => ({ uid, namespace: undefined, name: undefined });

  test.each([
    { name: 'a pod of the node', uid: 'u1', answer: list(), expected: 'exists' },
    { name: 'a static pod', uid: 'static', answer: list(), expected: 'exists' },
    { name: 'no pod of the node', uid: 'u3', answer: list(), expected: 'gone' },
    { name: 'no pod, the node has none', uid: 'u1', answer: list({ items: [] }), expected: 'gone' },
    {
      name: 'no pod of half a list',
      uid: 'u3',
      answer: list({ metadata: { resourceVersion: '1', continue: 'x' } }),
      expected: 'unknown',
    },
    { name: 'no pod of what is no list', uid: 'u3', answer: { kind: 'Status' }, expected: 'unknown' },
  ])('$name is $expected', async ({ uid, answer, expected }) => {
    const transport = new FakeTransport({ stream: () => [JSON.stringify(answer)] });
    expect(await podLookup(transport, 'n')(uidAlone(uid), never)).toBe(expected);
    expect(transport.requests).toMatchObject([{ query: { fieldSelector: 'spec.nodeName=n' } }]);
  });

  test('a server that refuses does not say; an abort is one', async () => {
    const transport = new FakeTransport({
      stream: () => {
        throw new ApiError('no', { status: 403 });
      },
    });
    expect(await podLookup(transport, 'n')(uidAlone('u1'), never)).toBe('unknown');
    await expect(
      podLookup(transport, 'n')(uidAlone('u1'), AbortSignal.abort(new Error('over'))),
    ).rejects.toThrow('over');
  });
});
