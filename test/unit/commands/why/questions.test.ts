import { describe, expect, test } from 'vitest';
import { findTarget } from '../../../../src/commands/why/target.ts';
import type { LogListing } from '../../../../src/node/logs/list.ts';
import { pod } from '../../../builders.ts';
import { dead, down, link, log, rule } from '../../agent/containergc.world.ts';
import { terminated } from '../../controllers/podgc.world.ts';
import { ask, nodesPolicy, worldOf, type Told } from './scene.ts';

const governed = (): Told => ({ policies: [nodesPolicy({ containerGC: rule() })] });
const goneLogs = 'default_gone_11111111-2222-3333-4444-555555555555';

describe('the object of a question', () => {
  const part = {
    containers: [dead('abcd01', 60), dead('abcd02', 30), dead('abc', 10)],
    sandboxes: [down('pod', 60, { id: 'ffff01' })],
    logs: {
      roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
      entries: [log(`${goneLogs}/main/0.log`), link('g_d_m-01234567.log', `${goneLogs}/main/0.log`)],
      ...{ directories: [], complete: true },
    } satisfies LogListing,
  };
  const said = (text: string, nodeName?: string): string => {
    const target = findTarget({ kind: 'container', text, node: nodeName }, worldOf({ ...governed(), part }));
    return target.kind === 'found' ? 'found' : target.message;
  };

  test.each([
    { text: 'abcd01', is: 'found' },
    { text: 'abc', is: 'found' },
    { text: 'ffff', is: 'found' },
    {
      text: 'abcd',
      is: '"abcd" is the beginning of 2: abcd01 (container main on node-1), abcd02 (container main on node-1)',
    },
    { text: '9999', is: 'there is no container or sandbox 9999 on node-1, or not any more' },
    { text: '/var/log/nothing', is: 'there is no log /var/log/nothing on node-1' },
    { text: 'abcd01', nodeName: 'node-9', is: 'node node-9 was not looked into, only node-1' },
  ])('$text $nodeName: $is', ({ text, nodeName, is }) => {
    expect(said(text, nodeName)).toBe(is);
  });

  test('a link into a directory that goes is told by that directory', () => {
    const question = {
      kind: 'container',
      text: '/var/log/containers/g_d_m-01234567.log',
      node: undefined,
    } as const;
    const { explanation } = ask({ question, world: worldOf({ ...governed(), part }), assumeElapsed: true });
    expect(explanation).toMatchObject({ reason: 'OrphanedLogs', object: { kind: 'LogDirectory' } });
  });
});

describe('without a single pod', () => {
  const find = (namespace: string | undefined, name: string): string => {
    try {
      ask({
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
      says: 'there is no pod web/api-2, or not any more; did you mean web/api-1?',
    },
    {
      namespace: undefined,
      name: 'api-1',
      says: 'there is no pod default/api-1, or not any more; there is web/api-1',
    },
    { namespace: 'web', name: 'queue', says: 'there is no pod web/queue, or not any more' },
  ])('$says', ({ namespace, name, says }) => {
    expect(find(namespace, name)).toBe(says);
  });
});
