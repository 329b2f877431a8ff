// npm test and npm run test:all: run their steps side by side. The last lines are the time of each step, every skipped test, and the
// number of tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodeOf, runJobs, toStdout, type Job } from './jobs.ts';
import { countsIn } from './results.ts';

/** The steps of a list run side by side, what takes longest first; the next list follows if all of them passed. */
const tiers = {
  'npm test': [['test:sandbox', 'check', 'coverage:decisions', 'test:contract'], ['test:properties']],
  // What npm test leaves out. The jails of test:cluster keep all cores busy.
  'npm run test:all': [['test:demo', 'test:browser', 'verify:protos'], ['test:cluster']],
};
const tier = process.argv[2] === 'all' ? 'npm run test:all' : 'npm test';

const dir = mkdtempSync(join(tmpdir(), 'dustpan-test-'));
process.env['DUSTPAN_RESULTS'] = dir;
const ended: string[] = [];
try {
  let code = 0;
  for (const steps of tiers[tier]) code ||= await run(steps);
  for (const line of ended) log(line);
  const skipped = linesOf(join(dir, 'skipped'));
  log(`skipped ${skipped.length === 0 ? 'nothing' : `${skipped.length} groups of tests:`}`);
  for (const line of skipped) process.stdout.write(`  ${line}\n`);
  if (code !== 0) log('failed');
  const { passed, failed, skipped: left } = countsIn(dir);
  process.stdout.write(`${passed} passed, ${failed} failed, ${left} skipped\n`);
  process.exitCode = code === 0 ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true });
}

function log(line: string): void {
  process.stdout.write(`${tier}: ${line}\n`);
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/** The exit code of the first step that fails, or 0. */
async function run(steps: readonly string[]): Promise<number> {
  const jobs = steps.map((step): Job => ({ name: step, run: (output) => runStep(step, output) }));
  return await runJobs(jobs, { atOnce: availableParallelism(), log, print: toStdout });
}

async function runStep(step: string, output: number | undefined): Promise<number> {
  const startedAt = performance.now();
  const printed = output ?? 'inherit';
  const child = spawn('npm', ['run', '--silent', step], {
    stdio: ['inherit', printed, printed],
    shell: process.platform === 'win32',
  });
  await once(child, 'exit');
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const code = exitCodeOf(child);
  ended.push(`${step.padEnd(20)} ${code === 0 ? 'passed' : 'FAILED'} ${minutes.padStart(5)} min`);
  return code;
}
