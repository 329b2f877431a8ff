import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repositoryRoot } from './repository.ts';

/** The jail that a test file asks for. */
export interface FileBed {
  readonly file: string;
  /** Size of the file system that holds the runtime's images. */
  readonly imageFsMB: number;
}

export interface BedFiles {
  /** Repository paths of those that share one jail, because they need no node. */
  readonly plain: readonly string[];
  readonly nodes: readonly FileBed[];
}

/** Asks vitest which files these arguments of `vitest run` select, and each file which jail it wants. */
export function bedFiles(vitestArgs: readonly string[]): BedFiles {
  const args = ['list', '--filesOnly', '--json', ...vitestArgs];
  const vitest = join(repositoryRoot(), 'node_modules/.bin/vitest');
  const env = { ...process.env, DUSTPAN_BED_FILES: '' }; // all of them
  const options = { cwd: repositoryRoot(), env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(vitest, args, options);
  if (status !== 0) throw new Error(`vitest does not say which test files there are:\n${stdout}${stderr}`);
  const listed = JSON.parse(stdout) as readonly { readonly file: string }[];
  const files = [...new Set(listed.map(({ file }) => relative(repositoryRoot(), file)))];
  return sortFiles(files, (file) => readFileSync(join(repositoryRoot(), file), 'utf8'));
}

/** Sparse, so that nothing depends on how full the machine's own disk is, and no sync waits for that. */
const defaultImageFsMB = 4096;

/** Files whose first lines have `// @bed node` or `// @bed node imageFsMB=1024` are nodes. */
export function sortFiles(files: readonly string[], read: (file: string) => string): BedFiles {
  const asked = files.map((file) => ({ file, imageFsMB: nodeDirective(read(file), file) }));
  return {
    plain: asked.flatMap(({ file, imageFsMB }) => (imageFsMB === undefined ? [file] : [])),
    nodes: asked.flatMap(({ file, imageFsMB }) => (imageFsMB === undefined ? [] : [{ file, imageFsMB }])),
  };
}

function nodeDirective(source: string, file: string): number | undefined {
  const head = source.split('\n').slice(0, 10);
  const line = head.find((one) => one.startsWith('// @bed'));
  if (line === undefined) return undefined;
  const asked = /^\/\/ @bed node(?: imageFsMB=(?<megabytes>\d+))?$/.exec(line);
  if (!asked) throw new Error(`${file} asks for a bed that nobody knows: ${line}`);
  return Number(asked.groups?.['megabytes'] ?? defaultImageFsMB);
}
