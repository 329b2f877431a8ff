import { mkdirSync, utimesSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { HeldDirectory } from '../../../src/node/logs/directory.ts';
import { LocalLogs } from '../../../src/node/logs/logs.ts';
import { file, openBelow, temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;
const at = temporaryDirectory();
const inPod = (...names: readonly string[]): string => at('pods', 'web_crash_uid', ...names);
let logs: LocalLogs;

beforeEach(() => {
  for (const name of ['pods', 'containers']) mkdirSync(at(name));
  logs = new LocalLogs({ pods: at('pods'), containers: at('containers') });
});

const describeOnLinux = describe.skipIf(process.platform !== 'linux');

describeOnLinux('a list', () => {
  test('has the pods to a depth of four names, and one level of links', async () => {
    const listed = [file(inPod('main', 'deep', 'x')), file(at('containers', 'y'))];
    file(inPod('main', 'deep', 'er', 'x'));
    file(at('containers', 'directory', 'y'));
    const { entries, directories, complete } = await logs.list(never);
    expect(entries.map(({ path }) => path)).toEqual(listed);
    expect(directories).toEqual([inPod()]);
    expect(complete).toBe(true);
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

  test('ends with the reason of the signal, and leaks no handle', async () => {
    file(inPod('main', '0.log'));
    await logs.list(never);
    await expect(logs.list(AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    expect(openBelow(at())).toEqual([]);
  });
});

describeOnLinux('a directory that is held', () => {
  const held = async (path: string): Promise<HeldDirectory> => {
    const directory = await HeldDirectory.root(path);
    if (directory === undefined) throw new Error(`${path} is missing`);
    onTestFinished(() => directory.close());
    return directory;
  };

  test.each(['', '.', '..', 'a/b', 'a\0b'])('refuses the name %j', async (name) => {
    const directory = await held(at('pods'));
    await expect(directory.stat(name)).rejects.toThrow('refusing the name');
    await expect(directory.unlink(name)).rejects.toThrow('refusing the name');
  });

  test('refuses a mount point, and leaks no handle', async () => {
    const directory = await held('/');
    await expect(directory.child('proc')).rejects.toThrow('refusing to cross a mount point');
    expect(openBelow('/proc')).not.toContain('/proc');
  });

  test('has not removed a file that another process removed', async () => {
    expect(await (await held(at('pods'))).unlink('gone')).toBe(false);
  });
});
