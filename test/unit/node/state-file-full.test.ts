import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from './directory.ts';
import { canMount, runWithMounts } from './mounting.ts';

const at = temporaryDirectory();

/** Writes a small state, fills the disk, writes a large one, makes room, writes it again; prints the result of each step. */
const program = (directory: string): string => `
  import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
  import { StateDirectory } from './src/commands/agent/state.ts';
  const base = ${JSON.stringify(directory)};
  const never = new AbortController().signal;
  const directory = new StateDirectory(base, { warn: () => undefined });
  const stateOf = (count) => ({
    images: new Map(Array.from({ length: count }, (_, i) => ['sha256:' + i, { firstDetectedMs: 0, lastUsedMs: undefined }])),
    removed: [],
  });
  function fill() {
    const file = openSync(base + '/filler', 'w');
    try {
      for (;;) writeSync(file, Buffer.alloc(1024));
    } catch {
      closeSync(file);
    }
  }
  const steps = [];
  async function write(count) {
    const failure = await directory.write(stateOf(count), never).then(() => 'written', (err) => err.message);
    steps.push({
      failure,
      trouble: directory.check() ?? 'none',
      images: Object.keys(JSON.parse(readFileSync(base + '/state.json', 'utf8')).images).length,
      files: readdirSync(base).filter((name) => name.startsWith('state')),
    });
  }
  await directory.prepare();
  await write(1);
  fill();
  await write(5_000);
  rmSync(base + '/filler');
  await write(5_000);
  console.log(JSON.stringify(steps));`;

test.skipIf(!canMount)(
  'on a full disk the old state stays whole, no half file stays, and it is written when there is room again (needs root and mount namespaces)',
  () => {
    mkdirSync(at('state'));
    const out = runWithMounts(
      at(),
      program(at('state')),
      (run) => `mount -t tmpfs -o size=1m none "${at('state')}" && ${run}`,
    );
    const full = `writing state file ${at('state', 'state.json')} (ENOSPC)`;
    const files = ['state.json'];
    expect(JSON.parse(out)).toEqual([
      { failure: 'written', trouble: 'none', images: 1, files },
      { failure: full, trouble: expect.stringContaining(full) as string, images: 1, files },
      { failure: 'written', trouble: 'none', images: 5_000, files },
    ]);
  },
);
