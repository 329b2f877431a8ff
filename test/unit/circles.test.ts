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

/** The first path of imports from a file back to itself; undefined = none. */
function cycleFrom(start: string): readonly string[] | undefined {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    for (const next of imports.get(path.at(-1) ?? '') ?? []) {
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
  expect(sources.flatMap((path) => cycleFrom(path) ?? [])).toEqual([]);
});
