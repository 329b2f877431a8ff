import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { memoryEnvironment, memoryFlags } from '../../src/cli/agent-command.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { runMeasured } from './plan-run.ts';
import type { Walk, WalkTook } from './storage-process.ts';
import type { StorageTree } from './storage-tree.ts';

const execute = promisify(execFile);

/** Everything that is measured here, in the order of the table. */
export const walkers = [
  'du -s --block-size=1',
  'du -s --inodes',
  'walk at its pace',
  'walk without a pace',
] as const;
export type Walker = (typeof walkers)[number];

/** One look of one of them at the whole tree; `figures` has one of each volume. */
export interface Look extends Pick<WalkTook, 'wallSeconds' | 'cpuSeconds' | 'peakMb'> {
  readonly figures: readonly number[];
  /** Of a walk by the agent's code. */
  readonly took: WalkTook | undefined;
}

/** Builds the process that walks into a directory. */
export async function buildWalk(directory: string): Promise<string> {
  const outfile = join(directory, 'storage-process.mjs');
  const entry = join(repositoryRoot(), 'test/bench/storage-process.ts');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
}

/** What they share: the tree, the built process, and a directory for output. */
export interface Place {
  readonly tree: StorageTree;
  readonly program: string;
  readonly scratch: string;
}

/** Lets one look once. Rejects when it fails, or does not tell of every volume. */
export async function look(walker: Walker, place: Place): Promise<Look> {
  const { tree } = place;
  const found = walker.startsWith('du') ? await lookByDu(walker, place) : await lookByWalk(walker, place);
  if (found.figures.length !== tree.volumes.length || found.figures.some((figure) => !(figure >= 0)))
    throw new Error(`${walker} did not measure all of the ${tree.volumes.length} volumes`);
  return found;
}

async function lookByDu(walker: Walker, { tree, scratch }: Place): Promise<Look> {
  const run = await runMeasured([...walker.split(' '), '-x', '--', ...tree.volumes], scratch);
  if (run.failure !== undefined) throw new Error(`${walker}: ${run.failure}`);
  const lines = readFileSync(join(scratch, 'out'), 'utf8').trim().split('\n');
  const { wallSeconds, cpuSeconds, peakMb } = run;
  return {
    wallSeconds,
    cpuSeconds,
    peakMb,
    figures: lines.map((line) => parseInt(line, 10)),
    took: undefined,
  };
}

async function lookByWalk(walker: Walker, { tree, program, scratch }: Place): Promise<Look> {
  const workerFile = join(repositoryRoot(), 'dist/storage-worker.js');
  const walk: Walk = { tree, workerFile, isPaced: walker === 'walk at its pace' };
  const file = join(scratch, 'walk.json');
  writeFileSync(file, JSON.stringify(walk));
  const [name = '', value] = memoryEnvironment.split('=');
  const { stdout } = await execute(process.execPath, [...memoryFlags.split(' '), program, file], {
    env: { ...process.env, [name]: value },
    maxBuffer: 2 ** 26,
  });
  const took = JSON.parse(stdout) as WalkTook;
  const { wallSeconds, cpuSeconds, peakMb } = took;
  return { wallSeconds, cpuSeconds, peakMb, figures: took.bytes, took };
}
