import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { canMount } from './mounting.ts';

/** Writes a small state, fills the disk, writes a large one, makes room, writes it again; tells after each step what there is. */
const program = (directory: string): string => `
  import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
  import { StateDirectory } from './src/commands/agent/state.ts';
  const never = new AbortController().signal;
  const warn = () => undefined;
  const directory = new StateDirectory(${JSON.stringify(directory)}, { warn });
  const stateOf = (count) => ({
    images: new Map(Array.from({ length: count }, (_, i) => ['sha256:' + i, { firstDetectedMs: 0, lastUsedMs: undefined }])),
    removed: [],
  });
  function fill() {
    const file = openSync(${JSON.stringify(join(directory, 'filler'))}, 'w');
    try {
      for (;;) writeSync(file, Buffer.alloc(1024));
    } catch {
      closeSync(file);
    }
  }
  const steps = [];
  async function write(count) {
    const failure = await directory.write(stateOf(count), never).then(() => 'written', (err) => err.message);
    const text = readFileSync(${JSON.stringify(join(directory, 'state.json'))}, 'utf8');
    steps.push({
      failure,
      trouble: directory.check() ?? 'none',
      images: Object.keys(JSON.parse(text).images).length,
      files: readdirSync(${JSON.stringify(directory)}).filter((name) => name.startsWith('state')),
    });
  }
  await directory.prepare();
  await write(1);
  fill();
  await write(5_000);
  rmSync(${JSON.stringify(join(directory, 'filler'))});
  await write(5_000);
  console.log(JSON.stringify(steps));`;

/** A process of its own, in a mount namespace of its own: nothing stays mounted whatever happens. */
function onTinyDisk(base: string): unknown {
  const directory = join(base, 'state');
  mkdirSync(directory);
  const outfile = join(base, 'fill.mjs');
  buildSync({
    stdin: { contents: program(directory), resolveDir: process.cwd() },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  });
  const script = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" "$3"';
  const args = ['--mount', 'sh', '-c', script, 'sh', directory, process.execPath, outfile];
  return JSON.parse(execFileSync('unshare', args, { encoding: 'utf8' }));
}

test.skipIf(!canMount)(
  'on a full disk the old state stays whole, no half file stays, and it is written when there is room again (needs root and mount namespaces)',
  () => {
    const base = mkdtempSync(join(tmpdir(), 'dustpan-full-'));
    try {
      const full = `writing state file ${join(base, 'state', 'state.json')} (ENOSPC)`;
      const files = ['state.json'];
      expect(onTinyDisk(base)).toEqual([
        { failure: 'written', trouble: 'none', images: 1, files },
        { failure: full, trouble: expect.stringContaining(full) as string, images: 1, files },
        { failure: 'written', trouble: 'none', images: 5_000, files },
      ]);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
);
