import { linksOf } from './links.ts';

/** What there is, by path below the root. */
interface Tree {
  /** TypeScript that a person wrote, and the config that only a tool reads. */
  readonly files: ReadonlyMap<string, string>;
  /** What starts files by their path, and takes what it needs of them by name: package.json, scripts that are no TypeScript. */
  readonly starters: readonly string[];
  /** Files that a tool finds by itself. */
  readonly isEntry: (path: string) => boolean;
}

/** Names every file that nothing loads and every export that no other file takes; empty = none. */
export function deadCode({ files, starters, isEntry }: Tree): readonly string[] {
  const links = [...files].map(([path, text]) => ({ path, ...linksOf(path, text) }));
  const taken = new Map<string, Set<string>>();
  for (const { uses } of links) {
    for (const { from, names } of uses) {
      const known = taken.get(from) ?? new Set();
      for (const name of names) known.add(name);
      taken.set(from, known);
    }
  }
  return links.flatMap(({ path, exports }) => {
    const starting = starters.filter((text) => text.includes(path));
    if (!isEntry(path) && starting.length === 0 && !taken.has(path)) return [`${path}: nothing loads it`];
    const names = taken.get(path) ?? new Set();
    if (names.has('*')) return [];
    return exports
      .filter((name) => !names.has(name) && !starting.some((text) => hasWord(text, name)))
      .map((name) => `${path}: no other file takes ${name}`);
  });
}

const hasWord = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
