import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { OpenDirectory, MountCrossing } from '../../../src/node/logs/directory.ts';
import { BudgetSpent } from '../../../src/node/logs/remove-tree.ts';
import {
  contentsOf,
  isKubeletsTree,
  obstacleOf,
  removePodDirectory,
} from '../../../src/node/storage/pod-directory.ts';
import type { CsiVolume } from '../../../src/node/storage/csi-volume.ts';
import { csiAttachment, file, temporaryDirectory, writeVolumeData } from './directory.ts';
import { canMount, runWithMounts } from './mounting.ts';

const never = new AbortController().signal;
const at = temporaryDirectory();
const inPod = (...names: readonly string[]): string => at('pods', 'uid', ...names);

async function held<T>(path: string, action: (directory: OpenDirectory) => Promise<T>): Promise<T> {
  const directory = await OpenDirectory.root(path);
  if (directory === undefined) throw new Error('missing');
  return action(directory).finally(() => directory.close());
}

const remove = (left = 1_000, signal = never, detached: readonly string[] = []) =>
  held(at('pods'), (root) => {
    const mayRemove = ({ attachments }: CsiVolume) => attachments.every((name) => detached.includes(name));
    return removePodDirectory(root, 'uid', { budget: { left }, mayRemove }, signal);
  });

const makeOwn = (): void => {
  for (const plugin of ['empty-dir', 'configmap', 'secret', 'projected', 'downward-api'])
    file(inPod(`volumes/kubernetes.io~${plugin}/v/deep/er/file`));
};

/** Puts a link to another directory in the place of one in the pod. */
const link = (name: string) => (): void => {
  file(at('elsewhere', 'kept'));
  mkdirSync(inPod(name, '..'), { recursive: true });
  symlinkSync(at('elsewhere'), inPod(name));
};

const made =
  (...names: readonly string[]) =>
  (): unknown =>
    file(inPod(...names));
