import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
