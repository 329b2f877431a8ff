import { expect, test } from 'vitest';
import { LenientCommand } from '../../../../src/commands/cli/option.ts';
import { planConfig, withPlan } from '../../../../src/commands/plan/command.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

test.each([
  { name: 'the socket of a node', argv: [], env: { DUSTPAN_CRI_SOCKET: '/s' }, from: [undefined, '/s'] },
  {
    name: 'a snapshot, where the socket of the node is in the environment',
    ...{ argv: ['--snapshot=d'], env: { DUSTPAN_CRI_SOCKET: '/s' }, from: ['d', undefined] },
  },
  {
    name: 'the socket, where a snapshot is in the environment',
    ...{ argv: ['--cri-socket=/s'], env: { DUSTPAN_SNAPSHOT: 'd' }, from: [undefined, '/s'] },
  },
])('source of a plan: $name', ({ argv, env, from }) => {
  const variables = { ...env, DUSTPAN_NODE_NAME: 'n' };
  const command = parsed(withPlan(new LenientCommand('plan')), argv, variables);
  const { snapshot, node } = planConfig(command, new FakeSystem({ env: variables }));
  expect([snapshot, node?.criSocket]).toEqual(from);
});

test('a snapshot and a socket, both on the command line, exclude each other', () => {
  const argv = ['--snapshot=d', '--cri-socket=/s', '--node-name=n'];
  const command = parsed(withPlan(new LenientCommand('plan')), argv);
  expect(() => planConfig(command, new FakeSystem())).toThrow(
    '--cri-socket and --snapshot exclude each other',
  );
});
