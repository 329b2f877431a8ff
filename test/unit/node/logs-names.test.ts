import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LocalLogs } from '../../../src/node/logs/logs.ts';

const never = new AbortController().signal;
const podName = 'web_crash_433160a7-7ac4-5869-936e-3ef9d53f3eaa';
/** Latin-1 for `ü`: no UTF-8. */
const strange = Buffer.from([0x6c, 0xfc, 0x67]);
let base: string;
let pods: string;
let containers: string;
let logs: LocalLogs;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'dustpan-logs-'));
  [pods, containers] = [join(base, 'pods'), join(base, 'containers')];
  mkdirSync(join(pods, podName, 'main'), { recursive: true });
  mkdirSync(containers);
  logs = new LocalLogs({ pods, containers });
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const below = (directory: string, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${directory}/`), name]);
const mainOf = (): string => join(pods, podName, 'main');

describe.skipIf(process.platform !== 'linux')('names that are no UTF-8', () => {
  test('go with their directory, and are counted', async () => {
    writeFileSync(below(mainOf(), strange), 'x'.repeat(7));
    mkdirSync(below(join(pods, podName), strange));
    writeFileSync(
      Buffer.concat([below(join(pods, podName), strange), Buffer.from('/'), strange]),
      'x'.repeat(5),
    );
    expect(await logs.removeDirectory(join(pods, podName), never)).toBe(12);
    expect(existsSync(join(pods, podName))).toBe(false);
  });

  test('are not listed: as text they would name something else', async () => {
    mkdirSync(below(pods, strange));
    writeFileSync(below(mainOf(), strange), 'x');
    writeFileSync(join(mainOf(), '0.log'), 'xy');
    const { entries, directories, complete } = await logs.list(never);
    expect(entries.map(({ path }) => path)).toEqual([join(mainOf(), '0.log')]);
    expect(directories).toEqual([join(pods, podName)]);
    expect(complete).toBe(true);
  });

  test('a rotation with one goes with its log', async () => {
    writeFileSync(join(mainOf(), '0.log'), 'xy');
    writeFileSync(below(mainOf(), Buffer.concat([Buffer.from('0.log.'), strange])), 'xyz');
    expect(await logs.removeContainerLog(join(mainOf(), '0.log'), never)).toBe(5);
  });

  test('a link that leads to one is not called broken', async () => {
    const target = below(mainOf(), strange);
    writeFileSync(target, 'x');
    const link = join(containers, 'crash_web_main-abc123.log');
    symlinkSync(target, link);
    expect((await logs.list(never)).entries.map(({ path }) => path)).toEqual([]);
    expect(await logs.removeBrokenLink(link, never)).toBe(false);
  });
});
