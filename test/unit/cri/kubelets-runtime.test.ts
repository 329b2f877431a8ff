import { expect, test } from 'vitest';
import { foreignBecause } from '../../../src/cri/kubelets-runtime.ts';
import { sandbox } from '../../fakes/runtime.ts';
import { nodePod } from '../agent/imagegc/builders.ts';

const version = { name: 'containerd', version: '1.7.3', apiVersion: 'v1' };
const running = (name: string, over: Parameters<typeof nodePod>[2] = {}) =>
  nodePod(name, [], { phase: 'Running', ...over });
type Known = Parameters<typeof foreignBecause>[1];

test.each<readonly [string, Partial<Known>, readonly string[], string | undefined]>([
  ['has the type of the Node', { runtimeVersion: 'containerd://1.7.3' }, [], undefined],
  ['has another version than the Node', { runtimeVersion: 'containerd://v2.1.0' }, [], undefined],
  [
    'has another type than the Node',
    { runtimeVersion: 'cri-o://1.34.0' },
    [],
    'the kubelet of this node uses cri-o://1.34.0, this is containerd 1.7.3',
  ],
  ['has the sandbox of a running pod', { pods: [running('a'), running('b')] }, ['b'], undefined],
  [
    'has the sandbox of no running pod',
    { pods: [running('a'), running('b')] },
    ['c'],
    'it has no sandbox of any pod that the API server lists as Running on this node, such as default/a',
  ],
  ['has the sandbox of a static pod', { pods: [running('a', { configHash: 'uid-s' })] }, ['s'], undefined],
  ['has no sandbox, while no pod runs', { pods: [nodePod('a', [])] }, [], undefined],
  ['has no sandbox of a pod that ends', { pods: [running('a', { deletionAtMs: 1 })] }, [], undefined],
  ['has no sandbox, while the pods are unknown', {}, [], undefined],
])('a runtime that %s', (_, known, pods, expected) => {
  const sandboxes = pods.map((pod) => sandbox(pod));
  expect(foreignBecause({ version, sandboxes }, { runtimeVersion: '', pods: undefined, ...known })).toBe(
    expected,
  );
});
