import { expect, test } from 'vitest';
import { LenientCommand } from '../../../../src/commands/cli/option.ts';
import { planConfig, withNodeNames, withNodes, withPlan } from '../../../../src/commands/plan/command.ts';
import { parsed, problemOf } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

const sourceOf = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const variables = { ...env, DUSTPAN_NODE_NAME: 'n' };
  const command = parsed(withPlan(new LenientCommand('plan')), argv, variables);
  const { snapshot, node } = planConfig(command, new FakeSystem({ env: variables }));
  return [snapshot, node?.criSocket];
};

const socket = { DUSTPAN_CRI_SOCKET: '/s' };

test.each([
  ['the socket of a node', [], socket, [undefined, '/s']],
  [
    'a snapshot, where the environment has the socket of the node',
    ['--snapshot=d'],
    socket,
    ['d', undefined],
  ],
  [
    'the socket, where the environment has a snapshot',
    ['--cri-socket=/s'],
    { DUSTPAN_SNAPSHOT: 'd' },
    [undefined, '/s'],
  ],
  [
    'the cluster, where the environment has an empty snapshot',
    [],
    { DUSTPAN_SNAPSHOT: '' },
    [undefined, undefined],
  ],
])('source of a plan: %s', (_, argv, env, from) => {
  expect(sourceOf(argv, env)).toEqual(from);
});

test.each([
  { name: 'none', argv: [], socket: '/s', through: undefined },
  { name: 'others', argv: ['--node=a,b'], socket: undefined, through: ['a', 'b'] },
  { name: 'that of the socket', argv: ['--node=n'], socket: '/s', through: undefined },
  { name: 'that of the socket and another', argv: ['--node=n,a'], socket: '/s', through: ['a'] },
  { name: 'all', argv: ['--nodes'], socket: '/s', through: 'all' },
])('nodes of a plan, where the environment has a socket: $name', ({ argv, socket, through }) => {
  const env = { DUSTPAN_CRI_SOCKET: '/s', DUSTPAN_NODE_NAME: 'n' };
  const command = parsed(withPlan(withNodeNames(new LenientCommand('plan'))), argv, env);
  const config = withNodes(planConfig(command, new FakeSystem({ env })), command, 'plan');
  expect([config.node?.criSocket, config.through]).toEqual([socket, through]);
});

test.each([
  { now: '+24h', later: 86_400_000 },
  { now: '+7d', later: 604_800_000 },
  { now: '+1w1d1h30m', later: 696_600_000 },
  { now: '2026-01-15T12:00:00Z', later: 0 },
  { now: '', later: 0 },
])('a later time: --now=$now', ({ now, later }) => {
  const command = parsed(withPlan(new LenientCommand('plan')), [`--now=${now}`]);
  const { now: at, laterMs } = planConfig(command, new FakeSystem());
  expect([at?.toISOString(), laterMs]).toEqual([
    now.includes('T') ? '2026-01-15T12:00:00.000Z' : undefined,
    later,
  ]);
});

test.each(['24h', '-24h', '+', '+1y', '+24', '+7d1d', '+999999d'])('--now=%s is refused', (now) => {
  expect(problemOf(withPlan(new LenientCommand('plan')), [`--now=${now}`])).toContain('RFC 3339 time');
});
