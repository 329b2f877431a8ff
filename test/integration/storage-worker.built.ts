import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export interface BuiltWorker {
  readonly workerFile: URL;
  remove(): void;
}

/** The thread that walks, built by itself: Node does not run the sources. */
export async function buildStorageWorker(): Promise<BuiltWorker> {
  const folder = mkdtempSync(join(tmpdir(), 'dustpan-storage-worker-'));
  const outfile = join(folder, 'storage-worker.mjs');
  await build({
    entryPoints: [join(process.cwd(), 'src/node/storage-worker.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' },
  });
  return {
    workerFile: pathToFileURL(outfile),
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}
