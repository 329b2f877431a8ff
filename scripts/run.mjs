// node scripts/run.mjs FILE.ts [ARG…]: bundles one TypeScript entry (our files only, packages stay outside) and runs it.
// Node 20, the floor, cannot read TypeScript by itself; esbuild is there for the build anyway.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = resolve(process.argv[2] ?? '');
const outfile = join(root, '.cache', 'run', `${basename(entry, '.ts')}-${process.pid}.mjs`);
mkdirSync(dirname(outfile), { recursive: true });
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
});
process.argv.splice(1, 2, entry);
process.setSourceMapsEnabled(true);
const { rmSync } = await import('node:fs');
process.on('exit', () => rmSync(outfile, { force: true }));
try {
  await import(pathToFileURL(outfile).href);
} catch (err) {
  if (!String(err?.code).startsWith('ERR_PARSE_ARGS')) throw err;
  // What was typed is wrong, not the program. Only the first sentence is about it.
  process.stderr.write(`${basename(entry, '.ts')}: ${err.message.split('. ')[0]}\n`);
  process.exit(2);
}
