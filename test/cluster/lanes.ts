import { closeSync, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** What runs in one jail. */
export interface Job {
  readonly name: string;
  /** Resolves with the exit code; with `output`, a file descriptor, all that is printed goes there. */
  readonly run: (output?: number) => Promise<number>;
}

/** Most tests wait for servers: two jails fill two cores, and more would only be late together. */
const lanes = 2;

/**
 * Runs the jobs, the longest lists first, two at a time; what each prints is shown when it has ended, so that nothing is mixed,
 * and once more at the end if it failed, where it is not far up in a long log.
 * The first failure is the result; after the end of one by a signal none begins.
 */
export async function inLanes(jobs: readonly Job[], say: (line: string) => void): Promise<number> {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return await only.run();
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-bed-output-'));
  try {
    const ended = await allOf(jobs, dir, say);
    const failed = ended.filter(({ code }) => code !== 0 && !isEnding(code));
    for (const { job, output } of failed) {
      say(`test bed: ${job.name} failed, and this is what it printed:`);
      await show(output);
    }
    if (failed.length > 0)
      say(`test bed: ${failed.length} failed: ${failed.map(({ job }) => job.name).join(', ')}`);
    return (ended.find(({ code }) => isEnding(code)) ?? failed[0])?.code ?? 0;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** A job that has ended, with its exit code and the file of what it printed. */
interface Ended {
  readonly job: Job;
  readonly code: number;
  readonly output: string;
}

async function allOf(
  jobs: readonly Job[],
  dir: string,
  say: (line: string) => void,
): Promise<readonly Ended[]> {
  const left = jobs.entries();
  const ended: Ended[] = [];
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (const [i, job] of left) {
      if (ended.some(({ code }) => isEnding(code))) return;
      say(`test bed: ${job.name} begins`);
      const output = join(dir, `${i}`);
      ended.push({ job, output, code: await printingTo(output, job) });
      await show(output);
      const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
      say(`test bed: ${ended.length} of ${jobs.length} done, ${minutes} min`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return ended;
}

/** 129, 130 and 143 stand for HUP, INT and TERM: someone wants no more of it. */
export function isEnding(code: number): boolean {
  return [129, 130, 143].includes(code);
}

async function printingTo(file: string, { run }: Job): Promise<number> {
  const output = openSync(file, 'w');
  try {
    return await run(output);
  } finally {
    closeSync(output);
  }
}

async function show(file: string): Promise<void> {
  const shown = createReadStream(file);
  shown.pipe(process.stdout, { end: false });
  await finished(shown);
}
