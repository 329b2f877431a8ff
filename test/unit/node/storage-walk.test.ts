import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { doJob } from '../../../src/node/storage-jobs.ts';
import { measure, mountsInVolumes, type WalkBounds } from '../../../src/node/storage-walk.ts';

let folder: string;
const at = (...names: readonly string[]): string => join(folder, ...names);
const bounds = (more: Partial<WalkBounds> = {}): WalkBounds => ({
  ...{ maxEntries: 100_000, pace: () => undefined, mountpoints: new Set<string>() },
  ...more,
});
const mebi = 1024 * 1024;
const write = (name: string, bytes: number): void => {
  writeFileSync(at(name), Buffer.alloc(bytes, 1));
};
/** Of du, which does the same. */
const du = (path: string): number =>
  Number(execFileSync('du', ['-s', '-x', '--block-size=1', path], { encoding: 'utf8' }).split('\t')[0]);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dustpan-walk-'));
  mkdirSync(at('volume', 'a', 'b'), { recursive: true });
  mkdirSync(at('outside'));
  write('outside/big', 4 * mebi);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** undefined = closed since it was listed. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

const volumeBytes = (more?: Partial<WalkBounds>): number | string => {
  const walked = measure(at('volume'), bounds(more));
  return walked.kind === 'measured' ? walked.bytes : walked.kind;
};

describe('measures as du', () => {
  test('files and directories, by the blocks they have', () => {
    write('volume/one', 10_000);
    write('volume/a/b/two', mebi);
    expect(volumeBytes()).toBe(du(at('volume')));
    expect(volumeBytes()).toBeGreaterThan(mebi + 10_000);
  });

  test('a file with several names once', () => {
    write('volume/one', mebi);
    linkSync(at('volume/one'), at('volume/a/again'));
    linkSync(at('volume/one'), at('volume/a/b/again'));
    expect(volumeBytes()).toBe(du(at('volume')));
    expect(volumeBytes()).toBeLessThan(1.5 * mebi);
  });

  test('a sparse file by what it has', () => {
    write('volume/sparse', 4096);
    truncateSync(at('volume/sparse'), 1024 * mebi);
    expect(volumeBytes()).toBe(du(at('volume')));
    expect(volumeBytes()).toBeLessThan(mebi);
  });

  test('no link that leads out', () => {
    symlinkSync(at('outside'), at('volume/a/link'));
    symlinkSync(at('outside/big'), at('volume/file'));
    symlinkSync('/proc', at('volume/proc'));
    expect(volumeBytes()).toBe(du(at('volume')));
    expect(volumeBytes()).toBeLessThan(mebi);
  });

  test('names that are no text', () => {
    const name = Buffer.concat([Buffer.from(`${at('volume')}/`), Buffer.from([0xff, 0xfe, 0x41])]);
    mkdirSync(name);
    writeFileSync(Buffer.concat([name, Buffer.from('/x')]), Buffer.alloc(mebi, 1));
    expect(volumeBytes()).toBe(du(at('volume')));
    expect(volumeBytes()).toBeGreaterThan(mebi);
  });

  test('many directories', () => {
    for (let i = 0; i < 300; i += 1) mkdirSync(at('volume', `d${i}`, 'e'), { recursive: true });
    expect(volumeBytes()).toBe(du(at('volume')));
  });

  test('a file by itself', () => {
    write('one', 5000);
    expect(measure(at('one'), bounds())).toEqual({ kind: 'measured', bytes: du(at('one')) });
  });

  test('of another file system nothing', () => {
    expect(doJob({ key: 'k', path: at('volume'), kind: 'mount' }, bounds()).walked).toMatchObject({
      kind: 'unknown',
      problem: expect.stringContaining('HostToContainer') as unknown,
    });
  });
});

describe('cannot tell', () => {
  test('what is not there', () => {
    expect(measure(at('none'), bounds())).toEqual({ kind: 'missing' });
    expect(measure(at('outside/big/x'), bounds())).toEqual({ kind: 'missing' });
    expect(doJob({ key: 'k', path: at('none', 'x'), kind: 'mount' }, bounds()).walked.kind).toBe('missing');
    expect(doJob({ key: 'k', path: at('none'), kind: 'each' }, bounds()).walked.kind).toBe('missing');
  });

  test('what has too many entries', () => {
    for (let i = 0; i < 50; i += 1) write(`volume/${i}`, 1);
    expect(measure(at('volume'), bounds({ maxEntries: 40 }))).toEqual({
      kind: 'unknown',
      problem: 'more than 40 entries',
    });
    expect(volumeBytes({ maxEntries: 53 })).toBe(du(at('volume')));
  });

  test('what is nested too deeply', () => {
    mkdirSync(at('volume', ...Array.from({ length: 200 }, () => 'd')), { recursive: true });
    expect(measure(at('volume'), bounds())).toMatchObject({ problem: 'more than 128 levels of directories' });
  });

  const canDrop =
    process.getuid?.() === 0 && spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).status === 0;
  test.skipIf(!canDrop)('what may not be read, without the capability for it', async () => {
    const entry = join(process.cwd(), 'src/node/storage-walk.ts');
    await build({
      ...{ entryPoints: [entry], outfile: at('walk.mjs'), bundle: true },
      ...{ platform: 'node', format: 'esm' },
    });
    mkdirSync(at('volume', 'secret'));
    chmodSync(at('volume', 'secret'), 0o000);
    const script = `import { measure } from ${JSON.stringify(at('walk.mjs'))};
      const pace = () => undefined;
      const walked = measure(${JSON.stringify(at('volume'))}, { maxEntries: 100, pace, mountpoints: new Set() });
      console.log(JSON.stringify(walked));`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const caps = '--bounding-set=-dac_override,-dac_read_search';
    expect(JSON.parse(execFileSync('setpriv', [caps, ...node], { encoding: 'utf8' }))).toEqual({
      kind: 'unknown',
      problem: 'it may not be read (a pod needs the capability DAC_READ_SEARCH for that)',
    });
    expect(volumeBytes()).toBe(du(at('volume')));
  });
});

