import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { errorCode, errorLine, fileProblem } from '../runtime/errors.ts';
import { Field } from './field.ts';
import { InputError } from './input-error.ts';
import { readJsonList, withoutMark } from './json-list.ts';
import { refusePage } from './whole-list.ts';

export type OnProgress = (file: string, items: number) => void;

/** YAML is read as a whole, which needs about twenty times its size in memory. */
const maxYamlBytes = 8 * 1024 * 1024;
const tooLarge =
  'is YAML larger than 8 MiB: convert it to JSON, which may have any size (kubectl get -o json, or yq -o json)';

/** The names in a directory, sorted; undefined when there is no such directory. */
export const namesIn = async (directory: string): Promise<readonly string[] | undefined> =>
  (await ifThere(directory, readdir(directory)))?.sort();

/** Whether it is a folder, or a link to one. */
export const isFolder = async (path: string): Promise<boolean> =>
  (await ifThere(path, stat(path)))?.isDirectory() === true;

async function ifThere<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw unreadable(path, err);
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

/** The documents of a file, or of standard input (`-`): one of JSON, any number of YAML. Throws for one page of a list. */
export async function readDocuments(file: string): Promise<readonly Field[]> {
  const text = await readText(file);
  const name = fileName(file);
  if (text.trim() === '') throw new InputError(name, '', 'is empty');
  const documents = isYaml(file)
    ? await yamlDocuments(name, text)
    : [new Field(name, '', jsonOf(name, text))];
  documents.forEach(refusePage);
  return documents;
}

export const fileName = (file: string): string => (file === '-' ? 'standard input' : file);

/** Calls `onItem` for each item of a list, and resolves with the list without its items. */
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
  const onPiece = (): void => onProgress(file, items);
  if (!isYaml(file)) return readJsonList(file, { onItem: counted, onPiece });
  if ((await sizeOf(file)) > maxYamlBytes) throw new InputError(file, '', tooLarge);
  const list = await readWhole(file);
  for (const item of list.at('items').list()) counted(item);
  return list;
}

/** The file of this name with either extension; undefined when there is none. */
export function findFile(directory: string, names: readonly string[], name: string): string | undefined {
  const [first, second] = names.filter((one) => one === `${name}.json` || one === `${name}.yaml`);
  if (second !== undefined)
    throw new InputError(join(directory, second), '', `${first ?? ''} exists too; keep only one of them`);
  return first === undefined ? undefined : join(directory, first);
}

/** JSON is YAML, so any other name will do, such as that of a pipe. */
const isYaml = (file: string): boolean => !file.endsWith('.json');

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (err) {
    throw unreadable(file, err);
  }
}

async function readText(file: string): Promise<string> {
  try {
    return withoutMark(file, await (file === '-' ? buffer(process.stdin) : readFile(file))).toString();
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
  const { loadAll, YAMLException } = await import('js-yaml');
  const { kubectlYaml } = await import('./kubectl-yaml.ts');
  try {
    const documents = loadAll(text, null, { schema: kubectlYaml }).filter((one) => one !== null);
    return documents.map((one) => new Field(file, '', one));
  } catch (err) {
    const what = err instanceof YAMLException ? `${err.reason}, line ${err.mark.line + 1}` : errorLine(err);
    throw new InputError(file, '', `is not YAML: ${what}`);
  }
}

const unreadable = (file: string, err: unknown): InputError => new InputError(file, '', fileProblem(err));
