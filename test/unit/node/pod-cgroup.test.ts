import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isCgroupInUse, removePodCgroup } from '../../../src/node/storage/pod-cgroup.ts';
import { file, temporaryDirectory } from './directory.ts';

const pod = 'kubepods/pod01234567-89ab-cdef-0123-456789abcdef';

describe('the processes of a control group, in plain files', () => {
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
    expect(await isCgroupInUse(at(), at(tree, pod))).toBe(inUse);
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
});

/** The tree of cgroup v2, also where v1 has the controllers; else one tree of v1, which behaves the same here. */
const tree = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/pids'].find((path) =>
  existsSync(join(path, 'cgroup.procs')),
);

function canMakeGroups(): boolean {
  try {
    if (tree === undefined) return false;
    rmdirSync(mkdtempSync(join(tree, 'dustpan-test-')));
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!canMakeGroups())('real control groups (needs root and a writable tree)', () => {
  let root = '';
  const at = (...names: readonly string[]): string => join(root, ...names);
  beforeEach(() => {
    root = mkdtempSync(join(tree ?? '', 'dustpan-test-'));
    mkdirSync(at(pod, 'container/nested'), { recursive: true });
    mkdirSync(at(pod, 'other'));
  });
  afterEach(() => {
    execFileSync('find', [root, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+']);
  });
  const groupsIn = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));

  test('empty ones are removed, deepest first, and nothing beside them', async () => {
    mkdirSync(at('kubepods/neighbour'));
    expect(await removePodCgroup(root, at(pod))).toEqual({ kind: 'done', freedBytes: 0 });
    expect(groupsIn(at('kubepods'))).toEqual(['neighbour']);
    expect(await removePodCgroup(root, at(pod))).toEqual({ kind: 'done', freedBytes: 0 });
  });

  test('one with a process stays whole, and the process lives', async () => {
    const child = spawn('sleep', ['60']);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      for (const group of [pod, `${pod}/container/nested`]) {
        writeFileSync(at(group, 'cgroup.procs'), String(child.pid));
        expect(await removePodCgroup(root, at(pod))).toEqual({ kind: 'keep', reason: 'InUse' });
        expect(groupsIn(at(pod)).sort()).toEqual(['container', 'other']);
      }
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    const removal = async (): Promise<string> => (await removePodCgroup(root, at(pod))).kind;
    await expect.poll(removal).toBe('done');
  });
});
