import { printable } from '../runtime/printable.ts';
import { fitted, wrapped } from './text-table.ts';

/** Joins what belongs together: no line ends there. */
export const hardSpace = '\u00a0';

const margin = '  ';

/** The text in lines of at most `width`, those after the first with a margin; a word that is longer than a line would be broken by the terminal, so it is cut. */
export function paragraph(text: string, width: number): string[] {
  const words = printable(text)
    .split(' ')
    .map((word) => fitted(word, width - margin.length));
  return wrapped(words.join(' '), width, margin).map((line) => line.replaceAll(hardSpace, ' '));
}
