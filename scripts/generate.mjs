// node scripts/generate.mjs [--verify]: writes all generated files. With --verify it writes nothing and fails on a difference.
//   crds/*.yaml                  -> src/api/gen/*.gen.ts (types, validator of a policy's spec), docs/reference/crd.md
//   crds/*.yaml and values.yaml  -> the chart's generated files
//   the program                  -> the rest of docs/reference, the dashboard
// The decoders (src/kube/gen, src/cri/gen) have their own generator: scripts/protos.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { chartComplaints, chartFiles } from './generate/chart.mjs';
import { lintCrd } from './generate/lint.mjs';
import { reference } from './generate/reference.mjs';
import { types } from './generate/types.mjs';
import { validation } from './generate/validation.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const verify = process.argv.includes('--verify');

const crds = readdirSync(join(root, 'crds'))
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => ({ source: `crds/${file}`, crd: load(readFileSync(join(root, 'crds', file), 'utf8')) }));

const { reasonsWithoutText } = await import('./generate/reasons-page.ts');
const complaints = [
  ...reasonsWithoutText(),
  ...crds.flatMap(({ source, crd }) => lintCrd(crd).map((line) => `${source}: ${line}`)),
  ...chartComplaints(root),
];
for (const line of complaints) console.error(line);
if (complaints.length > 0 && !verify) process.exit(1);

const files = { 'docs/reference/crd.md': reference(crds), ...chartFiles(root, crds) };
for (const { source, crd } of crds) {
  files[`src/api/gen/${crd.spec.names.singular}.gen.ts`] = await types(source, crd);
  if (crd.spec.names.kind === 'GCPolicy')
    files['src/api/gen/gcpolicy-spec.gen.ts'] = await validation(source, crd);
}

// The program, from which the pages are generated, needs the modules above.
if (!verify) write(files);
const { pages } = await import('./generate/pages.ts');
Object.assign(files, await pages());

const stale = verify ? compare(files) : write(files);
process.exit(complaints.length > 0 || stale ? 1 : 0);

function write(generated) {
  for (const [path, text] of Object.entries(generated)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return false;
}

/** Whether a file differs from its generated text. */
function compare(generated) {
  const read = (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined);
  const stale = Object.entries(generated).filter(([path, text]) => read(path) !== text);
  for (const [path] of stale) console.error(`${path} is stale; run npm run generate`);
  return stale.length > 0;
}
