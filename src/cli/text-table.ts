/** One column of a table for people. */
export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  /** Numbers stand at the right. */
  readonly right?: boolean;
  /** It gives way first when the table is too wide. */
  readonly max?: number;
}

const gap = 2;
const ellipsis = '…';
/** A name shorter than this tells nothing. */
const least = 8;

/** A title line and one line a row, none wider than `width` as long as the other columns leave room for those with a `max`. */
export function columns<T>(
  layout: readonly Column<T>[],
  rows: readonly T[],
  width: number,
): readonly string[] {
  const cells = rows.map((row) => layout.map((column) => printable(column.text(row))));
  const used = layout.map((_, i) => cells.some((cell) => cell[i] !== ''));
  const wanted = layout.map(({ title }, i) =>
    Math.max(title.length, ...cells.map((cell) => (cell[i] ?? '').length)),
  );
  const capped = wanted.map((size, i) => Math.min(size, layout[i]?.max ?? size));
  const shown = capped.map((size, i) => (used[i] === true ? size : 0));
  const over = Math.max(0, sum(shown) + gap * (shown.filter((size) => size > 0).length - 1) - width);
  const flexible = layout.findLastIndex(({ max }) => max !== undefined);
  const sizes = shown.map((size, i) => (i === flexible ? Math.max(least, size - over) : size));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => aligned(text, sizes[i] ?? 0, layout[i]?.right === true))
      .filter((_, i) => sizes[i] !== 0)
      .join(' '.repeat(gap));
  return [line(layout.map(({ title }) => title)), ...cells.map(line)];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function aligned(text: string, size: number, right: boolean): string {
  const cut = fitted(text, size);
  return right ? cut.padStart(size) : cut.padEnd(size);
}

/** The text in so many characters; the middle gives way, since the ends tell things apart. */
export function fitted(text: string, size: number): string {
  if (text.length <= size) return text;
  const head = Math.ceil((size - 1) / 2);
  return text.slice(0, head) + ellipsis + text.slice(text.length - (size - 1 - head));
}

/** The text in lines of at most `width`, those after the first with a margin; a longer word stays whole. */
export function wrapped(text: string, width: number, margin: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of printable(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = margin + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Names come from others: what would move the cursor must not reach a terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?');
