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

interface LogLine {
  readonly message: string;
  readonly fields: object;
}

/** The fields of a log line that have a value, and those that docs/reference/log.md promises for its message. */
export function fieldsOfLine(line: LogLine | undefined): {
  readonly written: string[];
  readonly promised: string[];
} {
  const { message = '', fields = {} } = line ?? {};
  const row = referencePage('log.md')
    .split('\n')
    .find((one) => one.startsWith('|') && one.split('|')[1]?.includes(`\`${message}\``));
  const named = [...(row?.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  const written = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return { written: written.sort(), promised: named.sort() };
}
