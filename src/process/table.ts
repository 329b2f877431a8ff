import { sum } from '../runtime/sum.ts';
import { printable } from '../runtime/text/printable.ts';

export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  /** Right-aligned, as numbers are. */
  readonly right?: boolean;
  /** Maximum width; the last column with one is narrowed first when the table is too wide. */
  readonly max?: number;
}

const gap = 2;
const ellipsis = '…';
/** A shorter name is useless. */
const minWidth = 8;

/** A title line and one line per row. No line exceeds `width` unless the columns without a `max` alone do. */
export function columns<T>(
  layout: readonly Column<T>[],
  rows: readonly T[],
  width: number,
): readonly string[] {
  const cells = rows.map((row) => layout.map((column) => printable(column.text(row))));
  const used = layout.map((_, i) => cells.some((cell) => cell[i] !== ''));
  // Not by one call with all sizes: a plan may have more rows than a call can have arguments.
  const wanted = layout.map(({ title }, i) =>
    cells.reduce((size, cell) => Math.max(size, (cell[i] ?? '').length), title.length),
  );
  const capped = wanted.map((size, i) => Math.min(size, layout[i]?.max ?? size));
  const shown = capped.map((size, i) => (used[i] === true ? size : 0));
  const over = Math.max(0, sum(shown) + gap * (shown.filter((size) => size > 0).length - 1) - width);
  const flexible = layout.findLastIndex(({ max }) => max !== undefined);
  const sizes = shown.map((size, i) => (i === flexible ? Math.max(minWidth, size - over) : size));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => aligned(text, sizes[i] ?? 0, layout[i]?.right === true))
      .filter((_, i) => sizes[i] !== 0)
      .join(' '.repeat(gap));
  return [line(layout.map(({ title }) => title)), ...cells.map(line)];
}

function aligned(text: string, size: number, right: boolean): string {
  const cut = shortened(text, size);
  return right ? cut.padStart(size) : cut.padEnd(size);
}

/**
 * The text, printable, in at most `size` characters. Its middle is cut out, between words where possible. The end is worth more than the start:
 * it is the name of an image with its tag, the file of a path, the random part of a pod's name.
 */
export function shortened(given: string, size: number): string {
  const text = printable(given);
  if (text.length <= size) return text;
  const room = size - ellipsis.length;
  // In the name of a node or a policy, either end may be the one that matters.
  const cut = text.includes('/') ? seamCut(text, room) : undefined;
  const { head, tail } = cut ?? middleCut(text, room);
  return [text.slice(0, head), text.slice(tail)].map(withoutHalves).join(ellipsis);
}

/** A cut may split a surrogate pair. */
const withoutHalves = (text: string): string => text.replaceAll(/\p{Cs}/gu, '');

/** The text before `head` and from `tail` on is kept. */
interface Cut {
  readonly head: number;
  readonly tail: number;
}

/** The best cut that breaks no word; undefined when each removes too much. */
function seamCut(text: string, room: number): Cut | undefined {
  const seams = [0, ...Array.from(text.matchAll(seam), ({ index }) => index)];
  const kept = ({ head, tail }: Cut): number => head + text.length - tail;
  // Whole parts, and some start at all, are worth a few letters.
  const worth = ({ head, tail }: Cut): number =>
    text.length -
    tail +
    head / 2 +
    (head > 0 ? 6 : 0) +
    (text[head - 1] === '/' ? 4 : 0) +
    (text[tail] === '/' ? 6 : 0);
  // Half a tag would look like another tag.
  const tails = seams.filter((at) => text[at] === ' ' || !/:[^/\s]+$/.test(text.slice(0, at)));
  return tails
    .flatMap((tail) => seams.map((head) => ({ head, tail })))
    .filter((cut) => kept(cut) <= room && kept(cut) >= (room * 2) / 3)
    .toSorted((a, b) => worth(b) - worth(a))[0];
}

/** Before and after each separator of names, paths and image references. */
const seam = /(?<=[-._/:@\s])|(?=[-._/:@\s])/g;

function middleCut({ length }: string, room: number): Cut {
  const head = Math.ceil(room / 2);
  return { head, tail: length - (room - head) };
}

/** The text in lines of at most `width`, those after the first with a margin; a longer word is not broken. */
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

/** Characters of a line of prose: those of the terminal, or 80 in a file or a pipe. */
export const proseWidth = (): number => (process.stdout.isTTY ? Math.max(40, process.stdout.columns) : 80);

/** A space at which no line is broken. */
export const hardSpace = '\u00a0';

/** The text in lines of at most `width`, those after the first indented; a word longer than a line is cut. */
export function paragraph(text: string, width: number): string[] {
  const margin = '  ';
  const words = printable(text)
    .split(' ')
    .map((word) => shortened(word, width - margin.length));
  return wrapped(words.join(' '), width, margin).map((line) => line.replaceAll(hardSpace, ' '));
}

/** Twelve characters, as docker and crictl print ids. */
export const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, 12);

export const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

const spans = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
] as const;

/** The age in the largest unit that is at least 1: `3m`. A time in the future is `0s`, no time `-`. */
export function ageText(time: string | null, now: Date): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '-' : spanText(now.getTime() - at);
}

/** The span in the largest unit that is at least 1; a negative one is `0s`. */
export function spanText(given: number): string {
  const ms = Math.max(0, given);
  const span = spans.find((one) => ms >= one.ms);
  return span === undefined ? `${Math.floor(ms / 1000)}s` : `${Math.floor(ms / span.ms)}${span.name}`;
}

/** The span in the largest unit of which there are at least two: `31h`, `95m`; more than a year is `>1y`. */
export function longSpanText(ms: number): string {
  if (ms > longestMs) return '>1y';
  const span = spans.find((one) => ms >= 2 * one.ms);
  return span === undefined
    ? `${Math.max(1, Math.round(ms / 60_000))}m`
    : `${Math.round(ms / span.ms)}${span.name}`;
}

const longestMs = 365 * 86_400_000;

/** Such as `117/110`: pods that have not finished, and how many the node may have. */
export function slotsText(taken: number | null | undefined, slots: number | null | undefined): string {
  const [one, other] = [taken, slots].map((count) => String(count ?? '?'));
  return one === '?' && other === '?' ? '-' : `${one}/${other}`;
}
