import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { OpenDirectory } from '../../../src/node/logs/directory.ts';
import { LocalLogs } from '../../../src/node/logs/logs.ts';
import type { LogListing } from '../../../src/node/logs/list.ts';
import { settled } from '../../fakes/settling-clock.ts';
import { file, openBelow, temporaryDirectory } from './directory.ts';
import { canMount, runWithMounts } from './mounting.ts';

const never = new AbortController().signal;
const podName = 'web_crash_433160a7-7ac4-5869-936e-3ef9d53f3eaa';
const rotated = '0.log.20260101-000000';
const at = temporaryDirectory();
const inPod = (...names: readonly string[]): string => at('pods', podName, ...names);
const linkPath = (): string => at('containers', 'crash_web_main-abc123.log');
let logs: LocalLogs;

beforeEach(() => {
  for (const name of ['pods', 'containers', 'elsewhere']) mkdirSync(at(name));
  logs = new LocalLogs({ pods: at('pods'), containers: at('containers') });
});

const causeOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => 'nothing was thrown',
    (err: unknown) => (err instanceof Error ? `${err.message}: ${String(err.cause)}` : String(err)),
  );

/** Each removal, of the files that `inPod` and `linkPath` name. */
const removals: Readonly<Record<string, (from: LocalLogs, signal: AbortSignal) => Promise<unknown>>> = {
  'the log of a container': (from, signal) => from.removeContainerLog(inPod('main', '0.log'), signal),
  'a rotated log': (from, signal) => from.removeRotated(inPod('main', rotated), signal),
  'a log directory': (from, signal) => from.removeDirectory(inPod(), signal),
  'a broken link': (from, signal) => from.removeLink(linkPath(), 'broken', signal),
  'a link out of the log roots': (from, signal) => from.removeLink(linkPath(), 'outside', signal),
};

const describeOnLinux = describe.skipIf(process.platform !== 'linux');

describeOnLinux('a list', () => {
  test('has files and links to a depth of four names in pods and one level of links, and empty directories; it follows no link', async () => {
    file(inPod('main', '0.log'), 7);
    file(inPod('main', 'deep', 'x'));
    file(inPod('main', 'deep', 'er', 'x'));
    file(at('containers', 'directory', 'y'));
    file(at('elsewhere', 'secret.log'));
    symlinkSync(at('elsewhere'), inPod('main', 'out'));
    mkdirSync(at('pods', 'a_b_empty'));
    symlinkSync(inPod('main', '0.log'), linkPath());
    const listing = await logs.list(never);
    const entries = listing.entries.map(({ path, bytes, target }) => [path, bytes, target] as const);
    expect(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      [linkPath(), 0, inPod('main', '0.log')],
      [inPod('main', '0.log'), 7, undefined],
      [inPod('main', 'deep', 'x'), 10, undefined],
      [inPod('main', 'out'), 0, at('elsewhere')],
    ]);
    expect([...listing.directories].sort()).toEqual([at('pods', 'a_b_empty'), inPod()]);
    expect(listing.complete).toBe(true);
  });

  test('of a directory with mounts and devices is incomplete and has the rest, links and files alone', async () => {
    const { entries, complete } = await new LocalLogs({ ...logs.roots, pods: '/dev' }).list(never);
    expect(complete).toBe(false);
    expect(entries.map(({ path }) => path)).toContain('/dev/stdin');
    expect(entries.map(({ path }) => path)).not.toContain('/dev/null');
  });

  test('never shows a file as older than it is', async () => {
    utimesSync(file(inPod('main', '0.log')), 1.0005, 1.0005);
    expect((await logs.list(never)).entries).toMatchObject([{ mtimeMs: 1_001 }]);
  });

  test('is empty and incomplete without the root of the pods', async () => {
    rmSync(at('pods'), { recursive: true });
    expect(await logs.list(never)).toMatchObject({ entries: [], directories: [], complete: false });
  });

  test('that ends at its maximum is incomplete, but has every directory', async () => {
    for (const pod of ['a_a_1', 'b_b_2', 'c_c_3']) file(at('pods', pod, 'main', '0.log'));
    const listing = await new LocalLogs(logs.roots, { maxEntries: 2 }).list(never);
    expect(listing).toMatchObject({ complete: false });
    expect(listing.entries).toHaveLength(2);
    expect(listing.directories).toHaveLength(3);
  });

  test('that hangs ends at its deadline, and neither a list nor a removal begins before it has ended', async () => {
    file(inPod('main', '0.log'));
    const late = new AbortController();
    let end: (listing: LogListing) => void = () => undefined;
    const hanging = new LocalLogs(logs.roots, {
      list: () => new Promise((resolve) => (end = resolve)),
      deadline: () => late.signal,
    });
    const first = causeOf(hanging.list(never));
    late.abort();
    expect(await first).toContain('no response: the disk hangs');
    expect(await causeOf(hanging.list(never))).toContain('an earlier listing has not ended');
    for (const remove of Object.values(removals))
      expect(await causeOf(remove(hanging, never))).toContain('an earlier operation has not ended');
    expect(existsSync(inPod('main', '0.log'))).toBe(true);
    end({ roots: logs.roots, entries: [], directories: [], complete: true });
    await settled();
    expect(hanging.isHanging).toBe(false);
    void hanging.list(never).catch(() => undefined);
    expect(await causeOf(hanging.list(never))).toContain('an earlier listing has not ended');
  });
});

