import { existsSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isCgroupInUse, removePodCgroup } from '../../../src/node/storage/pod-cgroup.ts';
import { file, temporaryDirectory } from './directory.ts';

const pod = 'kubepods/pod01234567-89ab-cdef-0123-456789abcdef';

// In plain files; test/cluster/agent/orphans.test.ts removes real control groups.
const at = temporaryDirectory();
const group = (path: string, pids = ''): void => {
  file(at(path, 'cgroup.procs'), pids);
};
const deep = Array.from({ length: 40 }, (_, i) => [`${pod}/${'d/'.repeat(i + 1)}`] as const);

type Groups = readonly (readonly [string, string?])[];
const [memory, cpu] = [`memory/${pod}`, `cpu/${pod}`];
test.each<{ name: string; groups: Groups; tree?: string; inUse: boolean }>([
  { name: 'none (v2)', groups: [[''], [pod], [`${pod}/a`]], inUse: false },
  { name: 'one (v2)', groups: [[''], [pod, '1\n']], inUse: true },
  { name: 'one below (v2)', groups: [[''], [pod], [`${pod}/a`], [`${pod}/b/c`, '1\n']], inUse: true },
  { name: 'none (v1)', groups: [[memory], [cpu]], tree: 'memory', inUse: false },
  {
    name: 'one in another tree (v1)',
    groups: [[memory], [`${cpu}/a`, '1\n'], [cpu]],
    tree: 'memory',
    inUse: true,
  },
  { name: 'a directory that is no control group', groups: [[''], [`${pod}/a`]], inUse: true },
  { name: 'deeper than is read', groups: [[''], [pod], ...deep], inUse: true },
  { name: 'gone', groups: [['']], inUse: false },
])('$name: in use is $inUse', async ({ groups, tree = '', inUse }) => {
  for (const [path, pids] of groups) group(path, pids);
  const path = at(tree, pod);
  expect(await isCgroupInUse(at(), path)).toBe(inUse);
  if (!inUse) return;
  mkdirSync(at(tree, pod, 'empty'), { recursive: true });
  expect(await removePodCgroup(at(), path)).toEqual({ kind: 'keep', reason: 'InUse' });
  expect(existsSync(at(tree, pod, 'empty'))).toBe(true);
});

test('more control groups than are read count as in use', async () => {
  group('');
  group(pod);
  for (let i = 0; i < 2_000; i += 1) group(`${pod}/${i}`);
  expect(await isCgroupInUse(at(), at(pod))).toBe(true);
});

test.each(['/elsewhere/kubepods/pod', ''])('refuses %s', async (path) => {
  group('');
  await expect(removePodCgroup(at(), path === '' ? at('kubepods') : path)).rejects.toThrow('refusing');
});
