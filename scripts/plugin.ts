// npm run plugin [-- --repository=URL --archives=DIR]: writes the krew manifest of the kubectl plugin beside the archives that
// `npm run executable` made (dist/executable/dustpan.yaml): plugins/dustpan.yaml, with each platform's archive and its checksum.
// With --repository, the manifest of a release, all platforms must be there.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { scriptOptions } from './arguments.ts';

const { repository, archives } = scriptOptions({
  options: {
    repository: { type: 'string' },
    archives: { type: 'string', default: join('dist', 'executable') },
  },
}).values;
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const platforms = ['linux', 'darwin', 'windows'].flatMap((os) =>
  ['amd64', 'arm64'].map((arch) => ({
    os,
    arch,
    file: `kubectl-dustpan-v${version}-${os}-${arch}.tar.gz`,
  })),
);
type Platform = (typeof platforms)[number];

const isThere = ({ file }: Platform): boolean => existsSync(join(archives, file));
const present = platforms.filter(isThere);
const missing = platforms.filter((platform) => !isThere(platform)).map(({ file }) => file);
if (present.length === 0 || (repository !== undefined && missing.length > 0)) {
  process.stderr.write(
    `plugin: ${archives} lacks ${missing.join(', ')}: run npm run executable on these platforms\n`,
  );
  process.exit(1);
}

const manifest = load(template()) as { readonly spec: object };
const spec = { ...manifest.spec, platforms: present.map(manifestEntry) };
const file = join(archives, 'dustpan.yaml');
writeFileSync(file, dump({ ...manifest, spec }, { lineWidth: -1, noRefs: true }));
process.stdout.write(`${file}\n`);
if (repository === undefined)
  process.stderr.write('no --repository=URL: the manifest can only be installed with --archive=FILE\n');

/** plugins/dustpan.yaml with the version, and the repository if it is given. */
function template(): string {
  const text = readFileSync(join('plugins', 'dustpan.yaml'), 'utf8').replaceAll('${VERSION}', version);
  return repository === undefined ? text : text.replaceAll('${REPOSITORY}', repository);
}

/** An entry without `files`: krew installs every file of the archive. */
function manifestEntry({ os, arch, file }: Platform) {
  return {
    selector: { matchLabels: { os, arch } },
    uri: `${repository ?? '${REPOSITORY}'}/releases/download/v${version}/${file}`,
    sha256: createHash('sha256')
      .update(readFileSync(join(archives, file)))
      .digest('hex'),
    bin: os === 'windows' ? 'kubectl-dustpan.exe' : 'kubectl-dustpan',
  };
}
