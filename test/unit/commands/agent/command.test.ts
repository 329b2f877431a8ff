import { describe, expect, test } from 'vitest';
import { agentConfig, agentOptions, type AgentConfig } from '../../../../src/commands/agent/command.ts';
import { UsageError } from '../../../../src/commands/cli/exit.ts';
import { parsed, problemOf } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

type Env = Readonly<Record<string, string>>;

const refusal = (argv: readonly string[], env: Env = {}) => problemOf(agentOptions(), argv, env);

const configOf = (argv: readonly string[], env: Env = {}): AgentConfig =>
  agentConfig(parsed(agentOptions(), argv, env).opts(), new FakeSystem({ env }));

function problemsOf(argv: readonly string[], env: Env = {}): readonly string[] {
  try {
    configOf(argv, env);
  } catch (err) {
    if (err instanceof UsageError) return err.problems;
    throw err;
  }
  return [];
}

test('has the documented defaults', () => {
  const trust = { isInsecure: false, caFile: undefined, ownFile: '/var/lib/kubelet/pki/kubelet.crt' };
  expect(configOf(['--node-name=n1'])).toMatchObject({
    kube: { homes: [], kubeconfig: undefined, serviceHost: undefined },
    kubeApiQps: 5,
    kubeApiBurst: 10,
    nodeName: 'n1',
    criSocket: undefined,
    runtimeRequestTimeoutMs: 120_000,
    imageGcPeriodMs: 300_000,
    containerGcPeriodMs: 60_000,
    localStoragePeriodMs: 10_000,
    localStoragePodMetrics: false,
    kubelet: { endpoint: 'https://127.0.0.1:10250', trust },
    directories: {
      state: '/var/lib/dustpan',
      podLogs: '/var/log/pods',
      containerLogs: '/var/log/containers',
      kubeletRoot: '/var/lib/kubelet',
    },
    metricsBindAddress: ':8080',
    metricsSecurity: { certDirectory: undefined, isAuthorized: false },
    healthProbeBindAddress: ':8081',
    v: 2,
    logFormat: 'json',
  });
});

describe('the kubelet', () => {
  const named = ['--node-name=n1'];
  const env = { HOST_IP: '10.0.0.7' };

  test('has by default the address of the node, and a certificate below its root directory', () => {
    const { kubelet } = configOf([...named, '--kubelet-root-dir=/data/kubelet'], env);
    const ownFile = '/data/kubelet/pki/kubelet.crt';
    expect(kubelet).toMatchObject({ endpoint: 'https://10.0.0.7:10250', trust: { ownFile } });
  });

  test('has the address and the trust that the flags set', () => {
    const argv = ['--kubelet-endpoint=https://[fd00::1]:250', '--kubelet-certificate-authority=/ca'];
    const { kubelet } = configOf([...named, ...argv, '--kubelet-insecure-tls'], env);
    const trust = { isInsecure: true, caFile: '/ca' };
    expect(kubelet).toMatchObject({ endpoint: 'https://[fd00::1]:250', trust });
  });

  test.each(['http://10.0.0.7:10250', '10.0.0.7:10250', 'https://10.0.0.7/stats', 'https://'])(
    'cannot have the address %s',
    (url) => {
      expect(refusal([`--kubelet-endpoint=${url}`])).toMatch(
        /kubelet-endpoint.* is invalid\. Use a URL such as https:/,
      );
    },
  );
});

describe('the node', () => {
  test.each([
    ['the flag', ['--node-name=a'], { NODE_NAME: 'b', DUSTPAN_NODE_NAME: 'c' }, 'a'],
    ['else the DUSTPAN_ variable', [], { NODE_NAME: 'b', DUSTPAN_NODE_NAME: 'c' }, 'c'],
    ['else NODE_NAME', [], { NODE_NAME: 'ip-10-0-0-1.eu.internal' }, 'ip-10-0-0-1.eu.internal'],
  ])('%s', (_, argv, env, is) => {
    expect(configOf(argv, env).nodeName).toBe(is);
  });

  test.each([
    { argv: [], env: {} },
    { argv: ['--node-name='], env: {} },
    { argv: [], env: { NODE_NAME: '' } },
  ])('a missing name is one line: $argv $env', ({ argv, env }) => {
    expect(problemsOf(argv, env)).toEqual([
      'agent: --node-name is required: pass it, or set NODE_NAME or DUSTPAN_NODE_NAME (in a pod: from the field spec.nodeName)',
    ]);
  });

  test('an invalid name is refused', () => {
    expect(problemsOf([], { NODE_NAME: 'Node_1' })).toEqual([
      expect.stringContaining('agent: NODE_NAME "Node_1" is invalid. Use an object name'),
    ]);
    expect(refusal(['--node-name=a/b'])).toContain('Use an object name');
  });
});

test.each([
  { text: '/run/containerd/containerd.sock', isValid: true },
  { text: 'unix:///run/crio/crio.sock', isValid: true },
  { text: 'unix://run/crio/crio.sock', isValid: false },
  { text: 'tcp://127.0.0.1:1234', isValid: false },
  { text: 'containerd.sock', isValid: false },
])('--cri-socket=$text', ({ text, isValid }) => {
  expect(refusal([`--cri-socket=${text}`]) === undefined).toBe(isValid);
});

test.each(['state-dir', 'pod-logs-dir', 'container-logs-dir', 'kubelet-root-dir'])(
  '--%s is an absolute path',
  (name) => {
    expect(refusal([`--${name}=/x`])).toBeUndefined();
    for (const text of ['x', ''])
      expect(refusal([`--${name}=${text}`])).toContain('is invalid. Use an absolute path.');
  },
);
