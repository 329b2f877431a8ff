import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceAccountGroups, type Cluster, type User } from '../servers/cluster.ts';
import { PartProcess } from '../servers/part-process.ts';
import { freePorts } from '../servers/ports.ts';
import { statusOf } from '../servers/probe.ts';
import { repositoryRoot } from '../repository.ts';

interface DustpanOptions {
  /** Without one it must find the service account of a pod (`mountServiceAccount`). */
  readonly kubeconfig?: string;
  /** A folder with token and ca.crt, which this process alone sees where a pod has its service account; and the server's URL. */
  readonly serviceAccount?: { readonly dir: string; readonly server: string };
  readonly env?: Readonly<Record<string, string>>;
  /** Where its log goes, e.g. the cluster's folder. */
  readonly dir: string;
  /** Come last, so they win. */
  readonly args?: readonly string[];
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
  /** Another build than dist/main.js. */
  readonly main?: string;
  /** Of its log, where there are several. */
  readonly name?: string;
}

/** The built controller as a process of its own. */
export interface Dustpan extends AsyncDisposable {
  readonly pid: number;
  readonly logFile: string;
  readonly metricsUrl: string;
  readonly healthUrl: string;
  readonly isRunning: boolean;
  logTail(lines: number): Promise<string>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends it as Kubernetes does: TERM, and KILL when it takes longer than 10 s. */
  stop(): Promise<void>;
}

/** Starts dist/main.js and resolves as soon as it lives; whether its caches are full is for `${healthUrl}/readyz` to say. */
export async function startDustpan(options: DustpanOptions): Promise<Dustpan> {
  const [metrics = 0, health = 0] = await freePorts(2);
  const healthUrl = `http://127.0.0.1:${health}`;
  const { name = 'dustpan' } = options;
  const logFile = join(options.dir, 'log', `${name}.log`);
  const main = options.main ?? join(repositoryRoot(), 'dist/main.js');
  const process = new PartProcess({
    name,
    // Each becomes the program it names: one process, one pid.
    command: 'env',
    args: [
      ...variables(options.env),
      ...asPod(options.serviceAccount),
      'node',
      ...(options.nodeArgs ?? []),
      main,
      ...flags({ ...options, metrics, health }),
    ],
    cwd: options.dir,
    logFile,
    isReady: async () => (await statusOf(`${healthUrl}/healthz`)) === 200,
  });
  await process.start(startTimeoutMs);
  return handleOf(process, { logFile, healthUrl, metricsUrl: `http://127.0.0.1:${metrics}/metrics` });
}

const startTimeoutMs = 120_000;
const stopTimeoutMs = 10_000;

function flags(options: DustpanOptions & { readonly metrics: number; readonly health: number }): string[] {
  return [
    'controller',
    ...(options.kubeconfig === undefined ? [] : [`--kubeconfig=${options.kubeconfig}`]),
    '--leader-elect=false',
    `--metrics-bind-address=127.0.0.1:${options.metrics}`,
    `--health-probe-bind-address=127.0.0.1:${options.health}`,
    ...(options.args ?? []),
  ];
}

const variables = (env: DustpanOptions['env'] = {}): string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Gives this machine the files that a pod of this user has and returns the variables that go with them.
 * Only in a jail that is a node (`imageFsMB: 0`): there /run is the jail's own.
 */
export function mountServiceAccount(
  cluster: Pick<Cluster, 'url' | 'caFile' | 'token'>,
  user: string,
): Readonly<Record<string, string>> {
  mkdirSync(serviceAccount, { recursive: true });
  writeFileSync(join(serviceAccount, 'token'), cluster.token(user));
  writeFileSync(join(serviceAccount, 'namespace'), 'dustpan-system');
  copyFileSync(cluster.caFile, join(serviceAccount, 'ca.crt'));
  return serviceOf(cluster.url);
}

function serviceOf(server: string): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(server);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port === '' ? '443' : port };
}

/** In a mount namespace of its own, with a /run of its own. */
function asPod(account: DustpanOptions['serviceAccount']): string[] {
  if (account === undefined) return [];
  const mount = `mount -t tmpfs tmpfs /run && mkdir -p ${serviceAccount} && mount --bind "$0" ${serviceAccount} && exec "$@"`;
  return [
    'unshare',
    '--mount',
    'sh',
    '-c',
    mount,
    account.dir,
    'env',
    ...variables(serviceOf(account.server)),
  ];
}

type Urls = Pick<Dustpan, 'logFile' | 'healthUrl' | 'metricsUrl'>;

function handleOf(process: PartProcess, urls: Urls): Dustpan {
  const stop = async (): Promise<void> => {
    const killer = setTimeout(() => void process.kill('SIGKILL'), stopTimeoutMs);
    await process.kill('SIGTERM');
    clearTimeout(killer);
  };
  return {
    ...urls,
    get pid() {
      if (process.pid === undefined) throw new Error('dustpan does not run (any more)');
      return process.pid;
    },
    get isRunning() {
      return process.pid !== undefined;
    },
    logTail: (lines) => process.logTail(lines),
    kill: (signal) => process.kill(signal),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const read = ['get', 'list', 'watch'];

/** A user for `startCluster` with no more rights than the controller needs. */
export const dustpanUser: User = {
  name: 'dustpan',
  groups: serviceAccountGroups,
  rules: [
    { apiGroups: [''], resources: ['pods'], verbs: [...read, 'delete'] },
    { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
    { apiGroups: [''], resources: ['pods/status'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['nodes', 'namespaces'], verbs: read },
    { apiGroups: ['apps'], resources: ['replicasets'], verbs: read },
    { apiGroups: ['batch'], resources: ['jobs'], verbs: read },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['gcpolicies', 'nodegcreports'], verbs: read },
    { apiGroups: ['gc.dustpan.dev'], resources: ['gcpolicies/status'], verbs: ['patch'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'create', 'update'],
    },
  ],
};
