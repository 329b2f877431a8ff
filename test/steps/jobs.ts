import type { ChildProcess } from 'node:child_process';
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { inspect } from 'node:util';

/** A command of a test run. */
export interface Job {
  readonly name: string;
  /** Resolves with the exit code; prints to the file descriptor `output`, if given. */
  readonly run: (output?: number) => Promise<number>;
}

/**
 * Runs the jobs in this order, `atOnce` at a time. The output of a job is shown when the job has ended, so that outputs are not
 * mixed, and again at the end if the job failed, because the first time is far up in a long log.
 * The first failure is the result. After a signal ends a job, no other job begins, and nothing is shown twice.
 */
export async function runJobs(jobs: readonly Job[], { atOnce, log, print }: Options): Promise<number> {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return await only.run();
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-output-'));
  const left = jobs.entries();
  const ended: { readonly name: string; readonly code: number; readonly output: string }[] = [];
  const startedAt = performance.now();
  let shown = Promise.resolve();
  const worker = async (): Promise<void> => {
    for (const [i, { name, run }] of left) {
      if (ended.some(({ code }) => isEnding(code))) return;
      log(`${name} begins`);
      const output = join(dir, `${i}`);
      const done = ended.push({ name, output, code: await printingTo(output, run) });
      // One after the other, or two that end together are mixed.
      shown = shown.then(() => print(output));
      await shown;
      const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
      log(`${done} of ${jobs.length} done, ${minutes} min`);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, worker));
    const ending = ended.find(({ code }) => isEnding(code));
    if (ending !== undefined) return ending.code;
    const failed = ended.filter(({ code }) => code !== 0);
    for (const { name, output } of failed) {
      log(`${name} failed, and this is what it printed:`);
      await print(output);
    }
    if (failed.length > 0) log(`${failed.length} failed: ${failed.map(({ name }) => name).join(', ')}`);
    return failed[0]?.code ?? 0;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

interface Options {
  readonly atOnce: number;
  /** Sinks for lines and for output files. */
  readonly log: (line: string) => void;
  readonly print: (file: string) => Promise<void>;
}

/** The exit code of a child that has ended; 128 and the number of the signal that ended it, as in a shell. */
export function exitCodeOf(child: ChildProcess): number {
  return child.exitCode ?? 128 + (child.signalCode ? constants.signals[child.signalCode] : 0);
}

/** 129, 130 and 143 stand for HUP, INT and TERM: the run was cancelled. */
export function isEnding(code: number): boolean {
  return [129, 130, 143].includes(code);
}

/** An exception is printed to the job's output and counts as a failure: the other jobs continue. */
async function printingTo(file: string, run: Job['run']): Promise<number> {
  const output = openSync(file, 'w');
  try {
    return await run(output);
  } catch (err) {
    writeSync(output, `${inspect(err)}\n`);
    return 1;
  } finally {
    closeSync(output);
  }
}

/** Copies a file to standard output. */
export async function toStdout(file: string): Promise<void> {
  const shown = createReadStream(file);
  shown.pipe(process.stdout, { end: false });
  await finished(shown);
}
