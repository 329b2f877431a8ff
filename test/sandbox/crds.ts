import { loadAll } from 'js-yaml';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject } from './json.ts';

/** dustpan's CustomResourceDefinitions, from the folder that is the contract. */
export async function loadCrds(directory: string): Promise<readonly JsonObject[]> {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
  return texts
    .flatMap((text) => loadAll(text))
    .filter(isObject)
    .filter(({ kind }) => kind === 'CustomResourceDefinition');
}
