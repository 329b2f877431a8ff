import { describe, expect, test } from 'vitest';
import { agentConfig, agentOptions, type AgentConfig } from '../../../../src/daemon/agent/command.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

const configOf = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): AgentConfig =>
  agentConfig(parsed(agentOptions(), argv, env).opts(), new FakeSystem({ env }));

test('has the defaults of the file', async () => {
  const text = JSON.stringify(configOf(['--node-name=n1']), undefined, 2);
  await expect(`${text}\n`).toMatchFileSnapshot('./__snapshots__/defaults.txt');
});

test('the kubelet has by default the address of the node and a certificate of its own, else those of the flags', () => {
  const at = (...flags: readonly string[]) =>
    configOf(['--node-name=n1', '--kubelet-root-dir=/data/kubelet', ...flags], { HOST_IP: '10.0.0.7' })
      .kubelet;
  const ownFile = '/data/kubelet/pki/kubelet.crt';
  expect(at()).toMatchObject({ endpoint: 'https://10.0.0.7:10250', trust: { ownFile } });
  const flags = ['--kubelet-endpoint=https://[fd00::1]:250', '--kubelet-certificate-authority=/ca'];
  const trust = { isInsecure: true, caFile: '/ca' };
  expect(at(...flags, '--kubelet-insecure-tls')).toMatchObject({ endpoint: 'https://[fd00::1]:250', trust });
});

describe('the node', () => {
  test.each([
    ['the flag', ['--node-name=a'], { NODE_NAME: 'b', DUSTPAN_NODE_NAME: 'c' }, 'a'],
    ['else the DUSTPAN_ variable', [], { NODE_NAME: 'b', DUSTPAN_NODE_NAME: 'c' }, 'c'],
    ['else NODE_NAME', [], { NODE_NAME: 'ip-10-0-0-1.eu.internal' }, 'ip-10-0-0-1.eu.internal'],
  ])('%s', (_, argv, env, is) => expect(configOf(argv, env).nodeName).toBe(is));

  test('cannot be an invalid variable, which is named', () =>
    expect(() => configOf([], { NODE_NAME: 'Node_1' })).toThrow('agent: NODE_NAME "Node_1" is invalid.'));
});
