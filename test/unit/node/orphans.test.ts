import { linkSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OrphanFinder } from '../../../src/node/storage/orphans-finder.ts';
import { listOrphanPlaces } from '../../../src/node/storage/orphans-listing.ts';
import {
  knownPodUids,
  planOrphans,
  planUnclaimed,
  type KnownPods,
  type OrphanPaths,
  type OrphanPlace,
} from '../../../src/node/storage/orphans.ts';
import { diskUsage, readMountpoints } from '../../../src/node/storage/usage.ts';
import { container, sandbox } from '../../fakes/runtime.ts';
import { file, temporaryDirectory } from './directory.ts';

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
  expect(planUnclaimed({ ...nowhere, [place]: [path] }, known)[place]).toEqual(isUnclaimed ? [path] : []);
});

test('an orphan was unclaimed twice; a place that was not listed twice has none', () => {
  const now: OrphanPaths = { podDirectories: ['/a', '/b'], logDirectories: ['/c'], podCgroups: undefined };
  const before: OrphanPaths = { podDirectories: ['/b', '/d'], logDirectories: undefined, podCgroups: ['/e'] };
  expect(planOrphans(now, before)).toEqual({
    podDirectories: ['/b'],
    logDirectories: undefined,
    podCgroups: undefined,
  });
});

const roots = () => ({ podDirectories: at('pods'), logDirectories: at('logs'), cgroups: at('cgroup') });

test.each([
  {
    name: 'v2, systemd',
    cgroups: [
      `kubepods.slice/kubepods-pod${underscored('a')}.slice`,
      `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${underscored('b')}.slice`,
    ],
  },
  { name: 'v2, cgroupfs', cgroups: [`kubepods/pod${uid('a')}`, `kubepods/besteffort/pod${uid('b')}`] },
  {
    name: 'v1, cgroupfs',
    cgroups: [`memory/kubepods/pod${uid('a')}`, `memory/kubepods/burstable/pod${uid('b')}`],
  },
  {
    name: 'below the cgroup of the kubelet',
    cgroups: [
      `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod${underscored('a')}.slice`,
      `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod${underscored('b')}.slice`,
    ],
  },
])('finds cgroups: $name', async ({ cgroups }) => {
  for (const path of [...cgroups, 'system.slice/docker.service'])
    mkdirSync(at('cgroup', path), { recursive: true });
  const { podCgroups } = planUnclaimed(await listOrphanPlaces(roots()), new Set());
  expect([...(podCgroups ?? [])].sort()).toEqual(cgroups.map((path) => at('cgroup', path)).sort());
});

test('a missing place is undefined, an empty place is empty', async () => {
  mkdirSync(at('logs'));
  expect(await listOrphanPlaces(roots())).toEqual({
    podDirectories: undefined,
    logDirectories: [],
    podCgroups: undefined,
  });
});

describe('a search', () => {
  const nobody: KnownPods = { pods: [], sandboxes: [], containers: [] };
  const search = () => {
    const finder = new OrphanFinder({ roots: roots() });
    return (pods: KnownPods | undefined) => finder.find(() => Promise.resolve(pods), never);
  };

  test('counts and measures the resources that were unclaimed in two searches', async () => {
    const find = search();
    const pods = { ...nobody, pods: [{ uid: uid('b'), configHash: undefined }] };
    file(at('pods', uid('a'), 'etc-hosts'), 10_000);
    file(at('pods', uid('b'), 'etc-hosts'), 1);
    file(at('cgroup', 'kubepods', `pod${uid('a')}`, 'memory.current'), '4096\n');
    expect(await find(pods)).toBeUndefined();
    file(at('pods', uid('c'), 'etc-hosts'), 1);
    const found = await find(pods);
    expect(found).toMatchObject({ podDirectories: { count: 1 }, logDirectories: undefined });
    expect(found?.podDirectories?.bytes).toBeGreaterThanOrEqual(10_000);
    expect(found?.podCgroups).toEqual({ count: 1, bytes: 4096 });
    expect((await find(pods))?.podDirectories?.count).toBe(2);
  });

  test('finds nothing while the pods are not known, and keeps the last search', async () => {
    const find = search();
    file(at('pods', uid('a'), 'x'));
    expect(await find(nobody)).toBeUndefined();
    expect(await find(undefined)).toBeUndefined();
    expect(await find(nobody)).toMatchObject({ podDirectories: { count: 1 } });
  });

  test('reads the pods after the directories, so that a new pod is known', async () => {
    const finder = new OrphanFinder({ roots: roots() });
    mkdirSync(at('pods'));
    await finder.find(() => {
      mkdirSync(at('pods', uid('a')));
      return Promise.resolve(nobody);
    }, never);
    const found = await finder.find(() => Promise.resolve(nobody), never);
    expect(found?.podDirectories).toEqual({ count: 0, bytes: 0 });
  });

  test('counts directories alone', async () => {
    const find = search();
    file(at('pods', uid('a')));
    await find(nobody);
    expect((await find(nobody))?.podDirectories).toEqual({ count: 0, bytes: 0 });
  });

  test('fails for a place that cannot be read', async () => {
    file(at('pods'));
    await expect(search()(nobody)).rejects.toThrow(`listing ${at('pods')}`);
  });

  test('ends at its deadline; the next one does not begin while the disk hangs', async () => {
    const finder = new OrphanFinder({ roots: roots(), deadline: () => AbortSignal.abort() });
    const find = () => finder.find(() => Promise.resolve(undefined), never);
    await expect(find()).rejects.toThrow('no response, a disk hangs');
    await expect(find()).rejects.toThrow('the last search still hangs');
  });
});

