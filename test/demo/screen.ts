import { wrapped } from '../../src/process/table.ts';

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

/** The lines of the last frame, which the next one replaces on a terminal. */
let frameLines = 0;

export function print(line = ''): void {
  frameLines = 0;
  process.stdout.write(`${line}\n`);
}

/** Without a terminal only the last frame is printed; the last one stays. */
export function frame(lines: readonly string[], { isLast = false } = {}): void {
  if (!isTerminal && !isLast) return;
  if (frameLines > 0) process.stdout.write(`\u001b[${frameLines}A\u001b[J`);
  process.stdout.write(`${lines.join('\n')}\n`);
  frameLines = isLast ? 0 : lines.length;
}

/** Prints the meanings of these reasons, in the order of the catalog. */
export function explain(
  catalog: Readonly<Record<string, { readonly meaning: string }>>,
  reasons: ReadonlySet<string>,
): void {
  for (const [reason, { meaning }] of Object.entries(catalog).filter(([one]) => reasons.has(one)))
    for (const [i, line] of wrapped(meaning, screenWidth - reasonWidth, '').entries())
      print(dim(`${(i === 0 ? reason : '').padEnd(reasonWidth)}${line}`));
}

export function bar(percent: number): string {
  const full = Math.min(20, Math.round(percent / 5));
  return `[${'#'.repeat(full)}${'-'.repeat(20 - full)}]`;
}

/** Columns as wide as their longest cell; numbers are right-aligned. */
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

type Count = readonly [name: string, count: number];

export const countBy = (names: Iterable<string>): readonly Count[] =>
  [...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]);

const byCount = (a: Count, b: Count): number => b[1] - a[1] || a[0].localeCompare(b[0], 'en');

/** What a plan removes and keeps, by reason, side by side, the most frequent reason first. */
export function sideBySide(due: Iterable<string>, kept: Iterable<string>): string[] {
  const [left, right] = [due, kept].map((reasons, i) =>
    countBy(reasons)
      .toSorted(byCount)
      .map(([reason, count]) => [`${i === 0 ? '  ' : '     '}${reason}`, String(count)]),
  );
  const rows = Array.from({ length: Math.max(left?.length ?? 0, right?.length ?? 0) }, (_, i) => [
    ...(left?.[i] ?? ['', '']),
    ...(right?.[i] ?? ['', '']),
  ]);
  return table([['  due', '', '     kept', ''], ...rows]);
}
