import { wrapped } from '../../src/commands/cli/table.ts';

const screenWidth = 80;
/** The longest reason, and a space. */
const wordWidth = 23;
const isTerminal = process.stdout.isTTY;
const paint = (code: string, text: string): string => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = (text: string): string => paint('1', text);
export const dim = (text: string): string => paint('2', text);
export const red = (text: string): string => paint('31', text);
export const green = (text: string): string => paint('32', text);

/** Prints lines; on a terminal a frame replaces the frame before. */
export class Screen {
  #frameLines = 0;

  say(line = ''): void {
    this.#frameLines = 0;
    process.stdout.write(`${line}\n`);
  }

  frame(lines: readonly string[]): void {
    if (!isTerminal) return;
    if (this.#frameLines > 0) process.stdout.write(`\u001b[${this.#frameLines}A\u001b[J`);
    process.stdout.write(`${lines.join('\n')}\n`);
    this.#frameLines = lines.length;
  }

  /** The last frame stays; where frames are not shown it is printed now. */
  settle(lines: readonly string[]): void {
    if (isTerminal) this.frame(lines);
    else process.stdout.write(`${lines.join('\n')}\n`);
    this.#frameLines = 0;
  }

  /** The words for those reasons that came up, in the order of `meaning`. */
  explain(meaning: Readonly<Record<string, string>>, used: ReadonlySet<string>): void {
    for (const [reason, words] of Object.entries(meaning)) if (used.has(reason)) this.#define(reason, words);
  }

  #define(word: string, meaning: string): void {
    const lines = wrapped(meaning, screenWidth - wordWidth, '');
    for (const [i, line] of lines.entries())
      this.say(dim(`${(i === 0 ? word : '').padEnd(wordWidth)}${line}`));
  }
}

/** Columns as wide as their longest cell; numbers to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, i) => (/^\d+$/.test(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

const barWidth = 20;

/** A gauge of so many percent. */
export function bar(percent: number): string {
  const full = Math.round((percent * barWidth) / 100);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}

export const countBy = <T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
};

/** What a plan would remove and keep, by reason, side by side. */
export function sideBySide(due: Iterable<string>, kept: Iterable<string>): string[] {
  const go = [...countBy(due, (reason) => reason)];
  const stay = [...countBy(kept, (reason) => reason)];
  const height = Math.max(go.length, stay.length);
  const rows = Array.from({ length: height }, (_, i) => [
    `  ${go[i]?.[0] ?? ''}`,
    String(go[i]?.[1] ?? ''),
    `     ${stay[i]?.[0] ?? ''}`,
    String(stay[i]?.[1] ?? ''),
  ]);
  return table([['  due', '', '     stays', ''], ...rows]);
}
