import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { readMounts, type Mount } from '../../../src/node/storage/mounts.ts';
import { OrphanFinder } from '../../../src/node/storage/orphans-finder.ts';
import {
  listOrphanPlaces,
  knownPodUids,
  planUnclaimed,
  type KnownPods,
  type OrphanPaths,
  type OrphanPlace,
} from '../../../src/node/storage/orphans.ts';
import { container, sandbox } from '../../fakes/runtime.ts';
import { csiAttachment, csiStaging, file, temporaryDirectory, writeVolumeData } from './directory.ts';

const never = new AbortController().signal;
const uid = (digit: string): string => `${digit.repeat(8)}-1111-2222-3333-444444444444`;
const underscored = (digit: string): string => uid(digit).replaceAll('-', '_');
const staticUid = 'f'.repeat(32);
const at = temporaryDirectory();

const known = knownPodUids({
  pods: [
    { uid: uid('a'), configHash: undefined },
    { uid: 'mirror', configHash: staticUid },
  ],
  sandboxes: [sandbox('x', { podUid: uid('b') })],
  containers: [
    container('c', { labels: { 'io.kubernetes.pod.uid': uid('c') } }),
    container('d', { labels: {} }),
  ],
});

test.each<readonly [OrphanPlace, string, string, boolean]>([
  ['podDirectories', 'a pod of the API server', uid('a'), false],
  ['podDirectories', 'a static pod', staticUid, false],
  ['podDirectories', 'a pod with a sandbox', uid('b'), false],
  ['podDirectories', 'a pod with a container', uid('c'), false],
  ['podDirectories', 'an unknown pod', uid('d'), true],
  ['podDirectories', 'an unknown static pod', 'e'.repeat(32), true],
  ['podDirectories', 'not a pod', 'lost+found', false],
  ['logDirectories', 'logs of an unknown pod', `ns_web_${uid('d')}`, true],
  ['logDirectories', 'logs of a known pod', `ns_web_${uid('a')}`, false],
  ['logDirectories', 'another directory', 'audit', false],
  ['podCgroups', 'an unknown pod, cgroupfs', `pod${uid('d')}`, true],
  ['podCgroups', 'an unknown pod, systemd', `kubepods-besteffort-pod${underscored('d')}.slice`, true],
  ['podCgroups', 'a known pod, systemd', `kubepods-pod${underscored('a')}.slice`, false],
  ['podCgroups', 'a QoS class', 'kubepods-burstable.slice', false],
])('%s, %s: %s is unclaimed: %s', (place, _name, directory, isUnclaimed) => {
  const nowhere: OrphanPaths = { podDirectories: [], logDirectories: [], podCgroups: [] };
  const path = `/somewhere/${directory}`;
  const unclaimed = planUnclaimed({ ...nowhere, [place]: [path] }, known)[place];
  expect(unclaimed?.map((one) => one.path)).toEqual(isUnclaimed ? [path] : []);
});

const roots = () => ({ podDirectories: at('pods'), logDirectories: at('logs'), cgroups: at('cgroup') });

const kubelets = 'kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods';
test.each([
  [
    'v2, systemd',
    `kubepods.slice/kubepods-pod${underscored('a')}.slice`,
    `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${underscored('b')}.slice`,
  ],
  ['v2, cgroupfs', `kubepods/pod${uid('a')}`, `kubepods/besteffort/pod${uid('b')}`],
  ['v1, cgroupfs', `memory/kubepods/pod${uid('a')}`, `memory/kubepods/burstable/pod${uid('b')}`],
  [
    'below the cgroup of the kubelet',
    `${kubelets}-pod${underscored('a')}.slice`,
    `${kubelets}-besteffort.slice/kubelet-kubepods-besteffort-pod${underscored('b')}.slice`,
  ],
])('finds cgroups: %s', async (_name, ...cgroups) => {
  for (const path of [...cgroups, 'system.slice/docker.service'])
    mkdirSync(at('cgroup', path), { recursive: true });
  const { podCgroups } = planUnclaimed(await listOrphanPlaces(roots()), new Set());
  const expected = cgroups.map((path) => at('cgroup', path)).sort();
  expect(podCgroups?.map(({ path }) => path).sort()).toEqual(expected);
});

test('a missing place is undefined, an empty place is empty', async () => {
  mkdirSync(at('logs'));
  const expected = { podDirectories: undefined, logDirectories: [], podCgroups: undefined };
  expect(await listOrphanPlaces(roots())).toEqual(expected);
});

