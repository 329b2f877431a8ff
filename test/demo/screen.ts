import { wrapped } from '../../src/commands/cli/table.ts';

const screenWidth = 80;
/** The longest reason, and a space. */
const reasonWidth = 23;
const isTerminal = process.stdout.isTTY;
const isColored = isTerminal || process.env['FORCE_COLOR'] === '1';
const paint = (code: string, text: string): string => (isColored ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = (text: string): string => paint('1', text);
export const dim = (text: string): string => paint('2', text);
export const red = (text: string): string => paint('31', text);
export const green = (text: string): string => paint('32', text);

/** Prints lines; on a terminal a frame replaces the frame before. */
export class Screen {
  #frameLines = 0;

  print(line = ''): void {
    this.#frameLines = 0;
    process.stdout.write(`${line}\n`);
  }

  frame(lines: readonly string[]): void {
    if (!isTerminal) return;
    if (this.#frameLines > 0) process.stdout.write(`\u001b[${this.#frameLines}A\u001b[J`);
    process.stdout.write(`${lines.join('\n')}\n`);
    this.#frameLines = lines.length;
  }

  /** Prints the last frame, which stays; without a terminal it is the only one. */
  lastFrame(lines: readonly string[]): void {
    if (isTerminal) this.frame(lines);
    else process.stdout.write(`${lines.join('\n')}\n`);
    this.#frameLines = 0;
  }

  /** Prints the meanings of these reasons, in the order of the catalog. */
  explain(
    catalog: Readonly<Record<string, { readonly meaning: string }>>,
    reasons: ReadonlySet<string>,
  ): void {
    for (const [reason, { meaning }] of Object.entries(catalog))
      if (reasons.has(reason))
        for (const [i, line] of wrapped(meaning, screenWidth - reasonWidth, '').entries())
          this.print(dim(`${(i === 0 ? reason : '').padEnd(reasonWidth)}${line}`));
  }
}

/** Columns as wide as their longest cell; numbers are right-aligned. */
function table(rows: readonly (readonly string[])[]): string[] {
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

/** The outcome of one object for `outcomeTable`. */
interface Outcome {
  readonly group: string;
  readonly outcome: string;
  readonly reason: string;
}

/** One line per group, outcome and reason: the groups in the order of their first objects, what is gone before what was kept. */
export function outcomeTable(outcomes: readonly Outcome[]): string[] {
  const groups = countBy(outcomes, ({ group }) => group);
  const rows = [...groups].flatMap(([group, total]) => {
    const members = outcomes.filter((one) => one.group === group);
    const counts = countBy(members, ({ outcome, reason }) => `${outcome}/${reason}`);
    return [...counts].toSorted(byName).map(([key, count], i) => {
      const [outcome = '', reason = ''] = key.split('/');
      return [...(i === 0 ? [group, String(total)] : ['', '']), outcome, String(count), reason];
    });
  });
  return table([['', 'made', '', '', ''], ...rows]);
}

const barWidth = 20;

export function bar(percent: number): string {
  const full = Math.round((percent * barWidth) / 100);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}

type Count = readonly [name: string, count: number];
const byName = ([a]: Count, [b]: Count): number => a.localeCompare(b, 'en');
const byCount = (a: Count, b: Count): number => b[1] - a[1] || byName(a, b);

function countBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

/** What a plan removes and keeps, by reason, side by side, the most frequent reason first. */
export function sideBySide(due: Iterable<string>, kept: Iterable<string>): string[] {
  const cells = (reasons: Iterable<string>, indent: string): string[][] =>
    [...countBy(reasons, (reason) => reason)]
      .toSorted(byCount)
      .map(([reason, count]) => [`${indent}${reason}`, String(count)]);
  const [left, right] = [cells(due, '  '), cells(kept, '     ')];
  const longer = left.length > right.length ? left : right;
  const rows = longer.map((_, i) => [...(left[i] ?? ['', '']), ...(right[i] ?? ['', ''])]);
  return table([['  due', '', '     kept', ''], ...rows]);
}
