import { readFileSync } from 'node:fs';

/** A page of docs/reference as it is in the tree. */
export const referencePage = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), 'utf8');

/** The part of a page under one heading of the second level, to the next. */
export function partOf(page: string, heading: string): string {
  const [, rest] = page.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`no heading ${heading}`);
  return rest.split('\n## ')[0] ?? '';
}

/** The first cells, without the code marks, of the table whose first head cell is this. */
export function firstCells(part: string, head: string): readonly string[] {
  const lines = part.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  if (start < 0) throw new Error(`no table ${head}`);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? undefined : end).map((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? line);
}

/** The texts in code marks of the headings of the third level. */
export const entriesOf = (page: string): readonly string[] =>
  [...page.matchAll(/^### `([^`]+)`$/gm)].map(([, name = '']) => name);
