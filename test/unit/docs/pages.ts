import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the repository. */
export const root = new URL('../../..', import.meta.url);

/** The text of a file by its path below the root. */
export const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** The Markdown pages that users and contributors read. */
export const pages = ['.', 'docs', 'docs/adr', 'docs/reference', 'docs/zh-cn', 'helm/dustpan'].flatMap(
  (folder) =>
    readdirSync(new URL(folder, root), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map(({ name }) => join(folder, name)),
);

/** The part of a page below one heading of the second level. */
export function partOf(page: string, heading: string): string {
  const [, rest] = page.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`no heading ${heading}`);
  return rest.split('\n## ')[0] ?? '';
}

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
  const row = textOf('docs/reference/log.md')
    .split('\n')
    .find((one) => one.startsWith('|') && one.split('|')[1]?.includes(`\`${message}\``));
  const named = [...(row?.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  const written = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return { written: written.sort(), promised: named.sort() };
}
