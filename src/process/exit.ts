import { printable } from '../runtime/text/printable.ts';

/** Exit codes of the process: docs/reference/cli.md, "Exit status". */
export const exitCode = { ok: 0, failure: 1, usage: 2, found: 3 } as const;

/** The caller's mistake in flags or input: each problem is one line on standard error, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** A problem as one line for standard error, with its line feed. */
export const problemLine = (text: string): string =>
  `dustpan: ${printable(text.replaceAll(/\s*[\r\n]+\s*/g, ' '))}\n`;
