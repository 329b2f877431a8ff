import { readFileSync } from 'node:fs';

/** The checkout. */
export const root = new URL('../../../', import.meta.url);

/** The text of a file by its path in the checkout. */
export const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** Whether the file has a test, or a row of one, of this title. */
export function hasTest(text: string, title: string): boolean {
  const quoted = [`'${title}'`, `"${title}"`, `\`${title}\``];
  return quoted.some((one) =>
    [`test\\(\\s*`, `\\)\\(\\s*`, `name: `].some((before) => new RegExp(before + literal(one)).test(text)),
  );
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
