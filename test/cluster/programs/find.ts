import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { buildFlags, patchesOf, type Group, type Program } from './parts.ts';
import { repositoryRoot } from '../repository.ts';

/** The file of a program of the pinned minor version, from KUBEBUILDER_ASSETS, PATH, or the cache; logs every rejected one. */
export function findProgram(
  program: Program,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void = () => undefined,
): string | undefined {
  for (const dir of program.versionArgs === undefined ? [] : machineFolders(env)) {
    const path = join(dir, program.name);
    if (!isExecutable(path)) continue;
    const refusal = versionRefusal(program, path);
    if (refusal === undefined) return path;
    log(`passed over ${path}: ${refusal}`);
  }
  const cached = join(cacheFolder(program.group, env), 'bin', program.name);
  return isExecutable(cached) ? cached : undefined;
}

function machineFolders(env: NodeJS.ProcessEnv): readonly string[] {
  const path = (env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== '' && existsSync(dir));
  // /bin and /usr/bin are often the same folder.
  const folders = new Set(path.map((dir) => realpathSync(dir)));
  return env['KUBEBUILDER_ASSETS'] ? [env['KUBEBUILDER_ASSETS'], ...folders] : [...folders];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function versionRefusal(program: Program, path: string): string | undefined {
  const { stdout } = spawnSync(path, [...(program.versionArgs ?? [])], { encoding: 'utf8', timeout: 10_000 });
  const found = /(\d+\.\d+)\.\d+/.exec(stdout);
  const wanted = minorOf(pinnedVersion(program.group, program.module));
  if (!found) return 'it does not print its version';
  return found[1] === wanted ? undefined : `${found[0]} is not ${wanted}`;
}

const goModules = join(repositoryRoot(), 'test/cluster/go');

const withKubernetes: ReadonlySet<Group> = new Set(['kubernetes', 'kubelet-quick', 'eviction-order']);

/** The directory of a group's Go module. */
export function moduleFolder(group: Group, env: NodeJS.ProcessEnv = process.env): string {
  return withKubernetes.has(group)
    ? kubernetesFolder(given(env, 'DUSTPAN_KUBERNETES'))
    : join(goModules, group);
}

/** `kubernetes` has the default version; `kubernetes-1.36` and the like have the older ones that DUSTPAN_KUBERNETES selects. */
function kubernetesFolder(minor: string | undefined): string {
  const folder = join(goModules, 'kubernetes');
  if (minor === undefined) return folder;
  const pinned = minorOf(requiredVersion(folder, 'k8s.io/kubernetes'));
  if (minor === pinned) return folder;
  const older = readdirSync(goModules).flatMap((name) => /^kubernetes-(.+)$/.exec(name)?.[1] ?? []);
  if (!older.includes(minor))
    throw new Error(
      `DUSTPAN_KUBERNETES=${minor}: no such version here; use one of ${[...older, pinned].join(', ')}`,
    );
  return `${folder}-${minor}`;
}

/** The version that go.mod requires of a module, with its leading v. */
export function pinnedVersion(group: Group, module: string, env: NodeJS.ProcessEnv = process.env): string {
  return requiredVersion(moduleFolder(group, env), module);
}

function requiredVersion(folder: string, module: string): string {
  const lines = readFileSync(join(folder, 'go.mod'), 'utf8').split('\n');
  const words = lines.map((line) =>
    line
      .trim()
      .replace(/^require /, '')
      .split(' '),
  );
  const version = words.find(([name, second]) => name === module && second?.startsWith('v'))?.[1];
  if (version === undefined) throw new Error(`no version of ${module} in ${folder}/go.mod`);
  return version;
}

function minorOf(version: string): string {
  return /\d+\.\d+/.exec(version)?.[0] ?? version;
}

/** Where a group's binaries are kept: a change of its pins or flags, and of no other group's, makes another folder. */
export function cacheFolder(group: Group, env: NodeJS.ProcessEnv): string {
  const base = given(env, 'XDG_CACHE_HOME') ?? join(homedir(), '.cache');
  const cache = given(env, 'DUSTPAN_TESTBED_CACHE') ?? join(base, 'dustpan/testbed');
  return join(cache, `${group}-${cacheKey(group, env)}`);
}

function given(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function cacheKey(group: Group, env: NodeJS.ProcessEnv): string {
  const hash = createHash('sha256');
  const folder = moduleFolder(group, env);
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(folder, file)));
  const sources = group === 'eviction-order' ? join(goModules, group) : folder;
  const ours = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.go'),
  );
  for (const file of ours.sort()) hash.update(readFileSync(join(sources, file)));
  hash.update(JSON.stringify(buildFlags(group, (module) => pinnedVersion(group, module, env))));
  const patches = patchesOf(group);
  if (patches.length > 0) hash.update(JSON.stringify(patches));
  return hash.update(`${process.platform} ${process.arch}`).digest('hex').slice(0, 16);
}
