import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Cluster } from '../servers/cluster.ts';
import { PartProcess } from '../servers/part-process.ts';
import { freePorts } from '../servers/ports.ts';
import { statusOf } from '../servers/probe.ts';
import { endedWithFile } from '../servers/started.ts';
import { repositoryRoot } from '../repository.ts';
import { kubectl, apply } from '../servers/kubectl.ts';

interface Sample {
  readonly value: number;
}

interface Target {
  readonly labels: Readonly<Record<string, string>>;
  readonly health: string;
  readonly lastError: string;
}

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  /** inactive, pending or firing. */
  readonly state: string;
}

/** A Prometheus that runs. */
export interface Prometheus extends AsyncDisposable {
  query(expr: string): Promise<readonly Sample[]>;
  targets(): Promise<readonly Target[]>;
  rules(): Promise<readonly Rule[]>;
}

export interface Scrape {
  /** The address of each job; by default Prometheus discovers what `publish` has published. */
  readonly targets?: Readonly<Record<string, string>>;
  /** `https` with the token of Prometheus' own account; the CA is a file. */
  readonly tls?: { readonly caFile: string; readonly token: boolean };
}

/** The namespace of dustpan's Services. */
export const namespace = 'dustpan-system';
const account = 'prometheus';

/** Creates the account with which Prometheus discovers its targets and reads metrics. */
export async function makeScraper(cluster: Cluster): Promise<void> {
  const metadata = { name: account, namespace };
  const rbac = 'rbac.authorization.k8s.io';
  const found = { apiGroups: ['', 'discovery.k8s.io'], resources: ['pods', 'services', 'endpointslices'] };
  const rules = [
    { ...found, verbs: ['get', 'list', 'watch'] },
    { nonResourceURLs: ['/metrics'], verbs: ['get'] },
  ];
  const items = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: account }, rules },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: account } },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: account },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
  ];
  await apply(cluster, ...items);
}

/** Publishes a process on this node as an endpoint of a Service. */
export async function publish(cluster: Cluster, component: string, port: number): Promise<void> {
  const metadata = { name: component, namespace, labels: { component } };
  const slice = { ...metadata, labels: { component, 'kubernetes.io/service-name': component } };
  const { name, address } = cluster.node;
  const ports = [{ name: 'metrics', port, protocol: 'TCP' }];
  const endpoints = [{ addresses: [address], nodeName: name, conditions: { ready: true } }];
  const items = [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', ports } },
    {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: slice },
      ...{ addressType: 'IPv4', endpoints, ports },
    },
  ];
  await apply(cluster, ...items);
}

const startTimeoutMs = 120_000;

/** Starts Prometheus with dustpan's alerts; it labels its targets as the chart's monitors do. */
export async function startPrometheus(cluster: Cluster, scrape: Scrape): Promise<Prometheus> {
  const [port = 0] = await freePorts(1);
  const dir = join(cluster.dir, `prometheus-${port}`);
  const url = `http://127.0.0.1:${port}`;
  await mkdir(dir);
  const config = join(dir, 'prometheus.yaml');
  await writeFile(
    config,
    dump({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [join(repositoryRoot(), 'helm/dustpan/files/rules.yaml')],
      scrape_configs:
        scrape.targets === undefined
          ? [await discovery(cluster, dir, scrape)]
          : Object.entries(scrape.targets).map(([job, address]) => ({
              job_name: job,
              static_configs: [{ targets: [address] }],
            })),
    }),
  );
  const process = new PartProcess({
    name: 'prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${dir}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    cwd: dir,
    logFile: join(cluster.dir, 'log', `prometheus-${port}.log`),
    isReady: async () => (await statusOf(`${url}/-/ready`)) === 200,
  });
  await process.start(startTimeoutMs);
  return endedWithFile(handleOf(url, process));
}

async function discovery(cluster: Cluster, dir: string, { tls }: Scrape): Promise<object> {
  const { url, caFile } = cluster;
  const tokenFile = join(dir, 'token');
  await writeFile(tokenFile, await kubectl(cluster, ['create', 'token', account, '-n', namespace]));
  const authorization = { credentials_file: tokenFile };
  const secure = {
    scheme: 'https',
    tls_config: { ca_file: tls?.caFile },
    ...(tls?.token === true && { authorization }),
  };
  return {
    job_name: 'dustpan',
    ...(tls && secure),
    kubernetes_sd_configs: [
      {
        ...{ role: 'endpointslice', api_server: url, namespaces: { names: [namespace] } },
        ...{ authorization, tls_config: { ca_file: caFile } },
      },
    ],
    relabel_configs: [
      { source_labels: ['__meta_kubernetes_endpointslice_port_name'], regex: 'metrics', action: 'keep' },
      {
        ...{ source_labels: ['__meta_kubernetes_endpointslice_label_component'], target_label: 'job' },
        replacement: 'dustpan-$1',
      },
      { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
      { source_labels: ['__meta_kubernetes_endpointslice_name'], target_label: 'pod' },
      { source_labels: ['__meta_kubernetes_endpointslice_endpoint_node_name'], target_label: 'node' },
    ],
  };
}

type Value = readonly [seconds: number, value: string];

interface Result {
  readonly value: Value;
}

function handleOf(url: string, process: PartProcess): Prometheus {
  const get = async (path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
    const { status, data, error } = (await response.json()) as {
      status: string;
      data: unknown;
      error?: string;
    };
    if (status !== 'success')
      throw new Error(`prometheus ${path} ${JSON.stringify(query)}: ${error ?? status}`);
    return data;
  };
  return {
    query: async (expr) => samplesIn(await get('query', { query: expr })),
    targets: async () => ((await get('targets')) as { activeTargets: Target[] }).activeTargets,
    rules: async () =>
      ((await get('rules')) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules),
    [Symbol.asyncDispose]: () => process.kill('SIGKILL'),
  };
}

function samplesIn(data: unknown): readonly Sample[] {
  const { result } = data as { result: readonly Result[] };
  return result.map(({ value: [, text] }) => ({ value: Number(text) }));
}
