import { join } from 'node:path';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { KubeletUsageOptions } from '../node/kubelet/source.ts';
import { UsageError } from './exit.ts';
import { ownGroup } from './help.ts';
import {
  address,
  choice,
  decimal,
  integer,
  notAbsolute,
  notObjectName,
  onOff,
  text,
  filled,
  type EarlierOptions,
  type OptionsOf,
} from './option.ts';
import { realSystem, type System } from './system.ts';

/** The real process; only this function reads the environment. An empty DUSTPAN_ variable counts as unset: charts write those. */
export function currentSystem(program: string): System {
  for (const [name, value] of Object.entries(process.env))
    if (value === '' && name.startsWith('DUSTPAN_')) Reflect.deleteProperty(process.env, name);
  // A dumb terminal shows the codes of colours as text.
  const env = process.env['TERM'] === 'dumb' ? { ...process.env, NO_COLOR: '1' } : process.env;
  return realSystem(env, program);
}

/** undefined for an empty string. */
export const set = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

/** How to reach the API server; undefined = not set. */
export interface KubeConfigSource {
  /** `--kubeconfig`. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** $KUBECONFIG: a list of files as kubectl reads it. */
  readonly kubeconfigVariable: string | undefined;
  /** Home directories, in kubectl's order. */
  readonly homes: readonly string[];
  /** $KUBERNETES_SERVICE_HOST and _PORT: set in every pod. */
  readonly serviceHost: string | undefined;
  readonly servicePort: string | undefined;
}

type ClusterOptions = OptionsOf<typeof withCluster<[], EarlierOptions>>;

/** The heading of the options that have kubectl's names, where kubectl has them. */
export const clusterGroup = 'Cluster access:';

/** Adds the options of commands that connect to a cluster. */
export const withCluster = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command
    .optionsGroup(ownGroup)
    .option(
      '-v, --v <N>',
      'Log level: 0 errors and warnings, 2 changes, 4 why something was kept, 5 stacks of errors.',
      integer({ max: 10 }),
      2,
    )
    .optionsGroup(clusterGroup)
    .option(
      '--kubeconfig <FILE>',
      'How to reach the cluster. Not set: the service account in a pod, else $KUBECONFIG, else ~/.kube/config.',
      text(),
    )
    .option(
      '--context <NAME>',
      "The kubeconfig context to use. Not set: the file's current context.",
      text(),
    );

export function kubeConfigSource(
  { kubeconfig, context }: ClusterOptions,
  env: System['env'],
): KubeConfigSource {
  return {
    kubeconfig,
    context,
    kubeconfigVariable: set(env['KUBECONFIG']),
    homes: homesOf(env),
    serviceHost: set(env['KUBERNETES_SERVICE_HOST']),
    servicePort: set(env['KUBERNETES_SERVICE_PORT']),
  };
}

/** $HOME, then those that Windows sets. */
function homesOf(env: System['env']): readonly string[] {
  const [drive, path] = [set(env['HOMEDRIVE']), set(env['HOMEPATH'])];
  const onDrive = drive === undefined || path === undefined ? undefined : drive + path;
  return [set(env['HOME']), onDrive, set(env['USERPROFILE'])].filter((home) => home !== undefined);
}

export interface MetricsSecurity {
  /** The directory of tls.crt and tls.key; undefined = plain HTTP. */
  readonly certDirectory: string | undefined;
  /** Whether the API server must allow a user to get /metrics. */
  readonly isAuthorized: boolean;
}

type ServerOptions = OptionsOf<typeof withServers<[], EarlierOptions>>;

/** Adds the options of commands that run until they are stopped. */
export const withServers = <A extends unknown[], O extends OptionValues>(
  command: Command<A, O>,
  limits: { readonly qps: number; readonly burst: number },
) =>
  command
    .optionsGroup('Server options:')
    .option('--metrics-bind-address <ADDRESS>', 'Where /metrics is served. 0 = nowhere.', address, ':8080')
    .option(
      '--metrics-secure [true|false]',
      'Serve /metrics over TLS, with the certificate in --metrics-cert-dir.',
      onOff,
      false,
    )
    .option(
      '--metrics-cert-dir <DIRECTORY>',
      'Directory of tls.crt and tls.key, for --metrics-secure. Read every 10s: a renewed certificate needs no restart.',
      text(notAbsolute),
    )
    .option(
      '--metrics-auth [true|false]',
      'Serve /metrics only with a bearer token whose user may get the nonResourceURL /metrics. ' +
        'Needs --metrics-secure, and the rights to create tokenreviews and subjectaccessreviews.',
      onOff,
      false,
    )
    .option(
      '--health-probe-bind-address <ADDRESS>',
      'Where /healthz and /readyz are served. 0 = nowhere.',
      address,
      ':8081',
    )
    .addOption(
      choice('--log-format <FORMAT>', 'One JSON object per line, or text for people.', ['json', 'text']),
    )
    .option(
      '--kube-api-qps <NUMBER>',
      'Maximum requests per second to the API server on average, deletions of garbage not counted. 0 = no limit.',
      decimal,
      limits.qps,
    )
    .option(
      '--kube-api-burst <N>',
      'Maximum requests at once, on top of --kube-api-qps.',
      integer({ min: 1 }),
      limits.burst,
    );

export const metricsSecurity = (options: ServerOptions): MetricsSecurity => ({
  certDirectory: options.metricsSecure ? options.metricsCertDir : undefined,
  isAuthorized: options.metricsAuth,
});

