import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeldDirectory, MountCrossing } from '../../../src/node/logs/directory.ts';
import { BudgetSpent } from '../../../src/node/logs/remove-tree.ts';
import {
  hasForeignFiles,
  isKubeletsTree,
  obstacleOf,
  removePodDirectory,
} from '../../../src/node/storage/pod-directory.ts';
import { file, temporaryDirectory } from './directory.ts';
import { canMount, runWithMounts } from './mounting.ts';

const never = new AbortController().signal;
const at = temporaryDirectory();
const inPod = (...names: readonly string[]): string => at('pods', 'uid', ...names);

async function held<T>(path: string, action: (directory: HeldDirectory) => Promise<T>): Promise<T> {
  const directory = await HeldDirectory.root(path);
  if (directory === undefined) throw new Error('missing');
  return action(directory).finally(() => directory.close());
}

const isForeign = () => held(inPod(), hasForeignFiles);
const remove = (left = 1_000, signal = never) =>
  held(at('pods'), (root) => removePodDirectory(root, 'uid', { budget: { left } }, signal));

const own = ['empty-dir', 'configmap', 'secret', 'projected', 'downward-api'];

/** Puts a link to another directory in the place of one in the pod. */
const link = (name: string) => (): void => {
  file(at('elsewhere', 'kept'));
  mkdirSync(inPod(name, '..'), { recursive: true });
  symlinkSync(at('elsewhere'), inPod(name));
};

describe('the files of a pod directory', () => {
  test.each<{ name: string; make: () => unknown; foreign: boolean }>([
    { name: 'an empty directory', make: () => mkdirSync(inPod(), { recursive: true }), foreign: false },
    { name: 'the hosts file', make: () => file(inPod('etc-hosts')), foreign: false },
    { name: 'a termination message', make: () => file(inPod('containers/main/1a2b')), foreign: false },
    ...own.map((plugin) => ({
      name: `a file in a volume of ${plugin}`,
      make: () => file(inPod('volumes', `kubernetes.io~${plugin}`, 'v/deep/er/file')),
      foreign: false,
    })),
    {
      name: 'a marker of a plugin',
      make: () => file(inPod('plugins/kubernetes.io~empty-dir/wrapped_v/ready')),
      foreign: false,
    },
    {
      name: 'an unmounted volume without files',
      make: () => mkdirSync(inPod('volumes/kubernetes.io~csi/pv/mount'), { recursive: true }),
      foreign: false,
    },
    {
      name: 'what the kubelet needs to detach a CSI volume',
      make: () => file(inPod('volumes/kubernetes.io~csi/pv/vol_data.json')),
      foreign: true,
    },
    {
      name: 'data of an NFS volume',
      make: () => file(inPod('volumes/kubernetes.io~nfs/v/data')),
      foreign: true,
    },
    {
      name: 'a volume of an unknown plugin',
      make: () => file(inPod('volumes/x~empty-dir/v/f')),
      foreign: true,
    },
    { name: 'a file among the plugins', make: () => file(inPod('volumes/file')), foreign: true },
    { name: 'a block device link', make: link('volumeDevices/kubernetes.io~csi/pv'), foreign: true },
    { name: 'a subpath file', make: () => file(inPod('volume-subpaths/v/main/0')), foreign: true },
    { name: 'a file of somebody', make: () => file(inPod('note.txt')), foreign: true },
    { name: 'a file with a name of the kubelet', make: () => file(inPod('containers')), foreign: true },
    { name: 'a link in place of a directory', make: link('containers'), foreign: true },
    { name: 'a link in place of the volumes', make: link('volumes'), foreign: true },
    { name: 'files elsewhere', make: () => file(inPod('etc-hosts', 'file')), foreign: true },
    {
      name: 'a tree without end',
      make: () => mkdirSync(inPod(...Array.from({ length: 9 }, () => 'd')), { recursive: true }),
      foreign: true,
    },
    {
      name: 'a name that is not UTF-8',
      make: () => {
        mkdirSync(inPod(), { recursive: true });
        writeFileSync(Buffer.concat([Buffer.from(`${inPod()}/`), Buffer.from([0xff])]), '');
      },
      foreign: true,
    },
    {
      name: 'more directories than are read',
      make: () => {
        for (let i = 0; i < 1_001; i += 1) mkdirSync(inPod('volumes', String(i)), { recursive: true });
      },
      foreign: true,
    },
  ])('$name: foreign is $foreign', async ({ make, foreign }) => {
    make();
    expect(await isForeign()).toBe(foreign);
    const removal = await remove();
    expect(removal.kind).toBe(foreign ? 'keep' : 'done');
    expect(existsSync(inPod())).toBe(foreign);
  });
});

