import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LocalLogs } from '../../../src/node/logs/logs.ts';

const never = new AbortController().signal;
const uid = '433160a7-7ac4-5869-936e-3ef9d53f3eaa';
const podName = `web_crash_${uid}`;
let base: string;
let pods: string;
let containers: string;
let elsewhere: string;
let logs: LocalLogs;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'dustpan-logs-'));
  pods = join(base, 'pods');
  containers = join(base, 'containers');
  elsewhere = join(base, 'elsewhere');
  for (const directory of [pods, containers, elsewhere]) mkdirSync(directory);
  logs = new LocalLogs({ pods, containers });
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

function file(path: string, bytes = 10): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'x'.repeat(bytes));
  return path;
}

const inPod = (...names: string[]): string => join(pods, podName, ...names);
const causeOf = async (failing: Promise<unknown>): Promise<string> => {
  const err: unknown = await failing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return err instanceof Error ? `${err.message}: ${String(err.cause)}` : 'nothing was thrown';
};

describe.skipIf(process.platform !== 'linux')('logs on a Linux file system', () => {
  test('lists files, links with their targets, and empty directories of pods', async () => {
    file(inPod('main', '0.log'), 7);
    mkdirSync(join(pods, 'a_b_empty'));
    symlinkSync(inPod('main', '0.log'), join(containers, 'crash_web_main-abc123.log'));
    const listing = await logs.list(never);
    expect(listing.entries.map(({ path, bytes, target }) => [path, bytes, target])).toEqual([
      [inPod('main', '0.log'), 7, undefined],
      [join(containers, 'crash_web_main-abc123.log'), 0, inPod('main', '0.log')],
    ]);
    expect([...listing.directories].sort()).toEqual([join(pods, 'a_b_empty'), join(pods, podName)]);
    expect(listing.complete).toBe(true);
  });

  test('what is missing is an empty list, from which nothing may be concluded', async () => {
    rmSync(pods, { recursive: true });
    expect(await logs.list(never)).toMatchObject({ entries: [], directories: [], complete: false });
  });

  test('a list that is cut off says so, and still names every directory', async () => {
    for (const pod of ['a_a_1', 'b_b_2', 'c_c_3']) file(join(pods, pod, 'main', '0.log'));
    const listing = await new LocalLogs({ pods, containers }, { maxEntries: 2 }).list(never);
    expect(listing).toMatchObject({ complete: false });
    expect(listing.entries).toHaveLength(2);
    expect(listing.directories).toHaveLength(3);
  });

  test('links inside the tree are listed, not followed', async () => {
    file(join(elsewhere, 'secret.log'));
    mkdirSync(inPod('main'), { recursive: true });
    symlinkSync(elsewhere, inPod('main', 'out'));
    const { entries } = await logs.list(never);
    expect(entries.map(({ path }) => path)).toEqual([inPod('main', 'out')]);
  });

  test('removes a log directory with all below it and tells the bytes', async () => {
    file(inPod('main', '0.log'), 100);
    file(inPod('main', '0.log.20260101-000000.gz'), 20);
    file(inPod('other', 'deep', 'er', 'x'), 3);
    expect(await logs.removeDirectory(inPod(), never)).toBe(123);
    expect(readdirSync(pods)).toEqual([]);
    expect(await logs.removeDirectory(inPod(), never)).toBe(0);
  });

  test('links in a removed directory go, what they lead to stays', async () => {
    const kept = file(join(elsewhere, 'kept.log'));
    mkdirSync(inPod('main'), { recursive: true });
    symlinkSync(elsewhere, inPod('main', 'directory'));
    symlinkSync(kept, inPod('main', '0.log'));
    await logs.removeDirectory(inPod(), never);
    expect(existsSync(inPod())).toBe(false);
    expect(existsSync(kept)).toBe(true);
  });

  test.each([
    {
      name: 'the directory of the pod',
      moved: () => inPod(),
      act: () => logs.removeDirectory(inPod(), never),
    },
    {
      name: 'the directory of the container, for a rotated log',
      moved: () => inPod('main'),
      act: () => logs.removeRotated(inPod('main', '0.log.20260101-000000'), never),
    },
    {
      name: 'the directory of the pod, for a rotated log',
      moved: () => inPod(),
      act: () => logs.removeRotated(inPod('main', '0.log.20260101-000000'), never),
    },
    {
      name: 'the directory of the container, for its log',
      moved: () => inPod('main'),
      act: () => logs.removeContainerLog(inPod('main', '0.log'), never),
    },
  ])('$name, swapped for a link after the listing, leads nowhere', async ({ moved, act }) => {
    file(inPod('main', '0.log'));
    file(inPod('main', '0.log.20260101-000000'));
    await logs.list(never);
    const target = join(elsewhere, 'target');
    renameSync(moved(), target);
    symlinkSync(target, moved());
    const before = readdirSync(target, { recursive: true }).sort();
    expect(await causeOf(act())).toMatch(/ENOTDIR|ELOOP/);
    expect(readdirSync(target, { recursive: true }).sort()).toEqual(before);
  });

  test('an inner directory swapped for a link goes as a link', async () => {
    const kept = file(join(elsewhere, 'main', '0.log'));
    mkdirSync(inPod(), { recursive: true });
    symlinkSync(dirname(kept), inPod('main'));
    await logs.removeDirectory(inPod(), never);
    expect(existsSync(kept)).toBe(true);
    expect(existsSync(inPod())).toBe(false);
  });

  test.each([
    '/etc/passwd',
    '..',
    '../elsewhere',
    `${podName}/..`,
    `${podName}/../../elsewhere`,
    '.',
    '',
    `${podName}/`,
    `${podName}//main`,
    `${podName}/main`,
  ])('a directory called %j is refused', async (name) => {
    file(inPod('main', '0.log'));
    file(join(elsewhere, 'x'));
    const path = name.startsWith('/') ? name : `${pods}/${name}`;
    expect(await causeOf(logs.removeDirectory(path, never))).toMatch(
      /refusing|it is not the directory of a pod/,
    );
    expect(existsSync(inPod('main', '0.log'))).toBe(true);
    expect(existsSync(join(elsewhere, 'x'))).toBe(true);
  });

  test('a sibling whose name begins as the root is not below it', async () => {
    const path = join(base, 'pods-of-others', 'a_b_c');
    file(join(path, 'x'));
    expect(await causeOf(logs.removeDirectory(path, never))).toContain('is not below');
  });

  test('a file where a directory is expected is refused', async () => {
    file(inPod());
    expect(await causeOf(logs.removeDirectory(inPod(), never))).toContain('ENOTDIR');
  });

  test('the live log is never removed as a rotated one', async () => {
    const live = file(inPod('main', '0.log'));
    expect(await causeOf(logs.removeRotated(live, never))).toContain('it is not a rotated log');
    expect(existsSync(live)).toBe(true);
  });

  test('the log of a container goes with its rotations, the others stay', async () => {
    for (const name of ['1.log', '1.log.20260101-000000', '1.log.20260101-000000.gz', '10.log', '11.log.x'])
      file(inPod('main', name));
    expect(await logs.removeContainerLog(inPod('main', '1.log'), never)).toBe(30);
    expect(readdirSync(inPod('main')).sort()).toEqual(['10.log', '11.log.x']);
  });

  test('characters that a glob would read are taken literally', async () => {
    for (const name of ['[ab].log', 'a.log', '*.log']) file(inPod('main', name));
    await logs.removeContainerLog(inPod('main', '[ab].log'), never);
    await logs.removeContainerLog(inPod('main', '*.log'), never);
    expect(readdirSync(inPod('main'))).toEqual(['a.log']);
  });

  test('a log that is a directory keeps its container', async () => {
    file(inPod('main', '0.log', 'x'));
    expect(await causeOf(logs.removeContainerLog(inPod('main', '0.log'), never))).toContain('is a directory');
  });

  test('a log outside the root is refused', async () => {
    const path = file(join(elsewhere, 'main', '0.log'));
    expect(await causeOf(logs.removeContainerLog(path, never))).toContain('is not below');
    expect(existsSync(path)).toBe(true);
  });

  test.each([
    { name: 'a link to a log that is gone', target: () => inPod('main', '0.log'), goes: true },
    {
      name: 'a link in a directory that is gone',
      target: () => join(pods, 'x_y_z', 'main', '0.log'),
      goes: true,
    },
    { name: 'a relative link to a log that is gone', target: () => '../pods/x_y_z/main/0.log', goes: true },
    { name: 'a link to a log that is there', target: () => inPod('main', '1.log'), goes: false },
    {
      name: 'a relative link to a log that is there',
      target: () => `../pods/${podName}/main/1.log`,
      goes: false,
    },
    {
      name: 'a link to a log that is itself a broken link',
      target: () => inPod('main', '2.log'),
      goes: false,
    },
    {
      name: 'a link to what we cannot judge',
      target: () => '/var/lib/docker/containers/x/x.log',
      goes: false,
    },
  ])('$name: removed is $goes', async ({ target, goes }) => {
    file(inPod('main', '1.log'));
    symlinkSync('/var/lib/docker/nothing-here', inPod('main', '2.log'));
    const link = join(containers, 'crash_web_main-abc123.log');
    symlinkSync(target(), link);
    expect(await logs.removeBrokenLink(link, never)).toBe(goes);
    expect(readdirSync(containers)).toHaveLength(goes ? 0 : 1);
  });

  test('without the root of the pods no link is broken', async () => {
    const link = join(containers, 'crash_web_main-abc123.log');
    symlinkSync(inPod('main', '0.log'), link);
    rmSync(pods, { recursive: true });
    expect(await logs.removeBrokenLink(link, never)).toBe(false);
    expect(readdirSync(containers)).toHaveLength(1);
  });

  test('a file among the links is not touched', async () => {
    const path = file(join(containers, 'crash_web_main-abc123.log'));
    expect(await logs.removeBrokenLink(path, never)).toBe(false);
    expect(existsSync(path)).toBe(true);
  });

  test('an abort ends a removal with the reason of the signal', async () => {
    file(inPod('main', '0.log'));
    await expect(logs.removeDirectory(inPod(), AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(existsSync(inPod('main', '0.log'))).toBe(true);
  });

  test('directories nested beyond all reason are left, handles are not leaked', async () => {
    file(inPod(...Array.from({ length: 40 }, () => 'd'), 'x'));
    const handles = readdirSync('/proc/self/fd').length;
    expect(await causeOf(logs.removeDirectory(inPod(), never))).toContain('too many levels');
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(handles);
  });
});
