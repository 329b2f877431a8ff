import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isObject } from '../../api/json.ts';
import { errorLine, fileProblem } from '../../runtime/errors.ts';
import { ConfigError } from '../http/connection-errors.ts';

/** The content of kubeconfig files, with absolute paths. */
export interface RawKubeconfig {
  readonly 'current-context': string;
  readonly clusters: readonly RawEntry[];
  readonly contexts: readonly RawEntry[];
  readonly users: readonly RawEntry[];
}

type Fields = Readonly<Record<string, unknown>>;
export type RawEntry = Fields & { readonly name: string };

export async function readKubeconfig(files: readonly string[]): Promise<RawKubeconfig> {
  const raw = await Promise.all(files.map(readOne));
  return {
    'current-context': raw.find((one) => one['current-context'] !== '')?.['current-context'] ?? '',
    clusters: merge(raw.map((one) => one.clusters)),
    contexts: merge(raw.map((one) => one.contexts)),
    users: merge(raw.map((one) => one.users)),
  };
}

/** Adapts a kubeconfig where client-node differs from kubectl. */
export const adapted = (raw: RawKubeconfig): RawKubeconfig => ({
  ...raw,
  clusters: raw.clusters.map((cluster) => allowPlainHttp(withScheme(cluster, hasCertificate(raw)))),
  contexts: raw.contexts.map(withUser),
  users: [...raw.users.map(withoutPlugin), { name: nobody, user: {} }],
});

async function readOne(file: string): Promise<RawKubeconfig> {
  const { load } = await import('js-yaml');
  const text = await readFile(file, 'utf8').catch((err: unknown) => {
    throw new ConfigError(`kubeconfig ${file}: ${fileProblem(err)}`);
  });
  const raw = parse(() => load(text), file);
  const dir = dirname(resolve(file));
  return {
    'current-context': typeof raw['current-context'] === 'string' ? raw['current-context'] : '',
    clusters: entries(raw['clusters']).map((entry) =>
      inside(entry, 'cluster', absolute(dir, ['certificate-authority'])),
    ),
    contexts: entries(raw['contexts']),
    users: entries(raw['users']).map((entry) => inside(entry, 'user', (user) => adaptUser(user, dir))),
  };
}

function parse(load: () => unknown, file: string): Fields {
  try {
    const raw = load();
    if (isObject(raw)) return raw;
  } catch (err) {
    throw new ConfigError(`kubeconfig ${file}: ${errorLine(err).split('\n', 1)[0] ?? ''}`);
  }
  throw new ConfigError(`kubeconfig ${file}: this is not a kubeconfig`);
}

/** client-node rejects entries without a name. */
const entries = (list: unknown): readonly RawEntry[] =>
  Array.isArray(list) ? (list as RawEntry[]).filter(isObject) : [];

function inside(entry: RawEntry, key: string, adapt: (fields: Fields) => Fields): RawEntry {
  const fields = entry[key];
  return isObject(fields) ? { ...entry, [key]: adapt(fields) } : entry;
}

/** Keeps the first entry with a name; client-node would throw. */
function merge(lists: readonly (readonly RawEntry[])[]): readonly RawEntry[] {
  const byName = new Map<unknown, RawEntry>();
  for (const entry of lists.flat()) {
    if (!byName.has(entry.name)) byName.set(entry.name, entry);
  }
  return [...byName.values()];
}

const absolute =
  (dir: string, keys: readonly string[]) =>
  (fields: Fields): Fields => {
    const paths = keys.flatMap((key) => {
      const path = fields[key];
      return typeof path === 'string' && path !== '' ? [[key, resolve(dir, path)] as const] : [];
    });
    return { ...fields, ...Object.fromEntries(paths) };
  };

/** client-node reads CA and certificates only for a user, so a context without one gets this user. */
const nobody = 'no user in this context';

const withUser = (entry: RawEntry): RawEntry =>
  inside(entry, 'context', (context) => ({
    ...context,
    user: context['user'] === '' ? nobody : (context['user'] ?? nobody),
  }));

/** client-node rejects http:// URLs unless verification is off. */
const allowPlainHttp = (entry: RawEntry): RawEntry =>
  inside(entry, 'cluster', (cluster) =>
    String(cluster['server']).startsWith('http:')
      ? { ...cluster, 'insecure-skip-tls-verify': true }
      : cluster,
  );

/** As client-go's DefaultServerURL: `host:port` is https where TLS is configured, else http. */
const withScheme = (entry: RawEntry, hasClientCertificate: boolean): RawEntry =>
  inside(entry, 'cluster', (cluster) => {
    const { server } = cluster;
    if (typeof server !== 'string' || server === '' || server.includes('://')) return cluster;
    const isSecure = hasClientCertificate || tlsFields.some((field) => Boolean(cluster[field]));
    return { ...cluster, server: `${isSecure ? 'https' : 'http'}://${server}` };
  });

const tlsFields = [
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
] as const;

function hasCertificate({ contexts, users, ...raw }: RawKubeconfig): boolean {
  const context = contexts.find(({ name }) => name === raw['current-context'])?.['context'];
  const user = isObject(context) && users.find(({ name }) => name === context['user'])?.['user'];
  return isObject(user) && Boolean(user['client-certificate'] ?? user['client-certificate-data']);
}

/** Plugins run without client-node. */
const withoutPlugin = (entry: RawEntry): RawEntry =>
  inside(entry, 'user', (user) => ({ ...user, exec: undefined }));

function adaptUser(given: Fields, dir: string): Fields {
  const user = absolute(dir, ['client-certificate', 'client-key', 'tokenFile'])(given);
  if (isObject(user['exec'])) return { ...user, exec: adaptExec(user['exec'], dir) };
  const { tokenFile } = user;
  // client-node reads `token-file` only. As in kubectl, the file takes precedence over a token beside it.
  if (typeof tokenFile !== 'string' || tokenFile === '') return user;
  return { ...user, token: undefined, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

/** A command with a slash is relative to the file, and the plugin gets the version of the credential to return, as with kubectl. */
function adaptExec(exec: Fields, dir: string): Fields {
  const { command, env } = exec;
  const isPath = typeof command === 'string' && command.includes('/') && !isAbsolute(command);
  const info = { kind: 'ExecCredential', apiVersion: exec['apiVersion'], spec: { interactive: false } };
  return {
    ...exec,
    ...(isPath ? { command: resolve(dir, command) } : {}),
    env: [
      { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) },
      ...(Array.isArray(env) ? (env as Fields[]) : []),
    ],
  };
}
