import { readFileSync } from 'node:fs';

/** A page of docs/reference. */
export const referencePage = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), 'utf8');

/** The part of a page below one heading of the second level. */
export function partOf(page: string, heading: string): string {
  const [, rest] = page.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`no heading ${heading}`);
  return rest.split('\n## ')[0] ?? '';
}

/** The headings of the third level in backticks. */
export const entriesOf = (page: string): readonly string[] =>
  [...page.matchAll(/^### `([^`]+)`$/gm)].map(([, name = '']) => name);
