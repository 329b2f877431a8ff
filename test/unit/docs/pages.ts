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
