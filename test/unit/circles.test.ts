import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `src/${path}`);
const importsOf = (path: string): readonly string[] =>
  [...readFileSync(path, 'utf8').matchAll(/(?:\bfrom |\bimport\()'(\.[^']+)'/g)].map(([, from = '']) =>
    join(dirname(path), from),
  );
const imports = new Map(sources.map((path) => [path, importsOf(path)]));

/** The other folders that each folder imports from. */
const folders = new Map<string, string[]>();
for (const [path, targets] of imports) {
  const known = folders.get(dirname(path)) ?? [];
  folders.set(dirname(path), [...known, ...targets.map(dirname).filter((to) => to !== dirname(path))]);
}

/** The first path of imports from a file or folder back to itself; undefined = none. */
function cycleFrom(
  start: string,
  edges: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    for (const next of edges.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, next];
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}

test('src has no cycle of imports, types and lazy imports included', () => {
  expect([...imports.values()].flat().length).toBeGreaterThan(1000);
  expect(sources.flatMap((path) => cycleFrom(path, imports) ?? [])).toEqual([]);
});

test('the folders of src/kube have no cycle of imports', () => {
  const ofKube = [...folders.keys()].filter((folder) => folder.startsWith('src/kube/'));
  expect(ofKube.length).toBeGreaterThan(5);
  expect(ofKube.flatMap((folder) => cycleFrom(folder, folders) ?? [])).toEqual([]);
});
