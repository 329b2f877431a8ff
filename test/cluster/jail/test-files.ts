import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { LoopFileSystem } from './requirements.ts';
import { repositoryRoot } from '../repository.ts';

/** The jail that a test file requires. */
interface NodeFile {
  readonly file: string;
  /** Size of the file system that holds the runtime's images; 0 = they have none of their own. */
  readonly imageFsMB: number;
  /** Size of the node's own disk, if it has one. */
  readonly diskMB: number | undefined;
  /** Its disks are loop devices with this file system. */
  readonly loopDevices: LoopFileSystem | undefined;
  /** Needs Prometheus and promtool too. */
  readonly prometheus: boolean;
}

export interface TestFiles {
  /** Repository paths of those that share one jail, because they need no node. */
  readonly plain: readonly string[];
  /** Likewise, and they need Prometheus and promtool. */
  readonly prometheus: readonly string[];
  readonly nodes: readonly NodeFile[];
}

/** Lists the files that these arguments of `vitest run` select, with the jail of each. */
export function testFiles(vitestArgs: readonly string[]): TestFiles {
  const args = ['list', '--filesOnly', '--json', ...vitestArgs];
  const vitest = join(repositoryRoot(), 'node_modules/.bin/vitest');
  const env = { ...process.env, DUSTPAN_BED_FILES: '' }; // all of them
  const options = { cwd: repositoryRoot(), env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(vitest, args, options);
  if (status !== 0) throw new Error(`vitest does not list the test files:\n${stdout}${stderr}`);
  const listed = JSON.parse(stdout) as readonly { readonly file: string }[];
  const files = [...new Set(listed.map(({ file }) => relative(repositoryRoot(), file)))];
  return sortFiles(files, (file) => readFileSync(join(repositoryRoot(), file), 'utf8'));
}

/** In memory, as much as is used: nothing depends on how full the machine's own disk is, and no sync waits for that. */
const defaultImageFsMB = 4096;

/**
 * Files whose first lines have `// @bed node` run in a node; `prometheus` at the end adds Prometheus, also without a node.
 * `// @bed node imageFsMB=1024` sets the size of the images' file system. `// @bed node diskMB=512` gives the node a disk
 * that its pods, logs and images share; with `imageFsMB=256 diskMB=512` the images have a file system of their own.
 * With `loop` after the sizes, both are loop devices with ext4; with `loop=xfs` with XFS.
 */
function sortFiles(files: readonly string[], read: (file: string) => string): TestFiles {
  const all = files.map((file) => ({ file, ...directive(read(file), file) }));
  const shared = all.filter(({ imageFsMB }) => imageFsMB === undefined);
  return {
    plain: shared.filter(({ prometheus }) => !prometheus).map(({ file }) => file),
    prometheus: shared.filter(({ prometheus }) => prometheus).map(({ file }) => file),
    nodes: all.flatMap(({ imageFsMB, ...one }) => (imageFsMB === undefined ? [] : [{ ...one, imageFsMB }])),
  };
}

interface Directive {
  readonly imageFsMB: number | undefined;
  readonly diskMB: number | undefined;
  readonly loopDevices: LoopFileSystem | undefined;
  readonly prometheus: boolean;
}

function directive(source: string, file: string): Directive {
  const head = source.split('\n').slice(0, 10);
  const line = head.find((one) => one.startsWith('// @bed'));
  if (line === undefined)
    return { imageFsMB: undefined, diskMB: undefined, loopDevices: undefined, prometheus: false };
  const match =
    /^\/\/ @bed(?<node> node(?: imageFsMB=(?<images>\d+))?(?: diskMB=(?<disk>\d+))?(?<loop> loop(?<xfs>=xfs)?)?)?(?<prometheus> prometheus)?$/.exec(
      line,
    );
  const { node, images, disk, loop, xfs, prometheus } = match?.groups ?? {};
  if (node === undefined && prometheus === undefined)
    throw new Error(`${file} has an unknown jail directive: ${line}`);
  return {
    imageFsMB: node === undefined ? undefined : Number(images ?? (disk === undefined ? defaultImageFsMB : 0)),
    diskMB: disk === undefined ? undefined : Number(disk),
    loopDevices: loop === undefined ? undefined : xfs === undefined ? 'ext4' : 'xfs',
    prometheus: prometheus !== undefined,
  };
}
