import { describe, expect, test } from 'vitest';
import { podAnswers } from '../../../src/cli/agent-pods.ts';
import { FakeTransport } from '../../fakes/transport.ts';

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
    expect(await podAnswers(transport, 'node-1')(remains, never)).toBe(expected);
  });
});
