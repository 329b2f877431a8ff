import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRelay, type Relay } from '../../proxies.ts';
import { serviceAccountGroups, startCluster, type Cluster, type User } from '../servers/cluster.ts';
import { startDustpanProcess, type DustpanProcess } from '../servers/dustpan-process.ts';
import { endedWithFile } from '../servers/started.ts';

/** A folder with token and ca.crt, which only this process sees where a pod has its service account; and the server's URL. */
interface ServiceAccount {
  readonly dir: string;
  readonly server: string;
}

interface DustpanOptions {
  /** Without one it must find the service account of a pod (`mountServiceAccount`). */
  readonly kubeconfig?: string;
  readonly serviceAccount?: ServiceAccount;
  readonly env?: Readonly<Record<string, string>>;
  /** The log is written below this directory. */
  readonly dir: string;
  /** Come last, so they win. */
  readonly args?: readonly string[];
  /** Flags of Node. */
  readonly nodeArgs?: readonly string[];
  /** Another build than dist/main.js. */
  readonly main?: string;
  /** Name of the log file. */
  readonly name?: string;
}

/** Starts the controller; the caller waits for `ready()` where full caches matter. */
export function startDustpan(options: DustpanOptions): Promise<DustpanProcess> {
  const { kubeconfig, serviceAccount: account, nodeArgs = [], args = [], ...rest } = options;
  return startDustpanProcess({
    name: 'dustpan',
    ...rest,
    launcher: account === undefined ? [] : asPod(account),
    nodeArgs,
    args: [
      'controller',
      ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
      '--leader-elect=false',
      ...args,
    ],
  });
}

/** Starts the controller of a cluster that has `dustpanUser`, or the user named here. */
export function startController(
  cluster: Cluster,
  {
    user = dustpanUser.name,
    ...options
  }: Omit<DustpanOptions, 'dir' | 'kubeconfig'> & { user?: string } = {},
): Promise<DustpanProcess> {
  return startDustpan({ ...options, kubeconfig: cluster.kubeconfig(user), dir: cluster.dir });
}

/** Starts a relay before the API server. */
export async function relayTo({ url }: Cluster): Promise<Relay> {
  const relay = await startRelay(Number(new URL(url).port || 443));
  endedWithFile({ [Symbol.asyncDispose]: () => relay.stop() });
  return relay;
}

/** Writes the kubeconfig of a user whose connections pass a relay. */
export function relayedKubeconfig(cluster: Cluster, user: string, { url }: Relay): string {
  const file = join(cluster.dir, `relayed-${user}.kubeconfig`);
  writeFileSync(file, readFileSync(cluster.kubeconfig(user), 'utf8').replace(cluster.url, url));
  return file;
}

/** Passes a second apart, each as fast as by default. */
export const shortPeriod: readonly string[] = ['--pod-gc-period=1s'];

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

/** The command that gives a process a mount namespace with a /run of its own, and the service account in it. */
function asPod({ dir, server }: ServiceAccount): readonly string[] {
  const mount = `mount -t tmpfs tmpfs /run && mkdir -p ${serviceAccount} && mount --bind "$0" ${serviceAccount} && exec "$@"`;
  const variables = Object.entries(serviceOf(server)).map(([name, value]) => `${name}=${value}`);
  return ['unshare', '--mount', 'sh', '-c', mount, dir, 'env', ...variables];
}

/** Starts etcd and an API server that knows the controller. */
export const startControlPlane = (): Promise<Cluster> =>
  startCluster({ parts: ['etcd', 'api'], crds: true, users: [dustpanUser] });

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
