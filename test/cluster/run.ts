import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { testFiles, type TestFiles } from './jail/test-files.ts';
import { binaries } from './programs/build.ts';
import { jail, type JailOptions } from './jail/jail.ts';
import type { Part } from './programs/parts.ts';
import { repositoryRoot } from './repository.ts';
import { cannotRun, noLoopDevices } from './jail/requirements.ts';
import { isEnding, runJobs, toStdout, type Job } from '../steps/jobs.ts';
import { addSkipped } from '../steps/results.ts';

interface InJailOptions extends JailOptions {
  /** The parts that the command starts: their programs are found or built while there is a network. */
  readonly parts?: readonly Part[];
}

const controlPlane: readonly Part[] = ['etcd', 'api', 'kcm'];
const wholeNode: readonly Part[] = [...controlPlane, 'sched', 'ctd', 'kubelet', 'registry'];

/** Runs a command in a fresh jail, where `startCluster` works; its folder is kept, and named, only when the command fails. */
export async function inJail(command: readonly string[], options: InJailOptions = {}): Promise<number> {
  const found = await binaries(options.parts ?? controlPlane, log);
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-bed-'));
  const bin = linkPrograms(join(dir, 'bin'), found);
  const code = await jail(dir, command, { ...options, env: { ...options.env, ...bedEnvironment(dir, bin) } });
  if (isFailure(code)) log(`test bed: logs and data are kept in ${dir}`);
  else rmSync(dir, { recursive: true, force: true });
  return code;
}

function linkPrograms(bin: string, found: Readonly<Record<string, string>>): string {
  mkdirSync(bin);
  for (const [name, path] of Object.entries(found)) symlinkSync(path, join(bin, name));
  return bin;
}

function bedEnvironment(dir: string, bin: string): NodeJS.ProcessEnv {
  const commands = join(repositoryRoot(), 'node_modules/.bin');
  const temporary = join(dir, 'tmp'); // removed with the jail
  mkdirSync(temporary);
  const path = [bin, commands, process.env['PATH']].join(delimiter);
  return { DUSTPAN_BED_BIN: bin, TMPDIR: temporary, PATH: path };
}

/** A cancelled run is not a failure. */
function isFailure(code: number): boolean {
  return code !== 0 && !isEnding(code);
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Most tests wait for servers: four jails keep two cores busy, and need four to six GiB of memory. */
const jailsAtOnce = 4;

/** Runs `vitest run` with each file in its jail, any other command in a plain one; the first failure is the result. */
async function main(command: readonly string[]): Promise<number> {
  const reason = cannotRun(controlPlane);
  if (reason !== undefined) return skipped('cluster tests', reason);
  const [program, subcommand, ...args] = command;
  if (program !== 'vitest' || subcommand !== 'run') return await inJail(command);
  const jails = jailsOf(testFiles(args));
  const refused = jails.map(({ files, parts, loopDevices }) => {
    const lacking = cannotRun(parts) ?? (loopDevices === undefined ? undefined : noLoopDevices(loopDevices));
    return lacking === undefined ? undefined : skipped(files.join(', '), lacking);
  });
  const able = jails.filter((_, i) => refused[i] === undefined);
  // Found or built before the jails begin, or two would wait for the same build.
  await binaries([...new Set(able.flatMap(({ parts }) => parts))], log);
  const jobs = able.map((bed) => jobOf(bed, command));
  const code = await runJobs(jobs, {
    atOnce: jailsAtOnce,
    log: (line) => log(`test bed: ${line}`),
    print: toStdout,
  });
  return code || Math.max(0, ...refused.map((one) => one ?? 0));
}

/** Files that share a jail, and its options. */
interface SharedJail extends Pick<JailOptions, 'imageFsMB' | 'diskMB' | 'loopDevices'> {
  readonly files: readonly string[];
  readonly parts: readonly Part[];
}

/** The longest first: a long one that began last would run alone at the end. Prometheus is built only for files that need it: that takes minutes. */
function jailsOf({ plain, prometheus, nodes }: TestFiles): readonly SharedJail[] {
  const longFirst = nodes.toSorted((a, b) => secondsOf(b.file) - secondsOf(a.file));
  const jails: SharedJail[] = longFirst.map((node) => ({
    files: [node.file],
    parts: node.prometheus ? [...wholeNode, 'prometheus'] : wholeNode,
    imageFsMB: node.imageFsMB,
    diskMB: node.diskMB,
    loopDevices: node.loopDevices,
  }));
  if (prometheus.length > 0) jails.unshift({ files: prometheus, parts: [...controlPlane, 'prometheus'] });
  jails.unshift(...shared(plain).map((files) => ({ files, parts: controlPlane })));
  // Nothing selected is for vitest to complain about.
  return jails.length > 0 ? jails : [{ files: [], parts: controlPlane }];
}

/** Files that need no node run one after the other in a few jails. */
const plainJails = 3;

/** Files that take longer than others, in seconds of a run with four jails. */
const longFiles: Readonly<Record<string, number>> = {
  'agent/usage': 640,
  'node-side-by-side/pressure': 560,
  'controller/silent-connections': 350,
  'node-side-by-side/images': 310,
  'local-storage/side-by-side': 270,
  'node-side-by-side/containers': 200,
  'chart/install': 170,
  'agent/races': 160,
  'stress/stress': 150,
  'stress/leftovers': 130,
  'stress/two-collectors': 150,
  'agent/pulls': 140,
  'controller/hostile': 140,
  'side-by-side/side-by-side': 140,
  'release/e2e': 130,
  'agent/hostile': 130,
  'agent/containers': 120,
  'chart/status': 120,
  'agent/inodes': 120,
  'controller/credentials': 120,
  'agent/large-logs': 110,
  'chart/server': 100,
  'plan-equality/cluster': 100,
  'agent/orphans': 100,
  'plan-equality/node': 90,
  'local-storage/equal-disks': 90,
  'controller/leader-faults': 90,
  'agent/images': 80,
};
const secondsOf = (file: string): number =>
  longFiles[/([^/]+\/[^/]+)\.test\.ts$/.exec(file)?.[1] ?? ''] ?? 20;

/** The files in groups that take about equally long: the longest first, each to the group that ends first. */
function shared(files: readonly string[]): readonly (readonly string[])[] {
  const groups = Array.from({ length: plainJails }, () => ({ files: [] as string[], seconds: 0 }));
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const next = groups.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    next.files.push(file);
    next.seconds += secondsOf(file);
  }
  return groups.map((group) => group.files).filter(({ length }) => length > 0);
}

function jobOf({ files, ...bed }: SharedJail, command: readonly string[]): Job {
  const env = { DUSTPAN_BED_FILES: files.join(',') };
  const name = files.length === 1 ? (files[0] ?? '') : `${files.length} files in one jail`;
  return { name, run: (output) => inJail(command, { ...bed, env, output }) };
}

function skipped(what: string, reason: string): number {
  const required = process.env['DUSTPAN_REQUIRE_CLUSTER'] === '1';
  log(`skipped: ${what} (${reason})${required ? ', but DUSTPAN_REQUIRE_CLUSTER=1 requires them' : ''}`);
  addSkipped(`${what}: all tests (${reason})`);
  return required ? 1 : 0;
}

// This file is also a library.
if (process.argv[1] === join(repositoryRoot(), 'test/cluster/run.ts')) {
  process.exitCode = await main(process.argv.slice(2));
}
