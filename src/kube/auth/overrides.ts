import { isObject } from '../../api/json.ts';
import { nearest } from '../../runtime/text/nearest.ts';
import { ConfigError } from '../http/connection-errors.ts';
import type { RawEntry, RawKubeconfig } from './kubeconfig-file.ts';

/** Entries to use instead of those of a kubeconfig's context, as kubectl's flags name them; undefined = those of the context. */
export interface Overrides {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
}

const flags = { context: '--context', cluster: '--cluster', user: '--user' } as const;

/** Applies the overrides. `where` names the kubeconfig in messages. */
export function overridden(raw: RawKubeconfig, given: Overrides, where: string): RawKubeconfig {
  checkNamed(given.context, raw.contexts, `${where}: ${flags.context}`);
  checkNamed(given.cluster, raw.clusters, `${where}: ${flags.cluster}`);
  checkNamed(given.user, raw.users, `${where}: ${flags.user}`);
  const name = given.context ?? raw['current-context'];
  const isOverridden = [given.cluster, given.user, given.server].some((one) => one !== undefined);
  if (!isOverridden) return { ...raw, 'current-context': name };
  const context = withOverrides(raw, name, given);
  const clusters = given.server === undefined ? raw.clusters : withServer(raw, context, given.server);
  return { ...raw, 'current-context': contextName(name), contexts: [context], clusters };
}

/** Flags suffice without any context. */
const contextName = (name: string): string => (name === '' ? 'of the flags' : name);

function withOverrides(raw: RawKubeconfig, name: string, { cluster, user }: Overrides): RawEntry {
  const known = raw.contexts.find((one) => one.name === name)?.['context'];
  const fields = isObject(known) ? known : {};
  return {
    name: contextName(name),
    context: {
      ...fields,
      cluster: cluster ?? fields['cluster'] ?? 'of the flags',
      ...(user !== undefined && { user }),
    },
  };
}

/** Keeps the CA, as kubectl does, and drops the TLS server name, which belongs to the other server. */
function withServer(raw: RawKubeconfig, context: RawEntry, server: string): readonly RawEntry[] {
  const name = (context['context'] as { readonly cluster: string }).cluster;
  const known = raw.clusters.find((one) => one.name === name)?.['cluster'];
  const fields = isObject(known) ? known : {};
  return [{ name, cluster: { ...fields, server, 'tls-server-name': undefined } }];
}

function checkNamed(name: string | undefined, entries: readonly RawEntry[], flag: string): void {
  const names = entries.map((one) => one.name);
  if (name === undefined || names.includes(name)) return;
  const guess = nearest(name, names);
  throw new ConfigError(
    `${flag} ${JSON.stringify(name)} does not exist${guess === undefined ? '' : `; did you mean ${guess}?`}`,
  );
}
