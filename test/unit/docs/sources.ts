import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of every handwritten source file by its path below the root. */
export const sources: ReadonlyMap<string, string> = new Map(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith('.ts') && !/(^|\/)gen\/|\.gen\.ts$/.test(path))
    .sort()
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

/** These files and all files that they load, directly or not; type imports load nothing. */
export function loadedBy(entries: readonly string[]): ReadonlySet<string> {
  const loaded = new Set<string>();
  const queue = [...entries];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    queue.push(...importsOf(file));
  }
  return loaded;
}

function importsOf(file: string): readonly string[] {
  const text = sources.get(file) ?? '';
  const fixed = [...text.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '(\.[^']+)';/gm)];
  const lazy = [...text.matchAll(/\bimport\('(\.[^']+)'\)/g)];
  return [...fixed, ...lazy].map(([, path = '']) => join(dirname(file), path));
}
