import { nearest } from '../../runtime/text/nearest.ts';
import { asText, type JsonObject } from '../codec/json.ts';
import { ConfigError } from '../http/connection-errors.ts';
import type { Entries, Kubeconfig } from './kubeconfig-file.ts';

/** Entries to use instead of those of a kubeconfig's context, as kubectl's flags name them; undefined = those of the context. */
export interface Overrides {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
}

/** A context of a kubeconfig with its entries. */
export interface Context {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly clusterName: string;
  readonly cluster: JsonObject;
  /** URL. */
  readonly server: string;
  readonly user: JsonObject;
}

const ofFlags = 'of the flags';

/** The chosen context with the overrides; throws ConfigError if an entry is missing. `where` names the kubeconfig in messages. */
export function contextIn(config: Kubeconfig, given: Overrides, where: string): Context {
  checkNamed(given.context, config.contexts, `${where}: --context`);
  checkNamed(given.cluster, config.clusters, `${where}: --cluster`);
  checkNamed(given.user, config.users, `${where}: --user`);
  const wrong = (what: string): ConfigError => new ConfigError(`${where}: ${what}`);
  const name = given.context ?? config.currentContext;
  const known = config.contexts.get(name) ?? contextOfFlags(name, given, wrong);
  const needed = (kind: string, entry: string, fields: JsonObject | undefined): JsonObject => {
    if (fields !== undefined) return fields;
    throw wrong(`context "${name}" needs ${kind} "${entry}", which does not exist`);
  };
  const clusterName = given.cluster ?? (asText(known['cluster']) || ofFlags);
  const userName = given.user ?? asText(known['user']);
  const stored = config.clusters.get(clusterName);
  const cluster = needed('cluster', clusterName, withServer(stored, given.server));
  const user = userName === '' ? {} : needed('user', userName, config.users.get(userName));
  const server = withScheme(asText(cluster['server']), cluster, user);
  if (!URL.canParse(server))
    throw wrong(`cluster "${clusterName}" has no valid server, such as https://10.0.0.1:6443`);
  const namespace = asText(known['namespace']) || undefined;
  return { name: name || ofFlags, namespace, clusterName, cluster, server, user };
}

/** Without a context the flags must suffice. */
function contextOfFlags(
  name: string,
  { cluster, user, server }: Overrides,
  wrong: (what: string) => ConfigError,
): JsonObject {
  if ((cluster ?? user ?? server) !== undefined) return {};
  throw wrong(
    name === ''
      ? 'no current-context; choose one with --context or kubectl config use-context'
      : `there is no context "${name}"`,
  );
}

function checkNamed(name: string | undefined, entries: Entries, flag: string): void {
  if (name === undefined || entries.has(name)) return;
  const guess = nearest(name, [...entries.keys()]);
  throw new ConfigError(
    `${flag} ${JSON.stringify(name)} does not exist${guess === undefined ? '' : `; did you mean ${guess}?`}`,
  );
}

/** Keeps the CA, as kubectl does, and drops the TLS server name, which belongs to the other server. */
const withServer = (cluster: JsonObject | undefined, server: string | undefined): JsonObject | undefined =>
  server === undefined ? cluster : { ...cluster, server, 'tls-server-name': undefined };

const tlsFields = [
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'client-certificate',
  'client-certificate-data',
];

/** As client-go's DefaultServerURL: `host:port` is https where TLS is configured, else http. */
function withScheme(server: string, cluster: JsonObject, user: JsonObject): string {
  if (server === '' || server.includes('://')) return server;
  const isSecure = tlsFields.some((field) => Boolean(cluster[field] ?? user[field]));
  return `${isSecure ? 'https' : 'http'}://${server}`;
}
