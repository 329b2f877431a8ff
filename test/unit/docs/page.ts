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

/** The first cells of the table whose first head cell is `head`, without backticks. */
export function firstCells(part: string, head: string): readonly string[] {
  const lines = part.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  if (start < 0) throw new Error(`no table ${head}`);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? undefined : end).map((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? line);
}

/** The headings of the third level in backticks. */
export const entriesOf = (page: string): readonly string[] =>
  [...page.matchAll(/^### `([^`]+)`$/gm)].map(([, name = '']) => name);
