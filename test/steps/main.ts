// npm test: runs the steps one after the other up to the first that fails; the last lines are the time of each and every skipped test.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const steps = ['check', 'coverage:decisions', 'mutants:quick', 'test:sandbox', 'test:cluster'];

const dir = mkdtempSync(join(tmpdir(), 'dustpan-test-'));
const list = join(dir, 'skipped');
const ended: string[] = [];
try {
  const failed = steps.find((step) => !passes(step));
  for (const line of ended) process.stdout.write(`npm test: ${line}\n`);
  const skipped = linesOf(list);
  process.stdout.write(
    `npm test: skipped ${skipped.length === 0 ? 'nothing' : `${skipped.length} groups of tests:`}\n`,
  );
  for (const line of skipped) process.stdout.write(`  ${line}\n`);
  process.stdout.write(`npm test: ${failed === undefined ? 'passed' : `failed in ${failed}`}\n`);
  process.exitCode = failed === undefined ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true });
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

function passes(step: string): boolean {
  const startedAt = performance.now();
  const { status } = spawnSync('npm', ['run', '--silent', step], {
    stdio: 'inherit',
    env: { ...process.env, DUSTPAN_SKIPPED: list },
    shell: process.platform === 'win32',
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  ended.push(`${step.padEnd(20)} ${status === 0 ? 'passed' : 'FAILED'} ${minutes.padStart(5)} min`);
  return status === 0;
}
