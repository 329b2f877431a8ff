import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { bedFiles, type BedFiles, type FileBed } from './bed-files.ts';
import { binaries, type Found } from './binaries.ts';
import { jail, type JailOptions } from './jail.ts';
import type { Part } from './parts.ts';
import { repositoryRoot } from './repository.ts';
import { cannotRun } from './requirements.ts';

interface InJailOptions extends JailOptions {
  /** What the command will start: its programs are found or built before the network is gone. */
  readonly parts?: readonly Part[];
}

const controlPlane: readonly Part[] = ['etcd', 'api', 'kcm'];
const wholeNode: readonly Part[] = [...controlPlane, 'sched', 'ctd', 'kubelet'];

/** Runs a command in a fresh jail, where `startCluster` works; its folder is kept, and named, only when the command fails. */
export async function inJail(command: readonly string[], options: InJailOptions = {}): Promise<number> {
  const found = await binaries(options.parts ?? controlPlane, say);
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-bed-'));
  const bin = linkPrograms(join(dir, 'bin'), found);
  const code = await jail(dir, command, { ...options, env: { ...options.env, ...bedEnvironment(dir, bin) } });
  if (isFailure(code)) say(`test bed: logs and data are kept in ${dir}`);
  else rmSync(dir, { recursive: true, force: true });
  return code;
}

function linkPrograms(bin: string, found: Found): string {
  mkdirSync(bin);
  for (const [name, path] of Object.entries(found.bin)) symlinkSync(path, join(bin, name));
  return bin;
}

function bedEnvironment(dir: string, bin: string): NodeJS.ProcessEnv {
  const commands = join(repositoryRoot(), 'node_modules/.bin');
  const temporary = join(dir, 'tmp'); // goes with the bed
  mkdirSync(temporary);
  const path = [bin, commands, process.env['PATH']].join(delimiter);
  return { DUSTPAN_BED_BIN: bin, TMPDIR: temporary, PATH: path };
}

/** Someone who ended the run does not want its remains. */
function isFailure(code: number): boolean {
  return code !== 0 && !isEnding(code);
}

/** 129, 130 and 143 stand for HUP, INT and TERM. */
function isEnding(code: number): boolean {
  return [129, 130, 143].includes(code);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** `vitest run` with each file in the jail it asks for, anything else in a plain one; the first failure is the result. */
async function main(command: readonly string[]): Promise<number> {
  const reason = cannotRun(controlPlane);
  if (reason !== undefined) return skipped('cluster tests', reason);
  const [program, subcommand, ...args] = command;
  if (program !== 'vitest' || subcommand !== 'run') return await inJail(command);
  return await runFiles(bedFiles(args), async (files, options) => {
    return await inJail(command, { ...options, env: { DUSTPAN_BED_FILES: files.join(',') } });
  });
}

async function runFiles({ plain, prometheus, nodes }: BedFiles, run: Run): Promise<number> {
  // Nothing selected is for vitest to complain about.
  const isNothing = plain.length + prometheus.length + nodes.length === 0;
  const first = plain.length > 0 || isNothing ? await run(plain, {}) : 0;
  if (isEnding(first)) return first;
  const second = prometheus.length > 0 ? await runPrometheus(prometheus, run) : 0;
  if (isEnding(second)) return second;
  const third = await runNodes(nodes, run);
  return first || second || third;
}

const withPrometheus: readonly Part[] = [...controlPlane, 'prometheus'];

/** Built only where a file that needs it was selected: it takes minutes. */
async function runPrometheus(files: readonly string[], run: Run): Promise<number> {
  const lacking = cannotRun(withPrometheus);
  if (lacking !== undefined) return skipped('tests with Prometheus', lacking);
  return await run(files, { parts: withPrometheus });
}

type Run = (files: readonly string[], options: InJailOptions) => Promise<number>;

/** One after the other: a node takes most of a small machine. */
async function runNodes(nodes: readonly FileBed[], run: Run): Promise<number> {
  if (nodes.length === 0) return 0;
  const lacking = cannotRun(wholeNode);
  if (lacking !== undefined) return skipped('node tests', lacking);
  let result = 0;
  for (const node of nodes) {
    const code = await runNode(node, run);
    if (isEnding(code)) return code;
    result ||= code;
  }
  return result;
}

async function runNode({ file, imageFsMB, prometheus }: FileBed, run: Run): Promise<number> {
  const lacking = prometheus ? cannotRun(withPrometheus) : undefined;
  if (lacking !== undefined) return skipped(file, lacking);
  return await run([file], { parts: prometheus ? [...wholeNode, 'prometheus'] : wholeNode, imageFsMB });
}

function skipped(what: string, reason: string): number {
  const required = process.env['DUSTPAN_REQUIRE_CLUSTER'] === '1';
  say(`skipped: ${what} (${reason})${required ? ', but DUSTPAN_REQUIRE_CLUSTER=1 requires them' : ''}`);
  return required ? 1 : 0;
}

// Also a library: only as the program that was asked for does it run anything.
if (process.argv[1] === join(repositoryRoot(), 'test/cluster/run.ts')) {
  process.exitCode = await main(process.argv.slice(2));
}
