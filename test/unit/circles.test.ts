import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { linksOf } from '../../scripts/dead/links.ts';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `src/${path}`);
const imports = new Map(
  sources.map((path) => [path, linksOf(path, readFileSync(path, 'utf8')).uses.map(({ from }) => from)]),
);

/** The first way from a file back to itself; undefined = there is none. */
function circleFrom(start: string): readonly string[] | undefined {
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const next of imports.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

test('no file of src imports itself by way of others, types and lazy imports included', () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.flatMap((path) => circleFrom(path) ?? [])).toEqual([]);
});
