import { expect, test } from 'vitest';
import { dispatch } from '../../../src/cli/dispatch.ts';
import { snapshotCommand } from '../../../src/cli/snapshot-command.ts';
import { FakeSystem } from '../../fakes/system.ts';

test.each([
  { name: 'no directory', argv: [], problem: 'DIR is missing' },
  { name: 'an empty one', argv: [''], problem: 'DIR must not be empty' },
  { name: 'two', argv: ['a', 'b'], problem: 'unexpected argument "b"' },
  {
    name: 'a runtime of a nameless node',
    argv: ['a', '--cri-socket=/s'],
    problem: '--cri-socket needs --node-name, or NODE_NAME',
  },
  {
    name: 'a socket that is none',
    argv: ['a', '--cri-socket=s'],
    problem:
      '--cri-socket: "s" is not a socket such as /run/containerd/containerd.sock or unix:///run/crio/crio.sock',
  },
])('$name is bad usage, told in one line', async ({ argv, problem }) => {
  const system = new FakeSystem();
  expect(await dispatch([snapshotCommand], ['snapshot', ...argv], system)).toBe(2);
  expect(system.err).toBe(`dustpan: snapshot: ${problem}\n`);
  expect(system.out).toBe('');
});

test('a node whose name in the environment is none is bad usage', async () => {
  const system = new FakeSystem({ env: { NODE_NAME: '../etc' } });
  expect(await dispatch([snapshotCommand], ['snapshot', 'a', '--cri-socket=/s'], system)).toBe(2);
  expect(system.err).toContain('NODE_NAME: "../etc" is not an object name');
});

test('the help names the directory', async () => {
  const system = new FakeSystem();
  expect(await dispatch([snapshotCommand], ['snapshot', '--help'], system)).toBe(0);
  expect(system.out).toContain('    dustpan snapshot DIR [--flag=value]...\n');
});
