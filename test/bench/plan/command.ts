import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, progress } from '../bench.ts';

/** One run of a command, from its start to its exit. */
export interface Run {
  readonly seconds: number;
  readonly peakMiB: number;
}

/** GNU time: it is small, so that the peak is the command's own; the kernel begins with the memory of the parent. */
const gnuTime = '/usr/bin/time';

/** Runs a command several times, and resolves with the median of each value. */
export async function medianRun(name: string, command: readonly string[], rounds: number): Promise<Run> {
  progress(name);
  const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-'));
  const runs: Run[] = [];
  try {
    for (let i = 0; i < rounds; i += 1) runs.push(await runMeasured(command, scratch));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  const of = (field: keyof Run): number => median(runs.map((run) => run[field]));
  return { seconds: of('seconds'), peakMiB: of('peakMiB') };
}

/** Runs a command with its output in a file of `scratch`; throws if it fails. */
async function runMeasured(command: readonly string[], scratch: string): Promise<Run> {
  const [usageFile = '', outFile = '', errFile = ''] = ['usage', 'out', 'err'].map((name) =>
    join(scratch, name),
  );
  const [out, err] = [openSync(outFile, 'w'), openSync(errFile, 'w')];
  const startedAtMs = performance.now();
  const child = spawn(gnuTime, ['-o', usageFile, '-f', '%M', ...command], {
    stdio: ['ignore', out, err],
  });
  await once(child, 'close');
  const seconds = (performance.now() - startedAtMs) / 1_000;
  for (const fd of [out, err]) closeSync(fd);
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')}: ${readFileSync(errFile, 'utf8').trim()}`);
  return { seconds, peakMiB: Number(readFileSync(usageFile, 'utf8')) / 1_024 };
}
