import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TarEntry } from '../tar.ts';
import { nodePath, type ImageFile } from './layout.ts';

/** The image's files in the repository after `npm run build`; throws without a build. */
export function appFiles(root: string, files: readonly ImageFile[]): readonly TarEntry[] {
  return files.flatMap(({ from, to, mode }) => {
    if (!from.endsWith('*.js')) return [fileEntry(join(root, from), to, mode)];
    const names = readdirSync(join(root, dirname(from))).filter((name) => name.endsWith('.js'));
    if (names.length === 0) throw new Error(`nothing matches ${from}: run npm run build first`);
    // A fixed order, independent of the file system.
    return names.sort().map((name) => fileEntry(join(root, dirname(from), name), `${to}${name}`, mode));
  });
}

function fileEntry(path: string, to: string, mode?: string): TarEntry {
  const isProgram = (statSync(path).mode & 0o100) !== 0;
  return { path: to, data: readFileSync(path), mode: mode ? parseInt(mode, 8) : isProgram ? 0o755 : 0o644 };
}

/**
 * This machine's Node with its libraries and loader at their paths, and the files that a C library reads: the content of a distroless base
 * image.
 */
export function nodeFiles(): readonly TarEntry[] {
  const node = realpathSync(process.execPath);
  return [
    { path: 'tmp', folder: true, mode: 0o1777 },
    { path: 'home/nonroot', folder: true, mode: 0o755 },
    text('etc/passwd', [
      'root:x:0:0:root:/root:/sbin/nologin',
      'nonroot:x:65532:65532::/home/nonroot:/sbin/nologin',
    ]),
    text('etc/group', ['root:x:0:', 'nonroot:x:65532:']),
    text('etc/nsswitch.conf', ['hosts: files dns']),
    { path: nodePath, data: readFileSync(node), mode: 0o755 },
    ...librariesOf(node).map((path) => ({ path, data: readFileSync(path), mode: 0o755 })),
  ];
}

const text = (path: string, lines: readonly string[]): TarEntry => ({
  path,
  data: Buffer.from(`${lines.join('\n')}\n`),
});

/** The paths in the output of ldd, including the loader; linux-vdso has no path. */
function librariesOf(program: string): readonly string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const libraries = listed.match(/(?<=\s)\/\S+(?= \(0x)/g) ?? [];
  if (!libraries.some((path) => basename(path).startsWith('ld-')))
    throw new Error(`ldd names no loader for ${program}: a static Node, or not glibc`);
  return [...libraries].sort();
}