describeOnLinux('removeDirectory', () => {
  test('removes a log directory with all files and returns their size; of links it removes no target', async () => {
    file(inPod('main', '0.log'), 100);
    file(inPod('other', 'deep', 'er', 'x'), 23);
    expect(await logs.removeDirectory(inPod(), never)).toBe(123);
    expect(await logs.removeDirectory(inPod(), never)).toBe(0);
    const kept = file(at('elsewhere', 'kept.log'));
    mkdirSync(inPod('main'), { recursive: true });
    symlinkSync(at('elsewhere'), inPod('main', 'directory'));
    symlinkSync(kept, inPod('main', '0.log'));
    symlinkSync(at('elsewhere'), inPod('other'));
    await logs.removeDirectory(inPod(), never);
    expect([readdirSync(at('pods')), existsSync(kept)]).toEqual([[], true]);
  });

  const belowPod = ['..', '../../elsewhere', '', '/main', 'main'].map((name) => `${podName}/${name}`);
  test.each(['/etc/passwd', '..', '../elsewhere', '.', '', ...belowPod])(
    'refuses the path %j',
    async (name) => {
      file(inPod('main', '0.log'));
      file(at('elsewhere', 'x'));
      const path = name.startsWith('/') ? name : `${at('pods')}/${name}`;
      const cause = await causeOf(logs.removeDirectory(path, never));
      expect(cause).toMatch(/refusing|it is not the directory of a pod/);
      expect(existsSync(inPod('main', '0.log'))).toBe(true);
      expect(existsSync(at('elsewhere', 'x'))).toBe(true);
    },
  );

  test('refuses 40 nested directories, and leaks no handle', async () => {
    file(inPod(...Array.from({ length: 40 }, () => 'd'), 'x'));
    expect(await causeOf(logs.removeDirectory(inPod(), never))).toContain('too many levels');
    expect(openBelow(at())).toEqual([]);
  });
});

describeOnLinux('a directory that was replaced by a link after the list', () => {
  test.each([
    { moved: 'the directory of the pod', removal: 'a log directory', path: () => inPod() },
    { moved: 'the directory of the container', removal: 'a rotated log', path: () => inPod('main') },
    { moved: 'the directory of the pod', removal: 'a rotated log', path: () => inPod() },
    { moved: 'the directory of the container', removal: 'the log of a container', path: () => inPod('main') },
  ])('is refused: $moved, for $removal', async ({ removal, path }) => {
    file(inPod('main', '0.log'));
    file(inPod('main', rotated));
    await logs.list(never);
    const target = at('elsewhere', 'target');
    renameSync(path(), target);
    symlinkSync(target, path());
    const before = readdirSync(target, { recursive: true }).sort();
    const removing = removals[removal]?.(logs, never) ?? Promise.resolve();
    expect(await causeOf(removing)).toMatch(/ENOTDIR|ELOOP/);
    expect(readdirSync(target, { recursive: true }).sort()).toEqual(before);
  });
});

