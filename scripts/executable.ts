// npm run executable [-- --out=DIR]: writes dustpan for this platform as one program that needs no Node, and an archive of it with the
// licences: dist/executable/kubectl-dustpan-vVERSION-OS-ARCH.tar.gz. The program contains the Node that runs this script (docs/adr/0050). It is
// kubectl's plugin, and the same command under any other name.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { scriptOptions } from './arguments.ts';
import { tar } from './tar.ts';

/** Node looks for it in its own binary (doc/api/single-executable-applications.md of Node). */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const { out } = scriptOptions({
  options: { out: { type: 'string', default: join('dist', 'executable') } },
}).values;
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const isWindows = process.platform === 'win32';
const platform = `${isWindows ? 'windows' : process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
const name = isWindows ? 'kubectl-dustpan.exe' : 'kubectl-dustpan';
const program = join(out, name);

mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'dustpan-executable-'));
try {
  const [bundle, blob] = [join(work, 'dustpan.cjs'), join(work, 'dustpan.blob')] as const;
  const run = (file: string, ...args: readonly string[]): void => {
    execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  run(process.execPath, join('scripts', 'build.mjs'), `--single=${bundle}`);
  const config = join(work, 'sea.json');
  writeFileSync(config, JSON.stringify({ main: bundle, output: blob, disableExperimentalSEAWarning: true }));
  run(process.execPath, '--experimental-sea-config', config);
  copyFileSync(process.execPath, program);
  // macOS starts only signed programs: the signature of Node ends here, one without an identity takes its place.
  const isMac = process.platform === 'darwin';
  if (isMac) run('codesign', '--remove-signature', program);
  const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : [];
  run(process.execPath, postject, program, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse, ...segment);
  if (isMac) run('codesign', '--sign', '-', program);
  const archive = join(out, `kubectl-dustpan-v${version}-${platform}.tar.gz`);
  const files = [
    { path: name, data: readFileSync(program), mode: 0o755 },
    { path: 'LICENSE', data: readFileSync('LICENSE'), mode: 0o644 },
    { path: 'THIRD-PARTY.txt', data: readFileSync(join(work, 'THIRD-PARTY.txt')), mode: 0o644 },
  ];
  writeFileSync(archive, gzipSync(Buffer.concat(tar(files))));
  process.stdout.write(`${program}\n${archive}\n`);
} finally {
  rmSync(work, { recursive: true });
}