test('a removal frees the bytes of the files, and follows no link', async () => {
  file(at('elsewhere', 'kept'), 500);
  file(inPod('etc-hosts'), 100);
  file(inPod('volumes/kubernetes.io~empty-dir/v/file'), 50);
  symlinkSync(at('elsewhere'), inPod('volumes/kubernetes.io~empty-dir/v/link'));
  const removal = await remove();
  expect(removal.kind).toBe('done');
  expect(removal).toHaveProperty('freedBytes', 150 + at('elsewhere').length);
  expect(existsSync(at('elsewhere', 'kept'))).toBe(true);
  expect(readdirSync(at('pods'))).toEqual([]);
});

test('a large tree is removed in several calls', async () => {
  for (let i = 0; i < 25; i += 1) file(inPod('volumes/kubernetes.io~empty-dir/v', `file-${i}`));
  const results = [await remove(10), await remove(10), await remove(10)];
  expect(results).toMatchObject([
    { kind: 'keep', reason: 'PacingLimit' },
    { kind: 'keep', reason: 'PacingLimit' },
    { kind: 'done' },
  ]);
  expect(existsSync(inPod())).toBe(false);
});

test('a shutdown interrupts a removal', async () => {
  file(inPod('volumes/kubernetes.io~empty-dir/v/file'));
  await expect(remove(10, AbortSignal.abort())).rejects.toThrow();
  expect(existsSync(inPod())).toBe(true);
});

test.each([
  { err: new MountCrossing(), reason: 'Mounted' },
  { err: Object.assign(new Error('busy'), { code: 'EBUSY' }), reason: 'Mounted' },
  { err: Object.assign(new Error('read-only'), { code: 'EROFS' }), reason: 'ReadOnly' },
  { err: Object.assign(new Error('not empty'), { code: 'ENOTEMPTY' }), reason: 'NotEmpty' },
  { err: Object.assign(new Error('no directory'), { code: 'ENOTDIR' }), reason: 'NotEmpty' },
  { err: Object.assign(new Error('a link'), { code: 'ELOOP' }), reason: 'NotEmpty' },
  { err: new BudgetSpent(), reason: 'PacingLimit' },
  { err: Object.assign(new Error('denied'), { code: 'EACCES' }), reason: undefined },
])('the error $err means $reason', ({ err, reason }) => {
  expect(obstacleOf(err)).toBe(reason);
});

test('property: only the five plugins and the directory of the containers end with the pod', () => {
  const name = fc.constantFrom(
    'volumes',
    'plugins',
    'containers',
    'kubernetes.io~empty-dir',
    'kubernetes.io~csi',
    'x',
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), (names) => {
      const path = names.join('/');
      const isOwn = path === 'containers' || /^(volumes|plugins)\/kubernetes\.io~empty-dir$/.test(path);
      expect(isKubeletsTree(names)).toBe(isOwn);
    }),
  );
});

describe.skipIf(!canMount)('a mount point in a pod directory (needs root and mount namespaces)', () => {
  test.each([
    { name: 'another file system', mount: (volume: string) => `mount -t tmpfs none "${volume}"` },
    { name: 'a bind mount', mount: (volume: string) => `mount --bind "${at('elsewhere')}" "${volume}"` },
    {
      name: 'a mount that the table does not show',
      mount: (volume: string) => `mount -t tmpfs none "${volume}"`,
      isHidden: true,
    },
  ])('keeps it: $name', ({ mount, isHidden = false }) => {
    file(at('elsewhere', 'kept'));
    file(inPod('etc-hosts'));
    const volume = inPod('volumes/kubernetes.io~empty-dir/v');
    mkdirSync(volume, { recursive: true });
    const uid = '01234567-89ab-cdef-0123-456789abcdef';
    const roots = { podDirectories: at('pods'), logDirectories: at('logs'), cgroups: at('cgroup') };
    const mounts = isHidden
      ? `mounts: () => Promise.resolve([{ point: '/', isReadOnly: false, isPropagated: true }])`
      : '';
    const program = `
      import { OrphanFinder } from './src/node/storage/orphans-finder.ts';
      new OrphanFinder({ roots: ${JSON.stringify(roots)}, ${mounts} })
        .removeDirectory(${JSON.stringify(at('pods', uid))}, new AbortController().signal)
        .then(JSON.stringify, String).then(console.log);`;
    const moved = volume.replace(inPod(), at('pods', uid));
    const out = runWithMounts(
      at(),
      program,
      (run) =>
        `mount --make-rshared / && mv "${inPod()}" "${at('pods', uid)}" && ${mount(moved)} && : > "${moved}/inside" && ${run}; ls "${moved}"; mount --make-rprivate /`,
    );
    expect(out).toContain('{"kind":"keep","reason":"Mounted"}');
    expect(out).toContain('inside');
    expect(existsSync(at('elsewhere', 'kept'))).toBe(true);
  });
});
