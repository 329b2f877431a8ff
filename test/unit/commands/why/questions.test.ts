import { describe, expect, test } from 'vitest';
import { findTarget } from '../../../../src/commands/why/target.ts';
import type { LogListing } from '../../../../src/node/logs/list.ts';
import { pod } from '../../../builders.ts';
import { dead, down, link, log, rule } from '../../agent/containergc.world.ts';
import { terminated } from '../../controllers/podgc.world.ts';
import { explained, nodesPolicy, worldOf, type Facts } from './fixtures.ts';

const governed = (): Facts => ({ policies: [nodesPolicy({ containerGC: rule() })] });
const goneLogs = 'default_gone_11111111-2222-3333-4444-555555555555';

describe('a container, a sandbox or a log', () => {
  const part = {
    containers: [dead('abcd01', 60), dead('abcd02', 30), dead('abc', 10)],
    sandboxes: [down('pod', 60, { id: 'ffff01' })],
    logs: {
      roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
      entries: [log(`${goneLogs}/main/0.log`), link('g_d_m-01234567.log', `${goneLogs}/main/0.log`)],
      ...{ directories: [], complete: true },
    } satisfies LogListing,
  };
  const found = (text: string, nodeName?: string): string => {
    const target = findTarget({ kind: 'container', text, node: nodeName }, worldOf({ ...governed(), part }));
    return target.kind === 'found' ? 'found' : target.message;
  };

  test.each([
    { text: 'abcd01', is: 'found' },
    { text: 'abc', is: 'found' },
    { text: 'ffff', is: 'found' },
    {
      text: 'abcd',
      is: '"abcd" is ambiguous, 2 match: abcd01 (container main on node-1), abcd02 (container main on node-1)',
    },
    { text: '9999', is: 'there is no container or sandbox 9999 on node-1, or not any more' },
    { text: '/var/log/nothing', is: 'there is no log /var/log/nothing on node-1' },
    { text: 'abcd01', nodeName: 'node-9', is: 'node node-9 was not read, only node-1' },
  ])('$text $nodeName: $is', ({ text, nodeName, is }) => {
    expect(found(text, nodeName)).toBe(is);
  });

  test('the decision about a log directory explains a link into it', () => {
    const question = {
      kind: 'container',
      text: '/var/log/containers/g_d_m-01234567.log',
      node: undefined,
    } as const;
    const { explanation } = explained({
      question,
      world: worldOf({ ...governed(), part }),
      assumeElapsed: true,
    });
    expect(explanation).toMatchObject({ reason: 'OrphanedLogs', object: { kind: 'LogDirectory' } });
  });
});

describe('a pod that does not exist', () => {
  const find = (namespace: string | undefined, name: string): string => {
    try {
      explained({
        question: { kind: 'pod', namespace, name },
        world: worldOf({ policies: [terminated({})], pods: [pod('web/api-1')] }),
      });
    } catch (err) {
      return err instanceof Error ? err.message : '';
    }
    return 'found';
  };

  test.each([
    {
      namespace: 'web',
      name: 'api-2',
      message: 'there is no pod web/api-2, or not any more; did you mean web/api-1?',
    },
    {
      namespace: undefined,
      name: 'api-1',
      message: 'there is no pod default/api-1, or not any more; there is web/api-1',
    },
    { namespace: 'web', name: 'queue', message: 'there is no pod web/queue, or not any more' },
  ])('$message', ({ namespace, name, message }) => {
    expect(find(namespace, name)).toBe(message);
  });
});
