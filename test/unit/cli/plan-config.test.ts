import { expect, test } from 'vitest';
import { parseFlags } from '../../../src/cli/flags.ts';
import { planConfig } from '../../../src/cli/plan-config.ts';
import { planFlags } from '../../../src/cli/plan-flags.ts';
import { FakeSystem } from '../../fakes/system.ts';

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
])('what is planned from: $name', ({ argv, env, from }) => {
  const variables = { ...env, DUSTPAN_NODE_NAME: 'n' };
  const line = parseFlags(Object.values(planFlags), argv, variables);
  const { snapshot, node } = planConfig(line, new FakeSystem({ env: variables }));
  expect([snapshot, node?.criSocket]).toEqual(from);
});
