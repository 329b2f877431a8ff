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
 * Runs the jobs, the longest lists first, two at a time; what each prints is shown when it has ended, so that nothing is mixed.
 * The first failure is the result; after the end of one by a signal none begins.
 */
export async function inLanes(jobs: readonly Job[], say: (line: string) => void): Promise<number> {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return await only.run();
  const left = jobs.values();
  const codes: number[] = [];
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (const job of left) {
      if (codes.some(isEnding)) return;
      say(`test bed: ${job.name} begins`);
      codes.push(await shownAtItsEnd(job));
      const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
      say(`test bed: ${codes.length} of ${jobs.length} done, ${minutes} min`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return codes.find(isEnding) ?? codes.find((code) => code !== 0) ?? 0;
}

/** 129, 130 and 143 stand for HUP, INT and TERM: someone wants no more of it. */
export function isEnding(code: number): boolean {
  return [129, 130, 143].includes(code);
}

async function shownAtItsEnd({ run }: Job): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-bed-output-'));
  const file = join(dir, 'output');
  const output = openSync(file, 'w');
  try {
    return await run(output);
  } finally {
    closeSync(output);
    const shown = createReadStream(file);
    shown.pipe(process.stdout, { end: false });
    await finished(shown);
    rmSync(dir, { recursive: true });
  }
}
