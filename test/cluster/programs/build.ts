import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runCommand } from '../servers/command.ts';
import { cacheFolder, findProgram, moduleFolder, pinnedVersion } from './find.ts';
import {
  buildFlags,
  needsCompiler,
  patchesOf,
  programsOf,
  type Group,
  type Part,
  type Program,
} from './parts.ts';
import { patchedModule, type PatchedModule } from './patched-module.ts';

interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly progress: (line: string) => void;
}

/** Finds or builds the programs of these parts; resolves with their files by name. */
export async function binaries(
  parts: readonly Part[],
  progress: (line: string) => void,
): Promise<Readonly<Record<string, string>>> {
  const bin: Record<string, string> = {};
  const missing: Program[] = [];
  for (const program of programsOf(parts)) {
    const found = findProgram(program, process.env, progress);
    if (found === undefined) missing.push(program);
    bin[program.name] = found ?? join(cacheFolder(program.group, process.env), 'bin', program.name);
  }
  for (const [group, programs] of Map.groupBy(missing, (program) => program.group))
    await build(group, programs, { env: process.env, progress });
  return bin;
}

/** Builds programs of one group into its cache folder; of several runs at once, one builds and the others wait for it. */
async function build(
  group: Group,
  programs: readonly Program[],
  { env, progress }: BuildOptions,
): Promise<void> {
  const cache = cacheFolder(group, env);
  const bin = join(cache, 'bin');
  mkdirSync(bin, { recursive: true });
  const release = await lock(join(cache, 'lock'), () =>
    progress(`waiting for another run that builds ${group}`),
  );
  try {
    const missing = programs.filter(({ name }) => !existsSync(join(bin, name)));
    if (missing.length > 0) await buildInto(bin, missing, { group, env, progress });
  } finally {
    release();
  }
}

interface Work extends BuildOptions {
  readonly group: Group;
}

async function buildInto(bin: string, programs: readonly Program[], work: Work): Promise<void> {
  const { group, progress } = work;
  const names = programs.map(({ name }) => name).join(', ');
  const start = Date.now();
  // Built in a temporary folder and moved when complete, so that half a build is never used.
  const aside = join(bin, '..', 'building');
  rmSync(aside, { recursive: true, force: true });
  progress(`building ${names} (once; kept in ${bin})`);
  await goInstall(aside, programs, work);
  for (const { name, package: path } of programs) renameSync(join(aside, builtName(path)), join(bin, name));
  rmSync(aside, { recursive: true, force: true });
  progress(`built ${names} of ${group} in ${seconds(start)} s`);
}

/** `go install` names a program after its file, or the last part of its path that is not a major version: `server` for etcd. */
function builtName(path: string): string {
  return basename(path.replace(/\/v\d+$/, ''), '.go');
}

async function goInstall(into: string, programs: readonly Program[], work: Work): Promise<void> {
  const { tags, ldflags } = buildFlags(work.group, (module) => pinnedVersion(work.group, module));
  const packages = programs.map((program) => program.package);
  // The demo loads this file, and Node 22 does not know `using`.
  const module = await moduleOf(programs, work);
  try {
    // Code of ours in the module has tests, which need Go and its modules as the build does.
    if (hasTests(work.group)) await go(['test', ...module.args, '-tags', tags, './...'], into, work);
    await go(['install', ...module.args, '-tags', tags, '-ldflags', ldflags, ...packages], into, work);
  } finally {
    module[Symbol.dispose]();
  }
}

function hasTests(group: Group): boolean {
  const files = readdirSync(moduleFolder(group), { recursive: true, encoding: 'utf8' });
  return files.some((file) => file.endsWith('_test.go'));
}

async function go(args: readonly string[], into: string, { group, env, progress }: Work): Promise<void> {
  const start = Date.now();
  const timer = setInterval(() => progress(`  ${group}: ${seconds(start)} s`), 15_000);
  const goEnv = { GOWORK: 'off', GOFLAGS: '-buildvcs=false', CGO_ENABLED: needsCompiler(group) ? '1' : '0' };
  const options = { cwd: moduleFolder(group), env: { ...env, ...goEnv, GOBIN: into } };
  const ended = runCommand(['setpriv', '--pdeathsig', 'TERM', 'go', ...args], options);
  const { code, stdout, stderr } = await ended.finally(() => clearInterval(timer));
  if (code !== 0) throw new Error(`building ${group} by Go failed:\n${`${stdout}${stderr}`.slice(-4_000)}`);
}

/** The published module, patched if the group has patches. */
async function moduleOf([program]: readonly Program[], { group, env }: Work): Promise<PatchedModule> {
  const patches = patchesOf(group);
  if (patches.length === 0 || program === undefined) return { args: [], [Symbol.dispose]: () => undefined };
  return await patchedModule({ folder: moduleFolder(group), module: program.module, patches, env });
}

function seconds(since: number): string {
  return ((Date.now() - since) / 1000).toFixed(0);
}

/** The lock is held by a child that ends with its input, so it is free again however this process ends. */
async function lock(file: string, onWait: () => void): Promise<() => void> {
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const timer = setTimeout(onWait, 1_000);
  try {
    await Promise.race([once(holder.stdout, 'data'), failure(holder)]);
  } finally {
    clearTimeout(timer);
  }
  return () => holder.stdin.end();
}

async function failure(holder: ChildProcess): Promise<never> {
  await once(holder, 'exit');
  throw new Error('the lock of the test bed could not be taken');
}
