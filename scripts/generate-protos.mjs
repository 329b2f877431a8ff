// node scripts/generate-protos.mjs [--verify]: src/kube/proto/*.proto -> src/kube/gen/*.ts. With --verify nothing is written; a difference fails.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const committed = join(root, 'src/kube/gen');
const verify = process.argv.includes('--verify');
const out = verify ? mkdtempSync(join(tmpdir(), 'dustpan-protos-')) : committed;
const bin = (name) => join(root, 'node_modules/.bin', name);

const options = [
  'forceLong=number', // grace periods and seconds since 1970 fit; bigint costs memory and speed
  'esModuleInterop=true',
  'importSuffix=.ts',
  'exportCommonSymbols=false',
  'useExactTypes=false',
  'outputServices=none',
  'outputJsonMethods=false',
  'annotateFilesWithVersion=false',
];
const template = {
  version: 'v2',
  clean: !verify,
  plugins: [{ local: bin('protoc-gen-ts_proto'), out, opt: options }],
};
const input = join(root, 'src/kube/proto');

try {
  execFileSync(bin('buf'), ['generate', '--template', JSON.stringify(template), input], { stdio: 'inherit' });
  if (verify) compare();
} finally {
  if (verify) rmSync(out, { recursive: true, force: true });
}

function compare() {
  const read = (dir) =>
    Object.fromEntries(readdirSync(dir).map((f) => [f, readFileSync(join(dir, f), 'utf8')]));
  const [now, then] = [read(out), read(committed)];
  const stale = [...new Set([...Object.keys(now), ...Object.keys(then)])].filter((f) => now[f] !== then[f]);
  if (stale.length === 0) return;
  console.error(`src/kube/gen is not what the protos generate: ${stale.join(', ')}; run npm run generate`);
  process.exitCode = 1;
}