describeOnLinux('the removal of one log', () => {
  const directory = (path: string) => logs.removeDirectory(path, never);
  const rotatedLog = (path: string) => logs.removeRotated(path, never);
  const containerLog = (path: string) => logs.removeContainerLog(path, never);
  const brokenLink = (path: string) => logs.removeLink(path, 'broken', never);
  test.each<[string, path: () => string, remove: (path: string) => Promise<unknown>, cause: string]>([
    ['the current log as a rotated one', () => inPod('main', '0.log'), rotatedLog, 'it is not a rotated log'],
    ['a rotated log outside of the directory of a container', () => inPod('x.gz'), rotatedLog, 'it is not'],
    ['the log of a container outside of one', () => at('pods', '0.log'), containerLog, 'it is not'],
    ['a link too far below its root', () => at('containers', 'a', 'x.log'), brokenLink, 'it is not'],
    ['a log outside the root', () => at('elsewhere', 'main', '0.log'), containerLog, 'is not below'],
    ['a sibling with a name like the root', () => at('pods-of-others', 'a_b_c'), directory, 'is not below'],
    ['a file as a directory', () => inPod(), directory, 'ENOTDIR'],
  ])('refuses %s', async (_, path, remove, cause) => {
    file(path());
    expect(await causeOf(remove(path()))).toContain(cause);
    expect(existsSync(path())).toBe(true);
  });

  test.each(['', '.', '..'])('refuses the name %j, with which other names begin', async (name) => {
    for (const other of ['0.log', '.hidden', '..hidden']) file(inPod('main', other));
    expect(await causeOf(logs.removeContainerLog(`${inPod('main')}/${name}`, never))).toContain('refusing');
    expect(readdirSync(inPod('main'))).toHaveLength(3);
  });

  test.each([
    ['1.log', ['1.log.20260101-000000', '1.log.20260101-000000.gz'], ['10.log', '11.log.x']],
    // No character is that of a glob.
    ['[ab].log', [], ['a.log']],
    ['*.log', [], ['a.log']],
  ])(
    'removes the log of a container with its rotations, and no other log: %s',
    async (log, rotations, others) => {
      for (const name of [log, ...rotations, ...others]) file(inPod('main', name));
      const bytes = 10 * (1 + rotations.length);
      expect(await logs.removeContainerLog(inPod('main', log), never)).toBe(bytes);
      expect(readdirSync(inPod('main')).sort()).toEqual(others);
    },
  );

  test('refuses a directory', async () => {
    file(inPod('main', '0.log', 'x'));
    expect(await causeOf(logs.removeContainerLog(inPod('main', '0.log'), never))).toContain('is a directory');
  });
});

describeOnLinux('a link', () => {
  const gone = `x_y_z/main/0.log`;
  const byKind = {
    broken: () => logs.removeLink(linkPath(), 'broken', never),
    outside: () => logs.removeLink(linkPath(), 'outside', never),
  };
  test.each<[name: string, removedAs: keyof typeof byKind | undefined, target: () => string]>([
    ['to a missing log', 'broken', () => inPod('main', '0.log')],
    ['into a missing directory', 'broken', () => at('pods', gone)],
    ['relative, to a missing log', 'broken', () => `../pods/${gone}`],
    ['to a log', undefined, () => inPod('main', '1.log')],
    ['relative, to a log', undefined, () => `../pods/${podName}/main/1.log`],
    ['to a broken link', 'outside', () => inPod('main', '2.log')],
    ['out of the log roots', 'outside', () => '/var/lib/docker/containers/x/x.log'],
  ])('%s is removed as %s', async (_, removedAs, target) => {
    file(inPod('main', '1.log'));
    symlinkSync('/var/lib/docker/nothing-here', inPod('main', '2.log'));
    for (const kind of ['broken', 'outside'] as const) {
      rmSync(linkPath(), { force: true });
      symlinkSync(target(), linkPath());
      expect(await byKind[kind](), kind).toBe(kind === removedAs);
      expect(readdirSync(at('containers')), kind).toHaveLength(kind === removedAs ? 0 : 1);
    }
  });

  test('is kept without the root of the pods', async () => {
    symlinkSync(inPod('main', '0.log'), linkPath());
    rmSync(at('pods'), { recursive: true });
    expect(await logs.removeLink(linkPath(), 'broken', never)).toBe(false);
    expect(readdirSync(at('containers'))).toHaveLength(1);
  });
});

