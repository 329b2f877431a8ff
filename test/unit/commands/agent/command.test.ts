import { describe, expect, test } from 'vitest';
import { agentConfig, agentOptions, type AgentConfig } from '../../../../src/commands/agent/command.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

type Env = Readonly<Record<string, string>>;

const configOf = (argv: readonly string[], env: Env = {}): AgentConfig =>
  agentConfig(parsed(agentOptions(), argv, env).opts(), new FakeSystem({ env }));

test('has the defaults of the file', async () => {
  const text = JSON.stringify(configOf(['--node-name=n1']), undefined, 2);
  await expect(`${text}\n`).toMatchFileSnapshot('./__snapshots__/defaults.txt');
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
});

describe('the node', () => {
  test.each([
    ['the flag', ['--node-name=a'], { NODE_NAME: 'b', DUSTPAN_NODE_NAME: 'c' }, 'a'],
    ['else the DUSTPAN_ variable', [], { NODE_NAME: 'b', DUSTPAN_NODE_NAME: 'c' }, 'c'],
    ['else NODE_NAME', [], { NODE_NAME: 'ip-10-0-0-1.eu.internal' }, 'ip-10-0-0-1.eu.internal'],
  ])('%s', (_, argv, env, is) => {
    expect(configOf(argv, env).nodeName).toBe(is);
  });

  test('cannot be an invalid variable, which is named', () => {
    const invalid = () => configOf([], { NODE_NAME: 'Node_1' });
    expect(invalid).toThrow('agent: NODE_NAME "Node_1" is invalid. Use an object name');
  });
});
