import { expect, test } from 'vitest';
import { questionOf } from '../../../../src/commands/why/question.ts';

interface Given {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly node?: string;
}

const asked = ({ kind = 'pod', name, namespace, node }: Given) =>
  questionOf({ text: name === undefined ? kind : `${kind} ${name}`, namespace, node });
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
  [{ kind: 'pvc/x' }, { problem: 'KIND must be pod, image, container, sandbox, log, node, is "pvc"' }],
])('%j', (given, is) => {
  expect(asked(given)).toEqual(is);
});

const onNode = (kind: string, text: string, node?: string): object => ({ kind, text, node });
test.each([
  ['POD a/b', podOf('a', 'b')],
  ['Image docker.io/library/nginx:1.27 dddddddddddd', onNode('image', 'dddddddddddd')],
  ['Container web/api main', onNode('container', 'web/api main')],
  ['Sandbox/4f2ac9', onNode('sandbox', '4f2ac9')],
  ['sandbox of web/api 4f2ac9', onNode('sandbox', 'web/api 4f2ac9')],
  ['log /var/log/pods/a', onNode('container', '/var/log/pods/a')],
  ['LogDirectory …/web_api_0182ee08…', onNode('container', '…/web_api_0182ee08…')],
  ['pod directory 0182ee08', onNode('container', '…/0182ee08')],
  ['PodDirectory /var/lib/kubelet/pods/a', onNode('container', '/var/lib/kubelet/pods/a')],
  ['control group pod0182.slice', onNode('container', '…/pod0182.slice')],
  ['pod directory', podOf(undefined, 'directory')],
  ['node/node-1', onNode('node', 'node-1', 'node-1')],
  ['node B', { problem: 'node: "B" is not the name of a node, or not that of --node' }],
])('an object as plan prints it: %s', (text, is) => {
  expect(questionOf({ text, namespace: undefined, node: undefined })).toEqual(is);
});
