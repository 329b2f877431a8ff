import { expect, test } from 'vitest';
import { podSearch } from '../../../src/kube/node-pod-search.ts';
import { ApiError } from '../../../src/kube/transport.ts';
import { FakeTransport } from '../../fakes/transport.ts';

const never = new AbortController().signal;
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
  expect(await podSearch(transport, 'n')(uid, never)).toBe(expected);
  expect(transport.requests).toMatchObject([{ query: { fieldSelector: 'spec.nodeName=n' } }]);
});

test('a server that refuses does not say; an abort is one', async () => {
  const transport = new FakeTransport({
    stream: () => {
      throw new ApiError('no', { status: 403 });
    },
  });
  expect(await podSearch(transport, 'n')('u1', never)).toBe('unknown');
  await expect(podSearch(transport, 'n')('u1', AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
});
