import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OrphanFinder } from '../../../src/node/storage/orphans-finder.ts';
import { listOrphanPlaces } from '../../../src/node/storage/orphans-listing.ts';
import {
  knownPodUids,
  planOrphans,
  planUnclaimed,
  type OrphanPaths,
} from '../../../src/node/storage/orphans.ts';
import { diskUsage, readMountpoints } from '../../../src/node/storage/usage.ts';
import { container, sandbox } from '../../fakes/runtime.ts';

const never = new AbortController().signal;
const uid = (digit: string): string => `${digit.repeat(8)}-1111-2222-3333-444444444444`;
const staticUid = 'f'.repeat(32);
const nowhere: OrphanPaths = { podDirectories: [], logDirectories: [], podCgroups: [] };

describe('whose it is', () => {
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

  test.each([
    {
      name: 'a pod that the API server knows',
      place: 'podDirectories',
      path: `/pods/${uid('a')}`,
      orphan: false,
    },
    { name: 'a static pod', place: 'podDirectories', path: `/pods/${staticUid}`, orphan: false },
    {
      name: 'a pod of which a sandbox is left',
      place: 'podDirectories',
      path: `/pods/${uid('b')}`,
      orphan: false,
    },
    {
      name: 'a pod of which a container is left',
      place: 'podDirectories',
      path: `/pods/${uid('c')}`,
      orphan: false,
    },
    { name: 'a pod that nobody knows', place: 'podDirectories', path: `/pods/${uid('d')}`, orphan: true },
    {
      name: 'a static pod that nobody knows',
      place: 'podDirectories',
      path: `/pods/${'e'.repeat(32)}`,
      orphan: true,
    },
    { name: 'not a pod', place: 'podDirectories', path: '/pods/lost+found', orphan: false },
    {
      name: 'logs of a pod that nobody knows',
      place: 'logDirectories',
      path: `/logs/ns_web_${uid('d')}`,
      orphan: true,
    },
    { name: 'logs of a known pod', place: 'logDirectories', path: `/logs/ns_web_${uid('a')}`, orphan: false },
    { name: 'a directory among the logs', place: 'logDirectories', path: '/logs/audit', orphan: false },
    { name: 'a cgroup by cgroupfs', place: 'podCgroups', path: `/cg/kubepods/pod${uid('d')}`, orphan: true },
    {
      name: 'a cgroup by systemd',
      place: 'podCgroups',
      path: `/cg/kubepods-besteffort-pod${uid('d').replaceAll('-', '_')}.slice`,
      orphan: true,
    },
    {
      name: 'a known cgroup by systemd',
      place: 'podCgroups',
      path: `/cg/kubepods-pod${uid('a').replaceAll('-', '_')}.slice`,
      orphan: false,
    },
    { name: 'a class of cgroups', place: 'podCgroups', path: '/cg/kubepods-burstable.slice', orphan: false },
  ] as const)('$name: $orphan', ({ place, path, orphan }) => {
    expect(planUnclaimed({ ...nowhere, [place]: [path] }, known)[place]).toEqual(orphan ? [path] : []);
  });
});

test('an orphan is what was unclaimed twice; a place that was not seen before has none to tell of', () => {
  const now: OrphanPaths = { podDirectories: ['/a', '/b'], logDirectories: ['/c'], podCgroups: undefined };
  const before: OrphanPaths = { podDirectories: ['/b', '/d'], logDirectories: undefined, podCgroups: ['/e'] };
  expect(planOrphans(now, before)).toEqual({
    podDirectories: ['/b'],
    logDirectories: undefined,
    podCgroups: undefined,
  });
});

