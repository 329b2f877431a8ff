import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, errorLine, fileProblem } from '../runtime/errors.ts';
import { Field } from './field.ts';
import { InputError } from './input-error.ts';
import { ListScanner } from './list-scanner.ts';
import { YamlListScanner, type LoadYaml } from './yaml-list-scanner.ts';

/** Told after each piece of a file, for a person who waits. */
export type OnProgress = (file: string, items: number) => void;

const chunkBytes = 1024 * 1024;
/** YAML in one piece takes some twenty times its size of memory; in pieces it must be written as kubectl does. */
const maxWholeBytes = 8 * 1024 * 1024;

/** The names in a directory, sorted; undefined when there is no such directory. */
export async function namesIn(directory: string): Promise<readonly string[] | undefined> {
  try {
    return (await readdir(directory)).sort();
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw unreadable(directory, err);
  }
}

/** A JSON or, by its ending, YAML file as one value. */
export async function readWhole(file: string): Promise<Field> {
  const documents = await readDocuments(file);
  const [first] = documents;
  if (first === undefined) throw new InputError(file, '', 'is empty');
  if (documents.length > 1) throw new InputError(file, '', 'has more than one document');
  return first;
}

/** The documents of a file: one of JSON, any number of YAML. */
export async function readDocuments(file: string): Promise<readonly Field[]> {
  const text = await readText(file);
  if (text.trim() === '') throw new InputError(file, '', 'is empty');
  return isYaml(file) ? yamlDocuments(file, text) : [new Field(file, '', jsonOf(file, text))];
}

/** Hands on the items of a list one by one, and resolves with the rest of it. */
export async function readList(
  file: string,
  onItem: (item: Field) => void,
  onProgress: OnProgress,
): Promise<Field> {
  let items = 0;
  const counted = (item: Field): void => {
    items += 1;
    onItem(item);
  };
  if (isYaml(file) && (await sizeOf(file)) <= maxWholeBytes) {
    const list = await readWhole(file);
    for (const item of list.at('items').list()) counted(item);
    return list;
  }
  const scanner = isYaml(file) ? await yamlScanner(file, counted) : new ListScanner(file, counted);
  for await (const chunk of chunksOf(file)) {
    scanner.push(chunk);
    onProgress(file, items);
  }
  return scanner.finish();
}

/** The file of this name with either ending; undefined when there is none. */
export function findFile(directory: string, names: readonly string[], name: string): string | undefined {
  const found = names.filter((one) => one === `${name}.json` || one === `${name}.yaml`);
  const [first, second] = found;
  if (second !== undefined)
    throw new InputError(
      join(directory, second),
      '',
      `${first ?? ''} is there too, and only one can be read`,
    );
  return first === undefined ? undefined : join(directory, first);
}

const isYaml = (file: string): boolean => /\.ya?ml$/.test(file);

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (err) {
    throw unreadable(file, err);
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (err) {
    throw unreadable(file, err);
  }
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes })) yield chunk as Buffer;
  } catch (err) {
    throw err instanceof InputError ? err : unreadable(file, err);
  }
}

function jsonOf(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (err) {
    throw new InputError(file, '', `is not JSON, or is cut off: ${errorLine(err)}`);
  }
}

async function yamlDocuments(file: string, text: string): Promise<readonly Field[]> {
  return (await yamlLoader(file))(text, 0);
}

async function yamlScanner(file: string, onItem: (item: Field) => void): Promise<YamlListScanner> {
  return new YamlListScanner(file, await yamlLoader(file), onItem);
}

async function yamlLoader(file: string): Promise<LoadYaml> {
  const { CORE_SCHEMA, loadAll, YAMLException } = await import('js-yaml');
  const lineOf = (err: unknown, firstLine: number | undefined): string => {
    if (!(err instanceof YAMLException)) return errorLine(err);
    return firstLine === undefined ? err.reason : `${err.reason}, line ${firstLine + err.mark.line + 1}`;
  };
  return (text, firstLine) => {
    try {
      // The core schema leaves times alone: they stay the text that was written.
      const documents = loadAll(text, null, { schema: CORE_SCHEMA }).filter((one) => one !== null);
      return documents.map((one) => new Field(file, '', one));
    } catch (err) {
      throw new InputError(file, '', `is not YAML: ${lineOf(err, firstLine)}`);
    }
  };
}

const unreadable = (file: string, err: unknown): InputError => new InputError(file, '', fileProblem(err));
