import { expect, test } from 'vitest';
import { ran } from '../../../fakes/command-line.ts';

test.each([
  ['a missing directory', [], "missing required argument 'DIR'"],
  ['an empty directory', [''], 'DIR must not be empty'],
  ['two directories', ['a', 'b'], "too many arguments for 'snapshot'. Expected 1 argument but got 2."],
  [
    'a socket without a node name',
    ['--force', 'a', '--cri-socket=/s'],
    '--cri-socket needs --node-name, or NODE_NAME',
  ],
  ['standard output without --only-node', ['-'], 'DIR - (standard output) and --only-node need each other'],
  [
    '--only-node with a directory',
    ['a', '--only-node'],
    'DIR - (standard output) and --only-node need each other',
  ],
  ['--only-node without a socket', ['-', '--only-node'], '--only-node needs --cri-socket'],
  [
    'an invalid socket',
    ['a', '--cri-socket=s'],
    "option '--cri-socket <SOCKET>' argument 's' is invalid. Use a socket such as /run/containerd/containerd.sock or unix:///run/crio/crio.sock.",
  ],
])('%s is bad usage, reported in one line', async (_, argv, problem) => {
  expect(await ran(['snapshot', ...argv])).toEqual({
    code: 2,
    out: '',
    err: `dustpan: snapshot: ${problem.replace(/\.$/, '')}; see dustpan snapshot -h\n`,
  });
});
