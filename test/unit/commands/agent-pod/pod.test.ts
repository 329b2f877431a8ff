import { describe, expect, test } from 'vitest';
import { chooseAgents } from '../../../../src/evaluation/node/agent-find.ts';
import { agentPodOf, snapshotCommand, type AgentPod } from '../../../../src/evaluation/node/agent-pod.ts';

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

describe('the agent of a node', () => {
  const agent = (over: Partial<AgentPod> = {}): AgentPod => ({
    ...{ node: 'n', namespace: 'dustpan', name: 'a', serviceAccount: 'agent', daemonSet: 'uid-d' },
    ...{ command: [], args: [], ...over },
  });
  const forged = agent({ namespace: 'evil', name: 'x', daemonSet: 'uid-x' });
  const known = new Set(['dustpan/agent']);
  const two = new Set(['dustpan/agent', 'evil/agent']);
  const noOne = new Set<string>();

  test.each<
    [name: string, pods: readonly AgentPod[], accounts: ReadonlySet<string> | undefined, expected: string]
  >([
    ['is its only pod', [agent()], known, 'dustpan/a'],
    ['is its only pod, if no binding can be read', [agent()], undefined, 'dustpan/a'],
    ['is not the pod of another service account', [agent(), forged], known, 'dustpan/a'],
    ['is none of another service account', [forged], known, 'pod evil/x has the labels'],
    [
      'is none of another account of the namespace',
      [agent({ serviceAccount: 'y' })],
      known,
      'pod dustpan/a has the labels',
    ],
    ['is none without a DaemonSet', [agent({ daemonSet: undefined })], known, 'pod dustpan/a has the labels'],
    ['is the newer one of two of a DaemonSet', [agent(), agent({ name: 'b' })], known, 'dustpan/b'],
    [
      'is unknown, if two releases have one',
      [agent(), forged],
      two,
      'pods dustpan/a, evil/x have the labels of its agent',
    ],
    ['is unknown, if the bindings are of others', [agent()], noOne, 'pod dustpan/a has the labels'],
  ])('%s', (_, pods, accounts, expected) => {
    const [found] = chooseAgents(pods, accounts, new Set(['dustpan']));
    const text = found && 'agent' in found ? `${found.agent.namespace}/${found.agent.name}` : found?.problem;
    expect(text?.slice(0, expected.length)).toBe(expected);
  });

  test('is unknown, if other namespaces have agents too and no binding can be read', () => {
    const found = chooseAgents([agent()], undefined, new Set(['evil', 'dustpan']));
    expect(found).toMatchObject([
      { node: 'n', problem: expect.stringContaining('(dustpan, evil)') as string },
    ]);
  });
});
