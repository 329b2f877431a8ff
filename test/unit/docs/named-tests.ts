import { readFileSync } from 'node:fs';

/** The root of the repository. */
export const root = new URL('../../..', import.meta.url);

/** The text of a file by its path below the root. */
export const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** Whether the text has a test, or a row of one, with this title. */
export function hasTest(text: string, title: string): boolean {
  const quoted = [`'${title}'`, `"${title}"`, `\`${title}\``];
  return quoted.some((one) =>
    [`test\\(\\s*`, `\\)\\(\\s*`, `name: `].some((before) => new RegExp(before + literal(one)).test(text)),
  );
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