describe('a search', () => {
  const nobody: KnownPods = { pods: [], sandboxes: [], containers: [] };
  const root: Mount = { point: '/', isReadOnly: false, isPropagated: true };
  /** Without a process in it, a control group is no obstacle. */
  const cgroup = (path: string, pids = ''): void => {
    file(at('cgroup', path, 'cgroup.procs'), pids);
  };
  beforeEach(() => {
    cgroup('');
    cgroup('kubepods');
  });
  const finderWith = (over: Partial<ConstructorParameters<typeof OrphanFinder>[0]> = {}) =>
    new OrphanFinder({
      roots: roots(),
      mounts: () => Promise.resolve([root]),
      readAttachment: () => Promise.reject(new Error('forbidden')),
      ...over,
    });
  const search = async (finder: OrphanFinder, pods = nobody) =>
    finder.inspect(await finder.list(never), pods, never);

  test('finds and measures the resources of unknown pods', async () => {
    const pods = { ...nobody, pods: [{ uid: uid('b'), configHash: undefined }] };
    file(at('pods', uid('a'), 'etc-hosts'), 10_000);
    file(at('pods', uid('b'), 'etc-hosts'), 1);
    cgroup(`kubepods/pod${uid('a')}`);
    file(at('cgroup', 'kubepods', `pod${uid('a')}`, 'memory.current'), '4096\n');
    utimesSync(at('pods', uid('a')), 100, 200);
    const { podDirectories, logDirectories, podCgroups } = await search(finderWith(), pods);
    const path = at('pods', uid('a'));
    expect(podDirectories).toMatchObject([{ path, podUid: uid('a'), sinceMs: 200_000, obstacle: undefined }]);
    expect(podDirectories?.[0]?.bytes).toBeGreaterThanOrEqual(10_000);
    expect(logDirectories).toBeUndefined();
    expect(podCgroups).toMatchObject([{ podUid: uid('a'), bytes: 4096 }]);
  });

  const pod = { ...root, point: 'POD' };
  test.each<readonly [string, readonly Mount[], string | undefined]>([
    ['nothing', [root], undefined],
    ['a volume', [root, { ...root, point: 'POD/volumes/v' }], 'Mounted'],
    ['the directory itself', [root, pod], 'Mounted'],
    ['a private mount', [{ ...root, isPropagated: false }], 'MountsUnknown'],
    ['a read-only mount', [{ ...root, isReadOnly: true }], 'ReadOnly'],
    ['a writable mount over a read-only one', [{ ...root, isReadOnly: true }, root], undefined],
    ['a namesake', [root, { ...root, point: 'POD-other', isReadOnly: true }], undefined],
    ['no mount at all', [], 'MountsUnknown'],
  ])('a directory with %s: %s', async (_name, mounts, obstacle) => {
    const path = at('pods', uid('a'));
    file(at('pods', uid('a'), 'etc-hosts'));
    const real = mounts.map((one) => ({ ...one, point: one.point.replace('POD', path) }));
    const finder = finderWith({ mounts: () => Promise.resolve(real) });
    expect((await search(finder)).podDirectories?.map((one) => one.obstacle)).toEqual([obstacle]);
    const removal = await finder.removeDirectory(path, undefined, never);
    expect(removal.kind).toBe(obstacle === undefined ? 'done' : 'keep');
    expect(existsSync(path)).toBe(obstacle !== undefined);
  });

  describe('the data of a CSI volume', () => {
    const path = () => at('pods', uid('a'));
    const unread = `${csiAttachment}: forbidden`;
    const volume = (...names: readonly string[]) =>
      at('pods', uid('a'), 'volumes/kubernetes.io~csi/pv', ...names);
    beforeEach(() => {
      writeVolumeData(volume(), csiAttachment);
      mkdirSync(volume('mount'));
    });

    test.each<{
      readonly name: string;
      readonly exists?: boolean;
      readonly point?: string;
      readonly extra?: string;
      readonly hold: readonly [obstacle: string | undefined, holder?: string];
    }>([
      { name: 'of which the VolumeAttachment exists', exists: true, hold: ['VolumeAttached', csiAttachment] },
      { name: 'of which it is not known', hold: ['AttachmentsUnknown', unread] },
      { name: 'mounted for the node', exists: false, point: csiStaging, hold: ['Mounted', csiStaging] },
      {
        name: 'mounted for the node by an old kubelet',
        exists: false,
        point: 'plugins/kubernetes.io/csi/pv/pv/globalmount',
        hold: ['Mounted', 'plugins/kubernetes.io/csi/pv/pv/globalmount'],
      },
      {
        name: 'of which the mount for the node cannot be seen',
        exists: false,
        point: 'plugins',
        hold: ['MountsUnknown'],
      },
      { name: 'that is mounted', exists: false, point: 'MOUNT', hold: ['Mounted', 'MOUNT'] },
      { name: 'with a file beside it', exists: false, extra: 'note', hold: ['NotEmpty', 'note'] },
      { name: 'without anything', exists: false, hold: [undefined] },
    ])('$name', async ({ exists, point, extra, hold: [obstacle, holder] }) => {
      const real = (one: string) => (one === 'MOUNT' ? volume('mount') : at(one));
      if (extra !== undefined) file(volume(extra));
      const mounts =
        point === undefined
          ? [root]
          : [root, { ...root, point: real(point), isPropagated: point !== 'plugins' }];
      const finder = finderWith({
        mounts: () => Promise.resolve(mounts),
        ...(exists !== undefined && { readAttachment: () => Promise.resolve(exists) }),
      });
      const names: Readonly<Record<string, string>> = {
        note: volume('note'),
        [csiAttachment]: csiAttachment,
        [unread]: unread,
      };
      const holders = holder === undefined ? [] : [names[holder] ?? real(holder)];
      expect((await search(finder)).podDirectories).toMatchObject([{ obstacle, holders }]);
      const removal = await finder.removeDirectory(path(), Infinity, never);
      expect(removal).toMatchObject(
        obstacle === undefined ? { kind: 'done' } : { kind: 'keep', reason: obstacle },
      );
      expect(existsSync(volume('vol_data.json'))).toBe(obstacle !== undefined);
      expect(existsSync(path())).toBe(obstacle !== undefined);
    });

    test('a removal reads VolumeAttachments itself, and mounts after them', async () => {
      const mounts: Mount[] = [root];
      const responses = [false, true, false];
      const finder = finderWith({
        mounts: () => Promise.resolve(mounts),
        readAttachment: () => {
          if (responses.length === 1) mounts.push({ ...root, point: volume('mount') });
          return Promise.resolve(responses.shift() ?? true);
        },
      });
      expect((await search(finder)).podDirectories).toMatchObject([{ obstacle: undefined }]);
      const keep = async () => (await finder.removeDirectory(path(), Infinity, never)) as object;
      expect(await keep()).toEqual({ kind: 'keep', reason: 'VolumeAttached' });
      expect(await keep()).toEqual({ kind: 'keep', reason: 'Mounted' });
      expect(responses).toEqual([]);
      expect(existsSync(volume('vol_data.json'))).toBe(true);
    });

    test('that was written after the search is kept', async () => {
      utimesSync(volume('vol_data.json'), 100, 200);
      const finder = finderWith({ readAttachment: () => Promise.resolve(false) });
      expect((await search(finder)).podDirectories).toMatchObject([{ volumeDataMs: 200_000 }]);
      for (const found of [undefined, 199_999])
        expect(await finder.removeDirectory(path(), found, never)).toEqual({
          kind: 'keep',
          reason: 'TooYoung',
        });
      expect(existsSync(volume('vol_data.json'))).toBe(true);
      expect(await finder.removeDirectory(path(), 200_000, never)).toMatchObject({ kind: 'done' });
    });

    test('that is written again while VolumeAttachments are read is kept', async () => {
      utimesSync(volume('vol_data.json'), 100, 200);
      const readAttachment = () => {
        utimesSync(volume('vol_data.json'), 100, 201);
        return Promise.resolve(false);
      };
      const removal = await finderWith({ readAttachment }).removeDirectory(path(), 200_000, never);
      expect(removal).toEqual({ kind: 'keep', reason: 'NotEmpty' });
      expect(existsSync(volume('vol_data.json'))).toBe(true);
    });

    test('without data of CSI volumes, and where the directory cannot be removed, nothing is read', async () => {
      let reads = 0;
      const readAttachment = () => Promise.resolve(Boolean(++reads));
      await search(
        finderWith({ readAttachment, mounts: () => Promise.resolve([{ ...root, isReadOnly: true }]) }),
      );
      rmSync(volume('vol_data.json'));
      await search(finderWith({ readAttachment }));
      expect(reads).toBe(0);
    });
  });

  const slice = `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${underscored('a')}.slice`;
  test.each<{ name: string; groups: Readonly<Record<string, string>>; obstacle: string | undefined }>([
    { name: 'no group', groups: {}, obstacle: undefined },
    { name: 'an empty group', groups: { [`kubepods/pod${uid('a')}`]: '' }, obstacle: undefined },
    { name: 'a process of another pod', groups: { [`kubepods/pod${uid('b')}`]: '7\n' }, obstacle: undefined },
    { name: 'a process, Guaranteed', groups: { [`kubepods/pod${uid('a')}`]: '7\n' }, obstacle: 'InUse' },
    {
      name: 'a process, Burstable',
      groups: { [`kubepods/burstable/pod${uid('a')}`]: '7\n' },
      obstacle: 'InUse',
    },
    {
      name: 'a process in a container',
      groups: { [`kubepods/besteffort/pod${uid('a')}`]: '', [`kubepods/besteffort/pod${uid('a')}/c`]: '7\n' },
      obstacle: 'InUse',
    },
    { name: 'a process, systemd', groups: { [slice]: '7\n' }, obstacle: 'InUse' },
    {
      name: 'a process, systemd, Guaranteed, below the cgroup of the kubelet',
      groups: { [`${kubelets}-pod${underscored('a')}.slice`]: '7\n' },
      obstacle: 'InUse',
    },
  ])('a directory of a pod with $name: $obstacle', async ({ groups, obstacle }) => {
    for (const [path, pids] of Object.entries(groups)) cgroup(path, pids);
    const path = at('pods', uid('a'));
    file(at('pods', uid('a'), 'etc-hosts'));
    const finder = finderWith();
    expect((await search(finder)).podDirectories?.map((one) => one.obstacle)).toEqual([obstacle]);
    const removal = await finder.removeDirectory(path, undefined, never);
    expect(removal).toMatchObject(
      obstacle === undefined ? { kind: 'done' } : { kind: 'keep', reason: obstacle },
    );
    expect(existsSync(path)).toBe(obstacle !== undefined);
  });

  test('while the control groups of pods cannot be seen, no directory is removed', async () => {
    rmSync(at('cgroup'), { recursive: true });
    file(at('pods', uid('a'), 'etc-hosts'));
    const finder = finderWith();
    const reason = 'ProcessesUnknown';
    expect((await search(finder)).podDirectories).toMatchObject([{ obstacle: reason }]);
    expect(await finder.removeDirectory(at('pods', uid('a')), undefined, never)).toEqual({
      kind: 'keep',
      reason,
    });
  });

  test('the root of the pod directories may be a link', async () => {
    file(at('elsewhere', uid('a'), 'etc-hosts'));
    symlinkSync(at('elsewhere'), at('pods'));
    const finder = finderWith();
    const path = at('elsewhere', uid('a'));
    expect((await search(finder)).podDirectories?.map((one) => one.path)).toEqual([path]);
    expect(await finder.removeDirectory(path, undefined, never)).toMatchObject({ kind: 'done' });
    expect(existsSync(path)).toBe(false);
  });

  test('links, files and other names are no pod directories', async () => {
    mkdirSync(at('elsewhere'));
    mkdirSync(at('pods', 'not-a-uid'), { recursive: true });
    mkdirSync(at('pods', uid('a').toUpperCase()));
    symlinkSync(at('elsewhere'), at('pods', uid('b')));
    file(at('pods', uid('c')));
    expect((await search(finderWith())).podDirectories).toEqual([]);
  });

  test('removes nothing that is not directly below the pod directories', async () => {
    file(at('elsewhere', uid('a'), 'etc-hosts'));
    mkdirSync(at('pods'));
    const path = at('elsewhere', uid('a'));
    await expect(finderWith().removeDirectory(path, undefined, never)).rejects.toThrow('it is not below');
    expect(existsSync(path)).toBe(true);
  });

  test('a directory or a control group that is gone counts as removed', async () => {
    const finder = finderWith();
    const done = { kind: 'done', freedBytes: 0 };
    expect(await finder.removeDirectory(at('pods', uid('a')), undefined, never)).toEqual(done);
    mkdirSync(at('pods'));
    expect(await finder.removeDirectory(at('pods', uid('a')), undefined, never)).toEqual(done);
  });

  test('fails for a place that cannot be read', async () => {
    file(at('pods'));
    await expect(finderWith().list(never)).rejects.toThrow(`listing ${at('pods')}`);
  });

  test('ends at its deadline; the next one does not begin while the disk hangs', async () => {
    const finder = finderWith({ deadline: () => AbortSignal.abort() });
    await expect(finder.list(never)).rejects.toThrow('no response, a disk hangs');
    await expect(finder.list(never)).rejects.toThrow('the last search still hangs');
  });
});

test.each([
  ['/mnt/a b', '36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 - ext3 /dev/root rw', false, true],
  ['/proc', '37 35 98:0 / /proc rw shared:7 master:1 - proc proc rw', false, true],
  ['/ro', '38 35 98:0 / /ro ro,nosuid - ext4 /dev/vda rw', true, false],
  ['/ro2', '39 35 98:0 / /ro2 rw unbindable - ext4 /dev/vda ro,errors=remount-ro', true, false],
])('reads the mount %s', async (point, line, isReadOnly, isPropagated) => {
  expect(await readMounts(file(at('mountinfo'), `${line}\n`))).toEqual([{ point, isReadOnly, isPropagated }]);
});
