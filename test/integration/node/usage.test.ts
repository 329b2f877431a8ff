import { linkSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readMounts } from '../../../src/node/storage/mounts.ts';
import { diskUsage } from '../../../src/node/storage/usage.ts';
import { file, temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;
const at = temporaryDirectory();

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
    expect(usage).toMatchObject({ entries: 1 });
  });

  test('does not count other file systems', async () => {
    const mounted = (await readMounts()).map(({ point }) => point).filter((path) => path.startsWith('/dev/'));
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
    expect(cut).toMatchObject({ entries: 10 });
    expect(await diskUsage(at('many'), bounds, never)).toMatchObject({ entries: 41 });
  });
});
