import { expect, test } from 'vitest';
import { LenientCommand } from '../../../../src/process/option.ts';
import { planConfig, withNodeNames, withNodes, withPlan } from '../../../../src/commands/cli/plan-options.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

test.each([
  { name: 'a snapshot and not the socket', argv: ['--snapshot=d'], is: { snapshot: 'd' } },
  {
    name: 'the socket and not a snapshot',
    argv: ['--cri-socket=/s'],
    env: { DUSTPAN_SNAPSHOT: 'd' },
    is: { socket: '/s' },
  },
  { name: 'the cluster', argv: [], env: { DUSTPAN_SNAPSHOT: '' }, is: {} },
  { name: 'the socket', argv: [], is: { socket: '/s' } },
  { name: 'the socket, for its node', argv: ['--node=n'], is: { socket: '/s' } },
  { name: 'agents, for other nodes', argv: ['--node=a,b'], is: { through: ['a', 'b'] } },
  { name: 'both', argv: ['--node=n,a'], is: { socket: '/s', through: ['a'] } },
  { name: 'both, for all nodes', argv: ['--nodes'], is: { socket: '/s', through: 'all' } },
])('source of a plan: $name', ({ argv, env = { DUSTPAN_CRI_SOCKET: '/s' }, is }) => {
  const variables = { ...env, DUSTPAN_NODE_NAME: 'n' };
  const command = parsed(withPlan(withNodeNames(new LenientCommand('plan'))), argv, variables);
  const config = withNodes(planConfig(command, new FakeSystem({ env: variables })), command, 'plan');
  expect({ snapshot: config.snapshot, socket: config.node?.criSocket, through: config.through }).toEqual(is);
});

test.each([
  { now: '+7d', at: undefined, later: 604_800_000 },
  { now: '+1w1d1h30m', at: undefined, later: 696_600_000 },
  { now: '2026-01-15T12:00:00Z', at: '2026-01-15T12:00:00.000Z', later: 0 },
  { now: '', at: undefined, later: 0 },
])('a later time: --now=$now', ({ now, at, later }) => {
  const command = parsed(withPlan(new LenientCommand('plan')), [`--now=${now}`]);
  const config = planConfig(command, new FakeSystem());
  expect([config.now?.toISOString(), config.laterMs]).toEqual([at, later]);
});
