import { expect, test } from 'vitest';
import { ran } from '../../../fakes/command-line.ts';

test.each([
  { name: 'a missing directory', argv: [], problem: "missing required argument 'DIR'" },
  { name: 'an empty directory', argv: [''], problem: 'DIR must not be empty' },
  {
    name: 'two directories',
    argv: ['a', 'b'],
    problem: "too many arguments for 'snapshot'. Expected 1 argument but got 2.",
  },
  {
    name: 'a socket without a node name',
    argv: ['--force', 'a', '--cri-socket=/s'],
    problem: '--cri-socket needs --node-name, or NODE_NAME',
  },
  {
    name: 'standard output without --only-node',
    argv: ['-'],
    problem: 'DIR - (standard output) and --only-node need each other',
  },
  {
    name: '--only-node with a directory',
    argv: ['a', '--only-node'],
    problem: 'DIR - (standard output) and --only-node need each other',
  },
  {
    name: '--only-node without a socket',
    argv: ['-', '--only-node'],
    problem: '--only-node needs --cri-socket',
  },
  {
    name: 'an invalid socket',
    argv: ['a', '--cri-socket=s'],
    problem:
      "option '--cri-socket <SOCKET>' argument 's' is invalid. Use a socket such as /run/containerd/containerd.sock or unix:///run/crio/crio.sock.",
  },
])('$name is bad usage, reported in one line', async ({ argv, problem }) => {
  expect(await ran(['snapshot', ...argv])).toEqual({
    code: 2,
    out: '',
    err: `dustpan: snapshot: ${problem}\n`,
  });
});

test('an invalid node name in the environment is bad usage', async () => {
  const { code, err } = await ran(['snapshot', 'a', '--cri-socket=/s'], { env: { NODE_NAME: '../etc' } });
  expect(code).toBe(2);
  expect(err).toContain('NODE_NAME "../etc" is invalid');
});
