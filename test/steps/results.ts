import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The number of tests. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Adds a line to the list of skipped tests that ends `npm test`; does nothing in a run of a single step. */
export function addSkipped(line: string): void {
  append('skipped', line);
}

/** The directory is that of the whole run. */
function append(file: 'skipped' | 'counts', line: string): void {
  const { DUSTPAN_RESULTS: directory } = process.env;
  if (directory !== undefined) appendFileSync(join(directory, file), `${line}\n`);
}

/** Adds up the counts of every run of vitest. */
export function countsIn(directory: string): TestCounts {
  const file = join(directory, 'counts');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const runs = lines.map((line) => JSON.parse(line) as TestCounts);
  const sum = (state: keyof TestCounts): number => runs.reduce((total, run) => total + run[state], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** A reporter of vitest for `npm test`: counts the tests, and lists the skipped ones of each file with the reason: the note of `skip()`, else the title of the suite. */
export class Results implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const reasons = [...module.children.allTests('skipped')].map(reasonOf);
    for (const reason of new Set(reasons)) {
      const count = reasons.filter((one) => one === reason).length;
      const tests = count === 1 ? '1 test' : `${count} tests`;
      addSkipped(`${relative(process.cwd(), module.moduleId)}: ${tests} (${reason})`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = (state: keyof TestCounts): number =>
      modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    const counts: TestCounts = {
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('skipped'),
    };
    append('counts', JSON.stringify(counts));
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? (test.parent.type === 'suite' ? test.parent.name : test.name);
}
