import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { StorageWalker } from '../../src/node/storage-walker.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { build } from './built.ts';

test('the build makes the thread that walks, beside the command', async () => {
  const built = build();
  const folder = mkdtempSync(join(tmpdir(), 'dustpan-storage-'));
  const workerFile = pathToFileURL(join(dirname(built.main), 'storage-worker.js'));
  const walker = new StorageWalker({ clock: systemClock, workerFile });
  try {
    writeFileSync(join(folder, 'x'), 'x'.repeat(10_000));
    const job = { key: 'k', path: folder, kind: 'whole' } as const;
    const known = await walker.look([job], new AbortController().signal);
    expect(known.get('k')?.walked).toMatchObject({ kind: 'measured' });
  } finally {
    await walker.close();
    built.remove();
    rmSync(folder, { recursive: true });
  }
});
