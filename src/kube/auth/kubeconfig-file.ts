import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isObject } from '../../api/json.ts';
import { errorLine, fileProblem } from '../../runtime/errors.ts';
import { asObject, asObjects, asText, type JsonObject } from '../codec/json.ts';
import { ConfigError } from '../http/connection-errors.ts';

/** The content of kubeconfig files, with absolute paths. */
export interface Kubeconfig {
  readonly currentContext: string;
  readonly contexts: Entries;
  readonly clusters: Entries;
  readonly users: Entries;
}

/** By name. */
export type Entries = ReadonlyMap<string, JsonObject>;

interface KubeconfigFile {
  readonly directory: string;
  readonly content: JsonObject;
}

export async function readKubeconfig(paths: readonly string[]): Promise<Kubeconfig> {
  const files = await Promise.all(paths.map(readOne));
  return {
    currentContext: files.map(({ content }) => asText(content['current-context'])).find(Boolean) ?? '',
    contexts: merged(files, 'context'),
    clusters: merged(files, 'cluster'),
    users: merged(files, 'user'),
  };
}

async function readOne(path: string): Promise<KubeconfigFile> {
  const { load } = await import('js-yaml');
  const text = await readFile(path, 'utf8').catch((err: unknown) => {
    throw new ConfigError(`kubeconfig ${path}: ${fileProblem(err)}`);
  });
  return { directory: dirname(resolve(path)), content: parse(() => load(text), path) };
}

function parse(load: () => unknown, path: string): JsonObject {
  try {
    const content = load();
    if (isObject(content)) return content;
  } catch (err) {
    throw new ConfigError(`kubeconfig ${path}: ${errorLine(err).split('\n', 1)[0] ?? ''}`);
  }
  throw new ConfigError(`kubeconfig ${path}: this is not a kubeconfig`);
}

/** As with kubectl, the first entry with a name counts. */
function merged(files: readonly KubeconfigFile[], kind: 'context' | 'cluster' | 'user'): Entries {
  const byName = new Map<string, JsonObject>();
  for (const { directory, content } of files)
    for (const entry of asObjects(content[`${kind}s`])) {
      const name = asText(entry['name']);
      if (!byName.has(name)) byName.set(name, withAbsolutePaths(asObject(entry[kind]), directory));
    }
  return byName;
}

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/** Paths are relative to the kubeconfig; so is the command of a plugin if it has a slash. */
function withAbsolutePaths(fields: JsonObject, directory: string): JsonObject {
  const paths = pathFields.filter((field) => asText(fields[field]) !== '');
  const absolute = paths.map((field) => [field, resolve(directory, asText(fields[field]))] as const);
  const exec = asObject(fields['exec']);
  const command = asText(exec['command']);
  return {
    ...fields,
    ...Object.fromEntries(absolute),
    ...(command.includes('/') && { exec: { ...exec, command: resolve(directory, command) } }),
  };
}
