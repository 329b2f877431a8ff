import { expect, test } from 'vitest';
import { agentPodOf, snapshotCommand } from '../../../../src/commands/agent-pod/pod.ts';

const pod = (over: { metadata?: object; spec?: object; status?: object } = {}): object => ({
  metadata: { name: 'a', namespace: 'dustpan', ...over.metadata },
  spec: { nodeName: 'n', containers: [{ name: 'agent', command: ['c'], args: ['agent'] }], ...over.spec },
  status: { containerStatuses: [{ name: 'agent', state: { running: {} } }], ...over.status },
});

test('a running agent is found by its container', () => {
  expect(agentPodOf(pod())).toEqual({
    ...{ node: 'n', namespace: 'dustpan', name: 'a', command: ['c'], args: ['agent'] },
  });
});

test.each([
  { name: 'it is being deleted', over: { metadata: { deletionTimestamp: '2026-01-15T12:00:00Z' } } },
  { name: 'it has no container of the agent', over: { spec: { containers: [{ name: 'other' }] } } },
  {
    name: 'its container waits',
    over: { status: { containerStatuses: [{ name: 'agent', state: { waiting: {} } }] } },
  },
  {
    name: 'only its sidecar runs',
    over: { status: { containerStatuses: [{ name: 'x', state: { running: {} } }] } },
  },
])('no command runs in a pod when $name', ({ over }) => {
  expect(agentPodOf(pod(over))).toBeUndefined();
});

test.each([
  {
    name: 'the options about the node are those of the agent, in either form',
    args: [
      'agent',
      '--state-dir=/s',
      '--cri-socket',
      '/c',
      '--image-gc-period=5m',
      '--v',
      '2',
      '--kubelet-insecure-tls',
    ],
    options: ['--state-dir=/s', '--cri-socket=/c', '--kubelet-insecure-tls'],
  },
  {
    name: 'a switch takes no option as its value',
    args: ['--kubelet-insecure-tls', '--v=2'],
    options: ['--kubelet-insecure-tls'],
  },
])('the command in the pod: $name', ({ args, options }) => {
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
