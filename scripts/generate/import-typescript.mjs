import { build } from 'esbuild';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What only a command loads that runs: neither bundled nor ever asked for. */
const lazyOutside = {
  name: 'lazy-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** Imports a TypeScript module, for Node 20 cannot; it must not import lazily itself. */
export async function importTypeScript(root, entry) {
  const outfile = join(root, '.cache/generate', `${basename(entry, '.ts')}-${process.pid}.mjs`);
  mkdirSync(join(root, '.cache/generate'), { recursive: true });
  try {
    await build({
      plugins: [lazyOutside],
      entryPoints: [join(root, entry)],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'warning',
      define: { __DUSTPAN_VERSION__: '"any"', __DUSTPAN_REVISION__: '"any"' },
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}
