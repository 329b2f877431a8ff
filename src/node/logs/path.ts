import { posix } from 'node:path';

/** The names on the way from the root to the path; rejects what is not below the root, and `..`. */
export function componentsBelow(root: string, path: string): readonly string[] {
  const prefix = `${root}/`;
  const components = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : [];
  if (components.length === 0 || components.some((name) => name === '' || name === '.' || name === '..'))
    throw new Error(`refusing ${JSON.stringify(path)}: it is not below ${root}`);
  return components;
}

/** The last of the names. */
export const lastOf = (components: readonly string[]): string => components.at(-1) ?? '';

/** Where a link leads, absolute. */
export const resolveLink = (link: string, target: string): string =>
  posix.resolve(posix.dirname(link), target);
