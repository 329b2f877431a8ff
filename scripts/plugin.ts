// npm run plugin [-- --repository=URL]: writes the archive of the kubectl plugin (dist/*.js, LICENSE) and its krew manifest to dist/plugin/
// (plugins/dustpan.yaml with version, checksum and repository). The same build gives the same bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptOptions } from './arguments.ts';
import { gzipSync } from 'node:zlib';
import { tar, type TarEntry } from './tar.ts';

const { repository } = scriptOptions({ options: { repository: { type: 'string' } } }).values;
const { version, license, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
  Record<string, unknown>
>;
const out = join('dist', 'plugin');

/** Offset of the operating system in a gzip header; 255 is unknown. */
const systemByte = 9;

function archive(): Buffer {
  const bundle = readdirSync('dist')
    .filter((name) => name.endsWith('.js'))
    .sort()
    .map((name) => fileEntry(`dist/${name}`));
  // Node reads dist/ as modules only with this package.json.
  const facts = { name: 'kubectl-dustpan', version, license, type: 'module', engines };
  const about = { path: 'package.json', data: Buffer.from(`${JSON.stringify(facts, undefined, 2)}\n`) };
  const packed = gzipSync(Buffer.concat(tar([fileEntry('LICENSE'), about, ...bundle])), { level: 9 });
  packed[systemByte] = 255;
  return packed;
}

function fileEntry(path: string): TarEntry {
  const isProgram = (statSync(path).mode & 0o100) !== 0;
  return { path, data: readFileSync(path), mode: isProgram ? 0o755 : 0o644 };
}

/** The template with each `${NAME}` that has a value filled in. */
const filled = (template: string, values: Readonly<Record<string, string | undefined>>): string =>
  template.replaceAll(/\$\{([A-Z0-9]+)\}/g, (whole, name: string) => values[name] ?? whole);

/** The template without its comment. */
const template = readFileSync(join('plugins', 'dustpan.yaml'), 'utf8').replace(/^(#.*\n)+/, '');
const packed = archive();
const sha256 = createHash('sha256').update(packed).digest('hex');
const file = join(out, `kubectl-dustpan-v${String(version)}.tar.gz`);
const manifest = filled(template, { VERSION: String(version), SHA256: sha256, REPOSITORY: repository });

rmSync(out, { recursive: true, force: true });
mkdirSync(out);
writeFileSync(file, packed);
writeFileSync(join(out, 'dustpan.yaml'), manifest);
process.stdout.write(`${sha256}  ${file}\n`);
if (repository === undefined)
  process.stderr.write('no --repository=URL: the manifest can only be installed with --archive=FILE\n');