export function metricsSecurityProblems(options: ServerOptions): string[] {
  const problems: string[] = [];
  if (options.metricsSecure && options.metricsCertDir === undefined)
    problems.push('--metrics-secure needs --metrics-cert-dir');
  if (!options.metricsSecure && options.metricsAuth)
    problems.push('--metrics-auth needs --metrics-secure: tokens are not sent over plain HTTP');
  return problems;
}

/** The address of this node's kubelet, and how its certificate is verified. */
export type KubeletAccess = Pick<KubeletUsageOptions, 'endpoint' | 'trust'>;

type NodeOptions = OptionsOf<typeof withNode<[], EarlierOptions>>;

export const notSocket = (given: string): string | undefined =>
  /^(unix:\/\/)?\//.test(given)
    ? undefined
    : 'Use a socket such as /run/containerd/containerd.sock or unix:///run/crio/crio.sock.';

const notHttps = (given: string): string | undefined =>
  URL.canParse(given) && /^https:\/\/[^/?#@]+\/?$/.test(given)
    ? undefined
    : 'Use a URL such as https://10.0.0.7:10250.';

/** Adds the options of commands that read the node on which they run. */
export const withNode = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  withKubelet(
    command
      .optionsGroup('On a node:')
      .option('--node-name <NAME>', 'Node object of this machine. Not set: $NODE_NAME.', text(notObjectName))
      .option(
        '--cri-socket <SOCKET>',
        'Unix socket of the container runtime. Not set: the agent takes the first that responds of containerd, CRI-O, ' +
          'cri-dockerd, k3s and microk8s; other commands leave the node out.',
        text(notSocket),
      )
      .option(
        '--state-dir <DIRECTORY>',
        'Directory of the image usage history.',
        filled(notAbsolute),
        '/var/lib/dustpan',
      )
      .option(
        '--pod-logs-dir <DIRECTORY>',
        "The kubelet's log directories, one per pod.",
        filled(notAbsolute),
        '/var/log/pods',
      )
      .option(
        '--container-logs-dir <DIRECTORY>',
        "The kubelet's links to container logs.",
        filled(notAbsolute),
        '/var/log/containers',
      )
      .option(
        '--kubelet-root-dir <DIRECTORY>',
        "The kubelet's own directory. Orphaned resources of deleted pods in it are reported, and removed only if nodes.orphans of a policy allows it.",
        filled(notAbsolute),
        '/var/lib/kubelet',
      ),
  );

const withKubelet = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command
    .option(
      '--kubelet-endpoint <URL>',
      'Where the kubelet of this node serves the local storage usage of pods. Not set: https://$HOST_IP:10250, or 127.0.0.1 without HOST_IP.',
      text(notHttps),
    )
    .option(
      '--kubelet-certificate-authority <FILE>',
      "CA of the kubelet's serving certificate. Not set: the cluster's CA, or the kubelet's self-signed certificate, " +
        'pki/kubelet.crt below --kubelet-root-dir.',
      text(notAbsolute),
    )
    .option(
      '--kubelet-insecure-tls [true|false]',
      "Do not verify the kubelet's serving certificate. A server in its place receives the token, and can cause evictions.",
      onOff,
      false,
    );

/** The default address of a kubelet; `hostIp` is the downward API's `status.hostIP`. */
export function defaultKubeletEndpoint(hostIp: string | undefined): string {
  const host = hostIp === undefined || hostIp === '' ? '127.0.0.1' : hostIp;
  return `https://${host.includes(':') ? `[${host}]` : host}:10250`;
}

export function kubeletAccess(options: NodeOptions, env: System['env']): KubeletAccess {
  return {
    endpoint: options.kubeletEndpoint ?? defaultKubeletEndpoint(env['HOST_IP']),
    trust: {
      isInsecure: options.kubeletInsecureTls,
      caFile: options.kubeletCertificateAuthority,
      ownFile: join(options.kubeletRootDir, 'pki/kubelet.crt'),
    },
  };
}

/** The name of this node; undefined = not set. Throws UsageError for an invalid name. */
export function nodeNameOf(
  { nodeName }: NodeOptions,
  env: System['env'],
  command: string,
): string | undefined {
  const variable = set(env['NODE_NAME']);
  const name = nodeName ?? variable;
  const problem = name === undefined ? undefined : notObjectName(name);
  if (problem !== undefined)
    throw new UsageError([`${command}: NODE_NAME ${JSON.stringify(name)} is invalid. ${problem}`]);
  return name;
}

/** The node that a command reads. Directories are absolute. */
export interface ThisNode {
  readonly name: string;
  readonly criSocket: string;
  readonly stateDirectory: string;
  readonly podLogs: string;
  readonly containerLogs: string;
  readonly kubeletRoot: string;
  readonly kubelet: KubeletAccess;
}

/** undefined without `--cri-socket`: the command leaves the node out. */
export function thisNode(options: NodeOptions, env: System['env'], command: string): ThisNode | undefined {
  const { criSocket } = options;
  if (criSocket === undefined) return undefined;
  const name = nodeNameOf(options, env, command);
  if (name === undefined) throw new UsageError([`${command}: --cri-socket needs --node-name, or NODE_NAME`]);
  return {
    name,
    criSocket,
    stateDirectory: options.stateDir,
    podLogs: options.podLogsDir,
    containerLogs: options.containerLogsDir,
    kubeletRoot: options.kubeletRootDir,
    kubelet: kubeletAccess(options, env),
  };
}
