import { expect, test } from 'vitest';
import { questionOf } from '../../../../src/commands/why/question.ts';

const words = { kind: 'pod', name: undefined, namespace: undefined, node: undefined };
const podOf = (namespace: string | undefined, name: string): object => ({ kind: 'pod', namespace, name });

test.each([
  { given: { name: 'a/b' }, is: podOf('a', 'b') },
  { given: { name: 'b' }, is: podOf(undefined, 'b') },
  { given: { kind: 'pod/b' }, is: podOf(undefined, 'b') },
  { given: { kind: 'pod/b', namespace: 'a' }, is: podOf('a', 'b') },
  { given: { kind: 'pods', name: 'b', namespace: 'a' }, is: podOf('a', 'b') },
  { given: { kind: 'po', name: 'a/b', namespace: 'a' }, is: podOf('a', 'b') },
  {
    given: { kind: 'image/registry.example.com:5000/x/y:1', node: 'n' },
    is: { kind: 'image', text: 'registry.example.com:5000/x/y:1', node: 'n' },
  },
  { given: { kind: 'container/4f2ac9' }, is: { kind: 'container', text: '4f2ac9', node: undefined } },
  {
    given: { kind: 'container', name: '/var/log/pods/a//' },
    is: { kind: 'container', text: '/var/log/pods/a', node: undefined },
  },
  {
    given: { kind: 'container', name: '/' },
    is: { problem: expect.stringContaining('at least 4') as string },
  },
  {
    given: { name: 'a/b', namespace: 'c' },
    is: { problem: 'pod: a/b is not in namespace c; leave one of the two out' },
  },
  { given: { name: 'a/b/c' }, is: { problem: 'pod: must be NAMESPACE/NAME, is "a/b/c"' } },
  { given: { name: '/b' }, is: { problem: 'pod: must be NAMESPACE/NAME, is "/b"' } },
  { given: { name: 'A b' }, is: { problem: 'pod: must be NAMESPACE/NAME, is "A b"' } },
  { given: { name: '' }, is: { problem: 'pod: must be NAMESPACE/NAME, is ""' } },
  { given: { kind: 'image', name: '' }, is: { problem: 'image: must be a reference or an id, is ""' } },
  { given: { kind: 'image', name: 'a b' }, is: { problem: 'image: must be a reference or an id, is "a b"' } },
  { given: { name: 'b', node: 'n' }, is: { problem: '--node is for images and containers' } },
  { given: { kind: 'image', name: 'x', namespace: 'a' }, is: { problem: '--namespace is for pods' } },
  { given: {}, is: { problem: 'the name is missing: use pod NAME or pod/NAME' } },
  { given: { kind: 'pvc/x' }, is: { problem: 'KIND must be pod, image, container, is "pvc"' } },
])('$given', ({ given, is }) => {
  expect(questionOf({ ...words, ...given })).toEqual(is);
});