const makeDirectory = (name: string) => (): unknown => mkdirSync(inPod(name), { recursive: true });
const makeStrangeName = (): void => {
  mkdirSync(inPod(), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${inPod()}/`), Buffer.from([0xff])]), '');
};
const makeMany = (): void => {
  for (let i = 0; i < 1_001; i += 1) mkdirSync(inPod('volumes', String(i)), { recursive: true });
};

const csiVolume = 'volumes/kubernetes.io~csi/pv';
const volumeData = `${csiVolume}/vol_data.json`;

describe('the files of a pod directory', () => {
  test.each<readonly [string, boolean, () => unknown]>([
    ['an empty directory', false, makeDirectory('')],
    ['the hosts file', false, made('etc-hosts')],
    ['a termination message', false, made('containers/main/1a2b')],
    ['files in the volumes of the five plugins of a pod', false, makeOwn],
    ['a marker of a plugin', false, made('plugins/kubernetes.io~empty-dir/wrapped_v/ready')],
    ['an unmounted volume without files', false, makeDirectory('volumes/kubernetes.io~csi/pv/mount')],
    ['unreadable data of a CSI volume', true, made(volumeData)],
    ['data of a CSI volume elsewhere', true, made('volumes/kubernetes.io~csi/vol_data.json')],
    ['data of a CSI volume in its volume', true, made('volumes/kubernetes.io~csi/pv/mount/vol_data.json')],
    ['a link in place of the data of a CSI volume', true, link(volumeData)],
    ['data of an NFS volume', true, made('volumes/kubernetes.io~nfs/v/data')],
    ['a volume of an unknown plugin', true, made('volumes/x~empty-dir/v/f')],
    ['a file among the plugins', true, made('volumes/file')],
    ['a block device link', true, link('volumeDevices/kubernetes.io~csi/pv')],
    ['a subpath file', true, made('volume-subpaths/v/main/0')],
    ['a file of somebody', true, made('note.txt')],
    ['a file with a name of the kubelet', true, made('containers')],
    ['a link in place of a directory', true, link('containers')],
    ['a link in place of the volumes', true, link('volumes')],
    ['files elsewhere', true, made('etc-hosts', 'file')],
    ['a tree without end', true, makeDirectory('d/d/d/d/d/d/d/d/d')],
    ['a name that is not UTF-8', true, makeStrangeName],
    ['more directories than are read', true, makeMany],
  ])('%s: foreign is %s', async (_name, foreign, make) => {
    make();
    const { foreign: found } = await held(inPod(), contentsOf);
    expect(found !== undefined).toBe(foreign);
    expect((await remove()).kind).toBe(foreign ? 'keep' : 'done');
    expect(existsSync(inPod())).toBe(foreign);
  });
});

describe('the data of a CSI volume', () => {
  const attachments = [`csi-${'a'.repeat(64)}`, csiAttachment];
  const rest = (): readonly string[] => readdirSync(inPod(csiVolume)).toSorted();
  beforeEach(() => {
    writeVolumeData(inPod(csiVolume));
    mkdirSync(inPod(csiVolume, 'mount'));
  });

  test('names the VolumeAttachments and the mount for the node', async () => {
    expect(await held(inPod(), contentsOf)).toMatchObject({ foreign: undefined, volumes: [{ attachments }] });
  });

  test('is removed only if none of its VolumeAttachments exists', async () => {
    for (const detached of [[], attachments.slice(0, 1), attachments.slice(1)])
      expect(await remove(100, never, detached)).toEqual({ kind: 'keep', reason: 'NotEmpty' });
    expect(rest()).toEqual(['mount', 'vol_data.json']);
    expect(await remove(100, never, attachments)).toMatchObject({ kind: 'done' });
    expect(existsSync(inPod())).toBe(false);
  });

  test.each(['mount/data', 'mount/a/b/data', 'other.json'])('is kept beside the file %s', async (name) => {
    file(inPod(csiVolume, name), 7);
    expect(await remove(100, never, attachments)).toEqual({ kind: 'keep', reason: 'NotEmpty' });
    const { foreign } = await held(inPod(), contentsOf);
    expect(foreign).toBe(`${csiVolume}/${name}`);
    expect(existsSync(inPod(csiVolume, name))).toBe(true);
    expect(rest()).toContain('vol_data.json');
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

const coded = (code: string): Error => Object.assign(new Error(code), { code });
test.each([
  { err: new MountCrossing(), reason: 'Mounted' },
  { err: coded('EBUSY'), reason: 'Mounted' },
  { err: coded('EROFS'), reason: 'ReadOnly' },
  { err: coded('ENOTEMPTY'), reason: 'NotEmpty' },
  { err: coded('ENOTDIR'), reason: 'NotEmpty' },
  { err: coded('ELOOP'), reason: 'NotEmpty' },
  { err: new BudgetSpent(), reason: 'PacingLimit' },
  { err: coded('EACCES'), reason: undefined },
])('the error $err means $reason', ({ err, reason }) => {
  expect(obstacleOf(err)).toBe(reason);
});

test('property: only the five plugins and the directory of the containers end with the pod', () => {
  const names = ['volumes', 'plugins', 'containers', 'kubernetes.io~empty-dir', 'kubernetes.io~csi', 'x'];
  const name = fc.constantFrom(...names);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), (names) => {
      const path = names.join('/');
      const isOwn = path === 'containers' || /^(volumes|plugins)\/kubernetes\.io~empty-dir$/.test(path);
      expect(isKubeletsTree(names)).toBe(isOwn);
    }),
  );
});

test.skipIf(!canMount)(
  'a mount that the table does not show keeps a pod directory (needs root and mount namespaces)',
  () => {
    const uid = '01234567-89ab-cdef-0123-456789abcdef';
    const volume = at('pods', uid, 'volumes/kubernetes.io~empty-dir/v');
    mkdirSync(volume, { recursive: true });
    mkdirSync(at('cgroup', 'kubepods'), { recursive: true });
    file(at('cgroup', 'cgroup.procs'));
    const roots = { podDirectories: at('pods'), logDirectories: at('logs'), cgroups: at('cgroup') };
    const program = `
      import { OrphanFinder } from './src/node/storage/orphans-finder.ts';
      const mounts = () => Promise.resolve([{ point: '/', isReadOnly: false, isPropagated: true }]);
      new OrphanFinder({ roots: ${JSON.stringify(roots)}, mounts, readAttachment: () => Promise.reject(new Error()) })
        .removeDirectory(${JSON.stringify(at('pods', uid))}, undefined, new AbortController().signal)
        .then(JSON.stringify, String).then(console.log);`;
    const out = runWithMounts(
      at(),
      program,
      (run) => `mount -t tmpfs none "${volume}" && : > "${volume}/inside" && ${run}; ls "${volume}"`,
    );
    expect(out).toContain('{"kind":"keep","reason":"Mounted"}');
    expect(out).toContain('inside');
  },
);