describe('while things change', () => {
  test('what vanishes takes nothing', () => {
    for (let i = 0; i < 600; i += 1) write(`volume/${i}`, 1);
    const pace = (): void => {
      rmSync(at('volume'), { recursive: true, force: true });
    };
    expect(volumeBytes({ pace })).toBeLessThan(600 * 4096);
  });

  test('a directory that becomes a link leads nowhere', () => {
    for (let i = 0; i < 300; i += 1) {
      mkdirSync(at('volume', `d${i}`));
      write(`volume/d${i}/x`, 1);
    }
    let isSwapped = false;
    const pace = (): void => {
      if (isSwapped) return;
      isSwapped = true;
      for (let i = 0; i < 300; i += 1) {
        renameSync(at('volume', `d${i}`), at('outside', `d${i}`));
        symlinkSync(at('outside'), at('volume', `d${i}`));
      }
    };
    expect(volumeBytes({ pace })).toBeLessThan(4 * mebi);
    expect(isSwapped).toBe(true);
  });

  test('file descriptors are given back', () => {
    // Other tests of this process open and close files of theirs at the same time.
    const open = (): readonly string[] =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        const target = linkOf(`/proc/self/fd/${fd}`);
        return target?.startsWith(folder) === true ? [target] : [];
      });
    const held = openSync(at('volume'), 'r');
    expect(open()).toEqual([at('volume')]);
    closeSync(held);
    for (let i = 0; i < 20; i += 1) measure(at('volume'), bounds({ maxEntries: 2 }));
    expect(open()).toEqual([]);
  });
});

describe('by name', () => {
  test('each directory, and the files together', () => {
    write('volume/0.log', 10_000);
    write('volume/1.log', 10_000);
    write('volume/a/x', mebi);
    mkdirSync(at('volume', 'empty'));
    const { walked, parts } = doJob({ key: 'k', path: at('volume'), kind: 'each' }, bounds());
    const expected = [
      ['', du(at('volume/0.log')) * 2],
      ['a', du(at('volume/a'))],
      ['empty', du(at('volume/empty'))],
    ] as const;
    expect([...parts].sort()).toEqual([...expected].sort());
    expect(walked).toEqual({
      kind: 'measured',
      bytes: expected.reduce((sum, [, bytes]) => sum + bytes, 0),
    });
  });

  test('of logs only files count, and none that lies deeper', () => {
    write('volume/pod.log', 5000);
    write('volume/a/0.log', 10_000);
    write('volume/a/0.log.1', 20_000);
    write('volume/a/b/deep', mebi);
    const { parts } = doJob({ key: 'k', path: at('volume'), kind: 'logs' }, bounds());
    const own = du(at('volume/a/0.log')) + du(at('volume/a/0.log.1'));
    expect([...parts].sort()).toEqual([
      ['', du(at('volume/pod.log'))],
      ['a', own],
    ]);
  });

  test('none when one of them cannot be told', () => {
    for (let i = 0; i < 50; i += 1) write(`volume/a/${i}`, 1);
    const { walked, parts } = doJob(
      { key: 'k', path: at('volume'), kind: 'each' },
      bounds({ maxEntries: 20 }),
    );
    expect(walked.kind).toBe('unknown');
    expect(parts).toEqual([]);
  });
});

describe('mounts in volumes', () => {
  test('are those below a volume, never the volume itself', () => {
    const volume = '/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/data';
    const line = (path: string): string => `36 35 98:0 / ${path} rw,noatime shared:1 - fuse fuse rw`;
    writeFileSync(
      at('mountinfo'),
      ['/', volume, `${volume}/a\\040b`, '/mnt/x'].map((path) => line(path)).join('\n'),
    );
    expect([...mountsInVolumes(at('mountinfo'))]).toEqual([`${volume}/a b`]);
  });

  test('are not touched', () => {
    write('volume/a/x', mebi);
    expect(volumeBytes({ mountpoints: new Set([at('volume/a')]) })).toBe(
      du(at('volume')) - du(at('volume/a')),
    );
  });
});
