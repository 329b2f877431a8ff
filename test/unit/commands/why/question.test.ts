import { expect, test } from 'vitest';
import { questionOf } from '../../../../src/commands/why/question.ts';

const words = { kind: 'pod', name: undefined, namespace: undefined, node: undefined };
const podOf = (namespace: string | undefined, name: string): object => ({ kind: 'pod', namespace, name });

test.each([
  [{ name: 'a/b' }, podOf('a', 'b')],
  [{ name: 'b' }, podOf(undefined, 'b')],
  [{ kind: 'pod/b' }, podOf(undefined, 'b')],
  [{ kind: 'pod/b', namespace: 'a' }, podOf('a', 'b')],
  [{ kind: 'pods', name: 'b', namespace: 'a' }, podOf('a', 'b')],
  [{ kind: 'po', name: 'a/b', namespace: 'a' }, podOf('a', 'b')],
  [
    { kind: 'image/registry.example.com:5000/x/y:1', node: 'n' },
    { kind: 'image', text: 'registry.example.com:5000/x/y:1', node: 'n' },
  ],
  [{ kind: 'container/4f2ac9' }, { kind: 'container', text: '4f2ac9', node: undefined }],
  [
    { kind: 'container', name: '/var/log/pods/a//' },
    { kind: 'container', text: '/var/log/pods/a', node: undefined },
  ],
  [{ kind: 'container', name: '/' }, { problem: expect.stringContaining('at least 4') as string }],
  [{ name: 'a/b', namespace: 'c' }, { problem: 'pod: a/b is not in namespace c; leave one of the two out' }],
  [{ name: 'a/b/c' }, { problem: 'pod: must be NAMESPACE/NAME, is "a/b/c"' }],
  [{ name: '/b' }, { problem: 'pod: must be NAMESPACE/NAME, is "/b"' }],
  [{ name: 'A b' }, { problem: 'pod: must be NAMESPACE/NAME, is "A b"' }],
  [{ name: '' }, { problem: 'pod: must be NAMESPACE/NAME, is ""' }],
  [{ kind: 'image', name: '' }, { problem: 'image: must be a reference or an id, is ""' }],
  [{ kind: 'image', name: 'a b' }, { problem: 'image: must be a reference or an id, is "a b"' }],
  [{ name: 'b', node: 'n' }, { problem: '--node is for images and containers' }],
  [{ kind: 'image', name: 'x', namespace: 'a' }, { problem: '--namespace is for pods' }],
  [{}, { problem: 'the name is missing: use pod NAME or pod/NAME' }],
  [{ kind: 'pvc/x' }, { problem: 'KIND must be pod, image, container, is "pvc"' }],
])('%j', (given, is) => {
  expect(questionOf({ ...words, ...given })).toEqual(is);
});