describe('on a disk', () => {
  let base: string;
  const at = (...parts: readonly string[]): string => join(base, ...parts);
  const put = (path: string, text = ''): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'dustpan-orphans-'));
  });
  afterEach(() => {
    rmSync(base, { recursive: true });
  });

  const roots = () => ({ podDirectories: at('pods'), logDirectories: at('logs'), cgroups: at('cgroup') });
  const systemd = (prefix: string, of: string): string => `${prefix}-pod${of.replaceAll('-', '_')}.slice`;

  test.each([
    {
      name: 'v2, systemd',
      cgroups: [
        `kubepods.slice/${systemd('kubepods', uid('a'))}`,
        `kubepods.slice/kubepods-burstable.slice/${systemd('kubepods-burstable', uid('b'))}`,
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
        `kubelet.slice/kubelet-kubepods.slice/${systemd('kubelet-kubepods', uid('a'))}`,
        `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/${systemd('kubelet-kubepods-besteffort', uid('b'))}`,
      ],
    },
  ])('finds cgroups: $name', async ({ cgroups }) => {
    for (const path of [...cgroups, 'system.slice/docker.service'])
      mkdirSync(at('cgroup', path), { recursive: true });
    const { podCgroups } = planUnclaimed(await listOrphanPlaces(roots()), new Set());
    expect([...(podCgroups ?? [])].sort()).toEqual(cgroups.map((path) => at('cgroup', path)).sort());
  });

  test('a place that is not mounted is not known, an empty one is empty', async () => {
    mkdirSync(at('logs'));
    expect(await listOrphanPlaces(roots())).toEqual({
      ...{ podDirectories: undefined, logDirectories: [], podCgroups: undefined },
    });
  });

  test('counts and measures what is unclaimed in two looks', async () => {
    const finder = new OrphanFinder({ roots: roots() });
    put(`pods/${uid('a')}/etc-hosts`, 'x'.repeat(10_000));
    put(`pods/${uid('b')}/etc-hosts`, 'x');
    put(`cgroup/kubepods/pod${uid('a')}/memory.current`, '4096\n');
    const find = () =>
      finder.find(
        () =>
          Promise.resolve({
            pods: [{ uid: uid('b'), configHash: undefined }],
            sandboxes: [],
            containers: [],
          }),
        never,
      );
    expect(await find()).toBeUndefined();
    put(`pods/${uid('c')}/etc-hosts`, 'x');
    const found = await find();
    expect(found).toMatchObject({ podDirectories: { count: 1 }, logDirectories: undefined });
    expect(found?.podDirectories?.bytes).toBeGreaterThanOrEqual(10_000);
    expect(found?.podCgroups).toEqual({ count: 1, bytes: 4096 });
    expect((await find())?.podDirectories?.count).toBe(2);
  });

  test('while the pods are not known nothing is an orphan, and nothing is forgotten', async () => {
    const finder = new OrphanFinder({ roots: roots() });
    put(`pods/${uid('a')}/x`);
    const nobody = { pods: [], sandboxes: [], containers: [] };
    expect(await finder.find(() => Promise.resolve(nobody), never)).toBeUndefined();
    expect(await finder.find(() => Promise.resolve(undefined), never)).toBeUndefined();
    expect(await finder.find(() => Promise.resolve(nobody), never)).toMatchObject({
      podDirectories: { count: 1 },
    });
  });

  test('a look that takes too long is given up', async () => {
    const finder = new OrphanFinder({ roots: roots(), deadline: () => AbortSignal.abort() });
    await expect(finder.find(() => Promise.resolve(undefined), never)).rejects.toThrow(
      'no response, a disk hangs',
    );
  });

  describe('usage', () => {
    const bounds = { maxEntries: 100, mountpoints: new Set<string>() };
    const bytesOf = async (path: string): Promise<number> => (await diskUsage(at(path), bounds, never)).bytes;

    test('counts a file with two names once, and follows no link', async () => {
      put('one/file', 'x'.repeat(50_000));
      put('two/file', 'x'.repeat(50_000));
      put('elsewhere/file', 'x'.repeat(500_000));
      linkSync(at('two/file'), at('two/again'));
      symlinkSync(at('elsewhere'), at('two/away'));
      symlinkSync(at('elsewhere/file'), at('two/away-too'));
      expect((await bytesOf('two')) - (await bytesOf('one'))).toBeLessThan(20_000);
    });

    test('stays out of what is mounted below', async () => {
      put('pod/volume/file', 'x'.repeat(500_000));
      const usage = await diskUsage(
        at('pod'),
        { ...bounds, mountpoints: new Set([at('pod/volume')]) },
        never,
      );
      expect(usage.bytes).toBeLessThan(100_000);
      expect(usage).toMatchObject({ entries: 1, complete: true });
    });

    test('ends at its bound', async () => {
      for (let i = 0; i < 20; i += 1) put(`many/${i}/file`);
      expect(await diskUsage(at('many'), { ...bounds, maxEntries: 10 }, never)).toMatchObject({
        entries: 10,
        complete: false,
      });
      expect(await diskUsage(at('many'), bounds, never)).toMatchObject({ entries: 41, complete: true });
    });

    test('nothing there takes nothing', async () => {
      expect(await diskUsage(at('none'), bounds, never)).toMatchObject({
        bytes: 0,
        entries: 0,
        complete: true,
      });
    });

    test('ends with its signal', async () => {
      put('a/file');
      await expect(diskUsage(at('a'), bounds, AbortSignal.abort(new Error('stopping')))).rejects.toThrow(
        'stopping',
      );
    });

    test('reads mountpoints with blanks in their names', async () => {
      put(
        'mountinfo',
        '36 35 98:0 /mnt1 /mnt/a\\040b rw - ext3 /dev/root rw\n37 35 98:0 / /proc rw - proc proc rw\n',
      );
      expect(await readMountpoints(at('mountinfo'))).toEqual(new Set(['/mnt/a b', '/proc']));
    });
  });
});