describe('disk usage', () => {
  const bounds = { maxEntries: 100, mountpoints: new Set<string>() };
  const bytesOf = async (path: string): Promise<number> => (await diskUsage(at(path), bounds, never)).bytes;

  test('counts a file with two names once, and follows no link', async () => {
    file(at('one', 'file'), 50_000);
    file(at('two', 'file'), 50_000);
    file(at('elsewhere', 'file'), 500_000);
    linkSync(at('two', 'file'), at('two', 'again'));
    symlinkSync(at('elsewhere'), at('two', 'away'));
    symlinkSync(at('elsewhere', 'file'), at('two', 'away-too'));
    expect((await bytesOf('two')) - (await bytesOf('one'))).toBeLessThan(20_000);
  });

  test('does not enter mount points', async () => {
    file(at('pod', 'volume', 'file'), 500_000);
    const mountpoints = new Set([at('pod', 'volume')]);
    const usage = await diskUsage(at('pod'), { ...bounds, mountpoints }, never);
    expect(usage.bytes).toBeLessThan(100_000);
    expect(usage).toMatchObject({ entries: 1, complete: true });
  });

  test('does not count other file systems', async () => {
    const mounted = [...(await readMountpoints())].filter((path) => path.startsWith('/dev/'));
    expect(mounted).not.toEqual([]);
    const all = { ...bounds, maxEntries: 100_000 };
    const { entries } = await diskUsage('/dev', { ...all, mountpoints: new Set(mounted) }, never);
    expect((await diskUsage('/dev', all, never)).entries).toBe(entries);
  });

  test('counts the space of a file, not its length', async () => {
    mkdirSync(at('sparse'));
    truncateSync(file(at('sparse', 'file'), 1), 10_000_000);
    expect((await diskUsage(at('sparse'), bounds, never)).bytes).toBeLessThan(1_000_000);
  });

  test('ends at its bound', async () => {
    for (let i = 0; i < 20; i += 1) file(at('many', String(i), 'file'));
    const cut = await diskUsage(at('many'), { ...bounds, maxEntries: 10 }, never);
    expect(cut).toMatchObject({ entries: 10, complete: false });
    expect(await diskUsage(at('many'), bounds, never)).toMatchObject({ entries: 41, complete: true });
  });

  test('is 0 for a missing directory', async () => {
    const expected = { bytes: 0, entries: 0, complete: true };
    expect(await diskUsage(at('none'), bounds, never)).toMatchObject(expected);
  });

  test('ends with its signal', async () => {
    file(at('a', 'file'));
    const stopped = AbortSignal.abort(new Error('stopping'));
    await expect(diskUsage(at('a'), bounds, stopped)).rejects.toThrow('stopping');
  });

  test('reads mount points with blanks in their names', async () => {
    const lines = [
      '36 35 98:0 /mnt1 /mnt/a\\040b rw - ext3 /dev/root rw',
      '37 35 98:0 / /proc rw - proc proc rw',
    ];
    file(at('mountinfo'), `${lines.join('\n')}\n`);
    expect(await readMountpoints(at('mountinfo'))).toEqual(new Set(['/mnt/a b', '/proc']));
  });
});
