import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Impersonation } from '../kube/auth/impersonation.ts';
import type { Overrides } from '../kube/auth/context.ts';
import type { ProxyVariables } from '../kube/http/proxy-choice.ts';
import { clusterGroup, kubeConfigSource, set, withCluster, type KubeConfigSource } from './config.ts';
import { UsageError } from './exit.ts';
import { duration, list, text, type EarlierOptions, type OptionsOf } from './option.ts';
import type { System } from './system.ts';

/** How a command of a person reaches the API server: as kubectl does. */
export interface PersonConnection extends KubeConfigSource {
  readonly overrides: Overrides;
  readonly impersonation: Impersonation;
  readonly proxies: ProxyVariables;
  /** How long to wait for one response; 0 = without end. */
  readonly requestTimeoutMs: number;
}

type Options = OptionsOf<typeof withConnection<[], EarlierOptions>>;

/** Adds the options of commands that a person runs against a cluster, with kubectl's names. */
export const withConnection = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  withCluster(command)
    .optionsGroup(clusterGroup)
    .option('--cluster <NAME>', "The kubeconfig cluster to use. Not set: the context's.", text())
    .option('--user <NAME>', "The kubeconfig user to use. Not set: the context's.", text())
    .option('-s, --server <URL>', "URL of the API server. Not set: the cluster's.", text(notServer))
    .option('--as <USER>', 'User to impersonate. Needs the right to impersonate.', text())
    .option('--as-group <GROUP>', 'Group to impersonate, with --as. Can be repeated.', list)
    .option('--as-uid <UID>', 'UID to impersonate, with --as.', text())
    .addOption(
      duration(
        '--request-timeout <DURATION>',
        'How long to wait for one response of the API server, with its credentials: a plugin of the kubeconfig that takes longer is ended. 0s = without end.',
        '1m',
        0,
      ),
    );

/** As with kubectl, the scheme may be missing. */
function notServer(given: string): string | undefined {
  const url = given.includes('://') ? given : `https://${given}`;
  const isServer = URL.canParse(url) && /^https?:\/\/[^/?#@]+(\/[^?#@]*)?$/.test(url);
  return isServer ? undefined : 'Use a URL such as https://10.0.0.1:6443.';
}

/** The settings of the connection; throws UsageError for an impersonation without a user. */
export function personConnection(options: Options, env: System['env'], command: string): PersonConnection {
  const { context, cluster, user, server, as, asGroup, asUid } = options;
  if (as === undefined && (asGroup !== undefined || asUid !== undefined))
    throw new UsageError([`${command}: --as-group and --as-uid need --as`]);
  return {
    ...kubeConfigSource(options, env),
    overrides: { context, cluster, user, server },
    impersonation: { user: as, groups: asGroup, uid: asUid },
    proxies: {
      httpsProxy: set(env['HTTPS_PROXY']) ?? env['https_proxy'],
      httpProxy: set(env['HTTP_PROXY']) ?? env['http_proxy'],
      noProxy: set(env['NO_PROXY']) ?? env['no_proxy'],
    },
    requestTimeoutMs: options.requestTimeout,
  };
}
