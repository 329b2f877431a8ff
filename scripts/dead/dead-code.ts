import { linksOf } from './links.ts';

interface Tree {
  /** Handwritten code by its path below the root. */
  readonly files: ReadonlyMap<string, string>;
  /** Texts that start a file by its path, such as package.json. */
  readonly starters: readonly string[];
  /** Files that a tool finds by itself. */
  readonly isEntry: (path: string) => boolean;
}

/** Returns a line for every file that no file loads and every export that no other file imports. */
export function deadCode({ files, starters, isEntry }: Tree): readonly string[] {
  const links = [...files].map(([path, text]) => ({ path, ...linksOf(path, text) }));
  const imported = new Map<string, Set<string>>();
  for (const { uses } of links) {
    for (const { from, names } of uses) {
      const known = imported.get(from) ?? new Set();
      for (const name of names) known.add(name);
      imported.set(from, known);
    }
  }
  return links.flatMap(({ path, exports }) => {
    const isStarted = isEntry(path) || starters.some((text) => text.includes(path));
    if (!isStarted && !imported.has(path)) return [`${path}: no file loads it`];
    const names = imported.get(path) ?? new Set();
    if (names.has('*')) return [];
    return exports.filter((name) => !names.has(name)).map((name) => `${path}: no other file imports ${name}`);
  });
}
