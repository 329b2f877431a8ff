// npm run generate:protos, verify:protos: generates TypeScript from each folder of protos. With --verify it writes nothing and fails on a
// difference.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const verify = process.argv.includes('--verify');
const bin = (name) => join(here, 'node_modules/.bin', name);

const common = [
  'esModuleInterop=true',
  'importSuffix=.ts',
  'exportCommonSymbols=false',
  'useExactTypes=false',
  'outputJsonMethods=false',
  'annotateFilesWithVersion=false',
];
const sets = [
  {
    from: 'src/containerd/proto',
    to: 'src/containerd/gen',
    options: ['forceLong=number', 'outputServices=generic-definitions', 'enumsAsLiterals=true'],
  },
  // Grace periods and seconds since 1970 fit a number; bigint costs memory and speed.
  { from: 'src/kube/proto', to: 'src/kube/gen', options: ['forceLong=number', 'outputServices=none'] },
  // Nanoseconds since 1970 need all 64 bits; grpc-js needs definitions of methods; enums are not erasable syntax.
  {
    from: 'src/cri/proto',
    to: 'src/cri/gen',
    options: ['forceLong=bigint', 'outputServices=generic-definitions', 'enumsAsLiterals=true'],
  },
];

for (const set of sets) generate(set);

function generate({ from, to, options }) {
  const out = verify ? mkdtempSync(join(tmpdir(), 'dustpan-protos-')) : join(root, to);
  const template = {
    version: 'v2',
    clean: !verify,
    plugins: [{ local: bin('protoc-gen-ts_proto'), out, opt: [...options, ...common] }],
  };
  try {
    const buf = ['generate', '--template', JSON.stringify(template), join(root, from)];
    execFileSync(bin('buf'), buf, { stdio: 'inherit' });
    if (verify) compare(out, to);
  } finally {
    if (verify) rmSync(out, { recursive: true, force: true });
  }
}

function compare(out, to) {
  const read = (dir) =>
    Object.fromEntries(readdirSync(dir).map((f) => [f, readFileSync(join(dir, f), 'utf8')]));
  const [now, then] = [read(out), read(join(root, to))];
  const stale = [...new Set([...Object.keys(now), ...Object.keys(then)])].filter((f) => now[f] !== then[f]);
  if (stale.length === 0) return;
  console.error(`${to} is stale: ${stale.join(', ')}; run npm run generate:protos`);
  process.exitCode = 1;
}
