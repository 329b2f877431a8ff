import { expect, test } from 'vitest';
import { agentPodOf, snapshotCommand } from '../../../../src/commands/agent-pod/pod.ts';

test('no command runs in a pod that is being deleted', () => {
  const pod = (metadata: object): object => ({
    metadata: { name: 'a', namespace: 'dustpan', ...metadata },
    spec: { nodeName: 'n', containers: [{ name: 'agent' }] },
    status: { containerStatuses: [{ name: 'agent', state: { running: {} } }] },
  });
  expect(agentPodOf(pod({}))).toMatchObject({ node: 'n', name: 'a' });
  expect(agentPodOf(pod({ deletionTimestamp: '2026-01-15T12:00:00Z' }))).toBeUndefined();
});

test('the command has the options about the node, in either form, and the entry point of the image', () => {
  const own = ['--kubelet-insecure-tls', '--state-dir=/s', '--cri-socket', '/c'];
  expect(
    snapshotCommand({ command: [], args: ['agent', ...own, '--image-gc-period=5m', '--v', '2'] }),
  ).toEqual([
    ...['/nodejs/bin/node', '/app/dist/main.js', 'snapshot', '-', '--only-node'],
    ...['--kubelet-insecure-tls', '--state-dir=/s', '--cri-socket=/c'],
  ]);
});