describeOnLinux('each removal', () => {
  test.each(Object.entries(removals))('keeps %s after an abort', async (_name, remove) => {
    for (const name of ['0.log', rotated]) file(inPod('main', name));
    symlinkSync('/var/lib/docker/nothing-here', linkPath());
    await expect(remove(logs, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    expect(readdirSync(inPod('main')).sort()).toEqual(['0.log', rotated]);
    expect(readdirSync(at('containers'))).toHaveLength(1);
  });

  test.each([
    ['a broken link', () => inPod('main', '0.log')],
    ['a link out of the log roots', () => '/var/lib/docker/nothing-here'],
  ])('keeps %s if the abort comes while it is checked', async (name, target) => {
    mkdirSync(inPod('main'), { recursive: true });
    symlinkSync(target(), linkPath());
    const controller = new AbortController();
    const removal = removals[name]?.(logs, controller.signal);
    controller.abort();
    await expect(removal).rejects.toMatchObject({ name: 'AbortError' });
    // The check ends later than the wait for it.
    await setTimeout(50);
    expect(readdirSync(at('containers'))).toHaveLength(1);
  });

  test.each(['a broken link', 'a link out of the log roots'])('keeps a file in place of %s', async (name) => {
    file(linkPath());
    expect(await removals[name]?.(logs, never)).toBe(false);
    expect(existsSync(linkPath())).toBe(true);
  });
});

describeOnLinux('a name that is not UTF-8', () => {
  /** Latin-1 for `lüg`. */
  const strange = Buffer.from([0x6c, 0xfc, 0x67]);
  const below = (directory: string, name: Buffer): Buffer =>
    Buffer.concat([Buffer.from(join(directory, '/')), name]);
  beforeEach(() => mkdirSync(inPod('main'), { recursive: true }));

  test('is removed and counted with its directory', async () => {
    writeFileSync(below(inPod('main'), strange), 'x'.repeat(7));
    mkdirSync(below(inPod(), strange));
    const inside = Buffer.concat([below(inPod(), strange), Buffer.from('/'), strange]);
    writeFileSync(inside, 'x'.repeat(5));
    expect(await logs.removeDirectory(inPod(), never)).toBe(12);
    expect(existsSync(inPod())).toBe(false);
  });

  test('is not listed: as text it would name something else', async () => {
    mkdirSync(below(at('pods'), strange));
    writeFileSync(below(inPod('main'), strange), 'x');
    file(inPod('main', '0.log'));
    const { entries, directories, complete } = await logs.list(never);
    expect(entries.map(({ path }) => path)).toEqual([inPod('main', '0.log')]);
    expect(directories).toEqual([inPod()]);
    expect(complete).toBe(true);
  });

  test('as the target of a link does not make the link broken', async () => {
    const target = below(inPod('main'), strange);
    writeFileSync(target, 'x');
    symlinkSync(target, linkPath());
    expect((await logs.list(never)).entries).toEqual([]);
    expect(await logs.removeLink(linkPath(), 'broken', never)).toBe(false);
  });
});

test.each(['', '.', '..', 'a/b', 'a\0b'])('a directory that is held refuses the name %j', async (name) => {
  const directory = await OpenDirectory.root(at('pods'));
  await expect(directory?.stat(name)).rejects.toThrow('refusing the name');
  await expect(directory?.unlink(name)).rejects.toThrow('refusing the name');
  await directory?.close();
});

describe.skipIf(!canMount)('a mount point below a log directory (needs root and mount namespaces)', () => {
  test.each([
    { name: 'another file system', mount: (volume: string) => `mount -t tmpfs none "${volume}"` },
    { name: 'a bind mount', mount: (volume: string) => `mount --bind "${at('elsewhere')}" "${volume}"` },
  ])('is not crossed: $name', ({ mount }) => {
    file(at('elsewhere', 'kept'));
    const volume = inPod('volume');
    file(inPod('volume', 'hidden'));
    const program = `
      import { LocalLogs } from './src/node/logs/logs.ts';
      new LocalLogs(${JSON.stringify(logs.roots)})
        .removeDirectory(${JSON.stringify(inPod())}, new AbortController().signal)
        .then(String, (err) => String(err.cause)).then(console.log);`;
    const out = runWithMounts(
      at(),
      program,
      (run) => `${mount(volume)} && : > "${volume}/inside" && ${run}; ls "${volume}"`,
    );
    expect(out).toContain('refusing to cross a mount point');
    expect(out).toContain('inside');
    expect(existsSync(at('elsewhere', 'kept'))).toBe(true);
  });
});
