import { expect, test } from 'vitest';
import { agentPodOf, snapshotCommand } from '../../../../src/commands/agent-pod/pod.ts';

const pod = (over: { metadata?: object; spec?: object; status?: object } = {}): object => ({
  metadata: { name: 'a', namespace: 'dustpan', ...over.metadata },
  spec: { nodeName: 'n', containers: [{ name: 'agent', command: ['c'], args: ['agent'] }], ...over.spec },
  status: { containerStatuses: [{ name: 'agent', state: { running: {} } }], ...over.status },
});

test.each([
  ['it is being deleted', { metadata: { deletionTimestamp: '2026-01-15T12:00:00Z' } }],
  ['it has no container of the agent', { spec: { containers: [{ name: 'other' }] } }],
  ['only its sidecar runs', { status: { containerStatuses: [{ name: 'x', state: { running: {} } }] } }],
])('no command runs in a pod when %s', (_, over) => {
  expect(agentPodOf(pod(over))).toBeUndefined();
});

test.each([
  [
    'the options about the node are those of the agent, in either form',
    [
      'agent',
      '--state-dir=/s',
      '--cri-socket',
      '/c',
      '--image-gc-period=5m',
      '--v',
      '2',
      '--kubelet-insecure-tls',
    ],
    ['--state-dir=/s', '--cri-socket=/c', '--kubelet-insecure-tls'],
  ],
  ['a switch takes no option as its value', ['--kubelet-insecure-tls', '--v=2'], ['--kubelet-insecure-tls']],
])('the command in the pod: %s', (_, args, options) => {
  expect(snapshotCommand({ command: ['node', 'main.js'], args })).toEqual([
    ...['node', 'main.js', 'snapshot', '-', '--only-node'],
    ...options,
  ]);
});

test('a container without a command uses the entry point of the image', () => {
  expect(snapshotCommand({ command: [], args: [] }).slice(0, 2)).toEqual([
    '/nodejs/bin/node',
    '/app/dist/main.js',
  ]);
});
