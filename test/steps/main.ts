// npm test: runs the steps without real servers side by side and, if all of them pass, the tests on real servers. The last lines are
// the time of each step and every skipped test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodeOf, runJobs, toStdout, type Job } from './jobs.ts';

// The first mostly waits, and takes as long as the others together.
const withoutServers = ['test:sandbox', 'check', 'coverage:decisions', 'test:browser', 'verify:protos'];
const withServers = ['test:cluster'];

const dir = mkdtempSync(join(tmpdir(), 'dustpan-test-'));
const list = join(dir, 'skipped');
const ended: string[] = [];
try {
  const code = (await run(withoutServers)) || (await run(withServers));
  for (const line of ended) log(line);
  const skipped = linesOf(list);
  log(`skipped ${skipped.length === 0 ? 'nothing' : `${skipped.length} groups of tests:`}`);
  for (const line of skipped) process.stdout.write(`  ${line}\n`);
  log(code === 0 ? 'passed' : 'failed');
  process.exitCode = code === 0 ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true });
}

function log(line: string): void {
  process.stdout.write(`npm test: ${line}\n`);
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
    env: { ...process.env, DUSTPAN_SKIPPED: list },
    shell: process.platform === 'win32',
  });
  await once(child, 'exit');
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const code = exitCodeOf(child);
  ended.push(`${step.padEnd(20)} ${code === 0 ? 'passed' : 'FAILED'} ${minutes.padStart(5)} min`);
  return code;
}
