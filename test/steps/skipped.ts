import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Adds a line to the list that ends `npm test`, in the file that it names; does nothing in a run of a single step. */
export function addSkipped(line: string): void {
  const file = process.env['DUSTPAN_SKIPPED'];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

/** A reporter of vitest that lists the skipped tests of each file with the reason: the note of `skip()`, else the title of the suite. */
export class SkippedTests implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const reasons = [...module.children.allTests('skipped')].map(reasonOf);
    for (const reason of new Set(reasons)) {
      const count = reasons.filter((one) => one === reason).length;
      const tests = count === 1 ? '1 test' : `${count} tests`;
      addSkipped(`${relative(process.cwd(), module.moduleId)}: ${tests} (${reason})`);
    }
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? (test.parent.type === 'suite' ? test.parent.name : test.name);
}
