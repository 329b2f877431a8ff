import { mkdirSync, mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditEvents, auditPolicy, type AuditEvent, type AuditFilter } from './audit.ts';
import { runCommand, type CommandResult } from './command.ts';
import { kubeconfigFile, tokenOf, writeIdentities, writePki, type Identity } from './credentials.ts';
import { images, pauseImage, type BuiltImage, type ImageSpec } from '../node/image.ts';
import { importArchive, nodeOfJail, nodeReady, type ClusterNode } from '../node/node.ts';
import { registryUrl } from '../node/registry.ts';
import { wipeNode } from '../node/wipe.ts';
import { PartProcess } from './part-process.ts';
import { liftsTaints, makesServiceAccounts, partSpec, type PartInputs } from './part-spec.ts';
import type { Part } from '../programs/parts.ts';
import { freePorts } from './ports.ts';
import { statusOf } from './probe.ts';
import { endedWithFile } from './started.ts';
import { installCrds, grant, type Rule } from './resources.ts';

/** The parts that `startCluster` knows how to start. */
export type Startable = Extract<Part, 'etcd' | 'api' | 'kcm' | 'sched' | 'ctd' | 'kubelet' | 'registry'>;

type Command = 'kubectl' | 'helm' | 'ctr' | 'crictl';

/** Groups of a service account of the release, so that API priority and fairness queues its requests as in a cluster. */
export const serviceAccountGroups = ['system:serviceaccounts', 'system:serviceaccounts:dustpan-system'];

export interface User {
  /** Also names the token and the kubeconfig, so it has no slash. */
  readonly name: string;
  readonly groups?: readonly string[];
  /** Granted in the whole cluster, by a ClusterRole of the user's name. */
  readonly rules?: readonly Rule[];
}

export interface ClusterOptions {
  readonly parts: readonly Startable[];
  /** `args` come last, so they win; `env` is added to our own; `audit: false` saves its cost in benchmarks. */
  readonly api?: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly audit?: boolean;
  };
  /** `controllers` is the flag's value; by default all but the pod garbage collector. */
  readonly kcm?: { readonly controllers?: string; readonly args?: readonly string[] };
  readonly sched?: { readonly args?: readonly string[] };
  /** containerd's log level, and the period in which it measures snapshots (default 10 s). */
  readonly ctd?: { readonly logLevel?: 'trace'; readonly statsSeconds?: number; readonly root?: string };
  /** Fields of KubeletConfiguration that replace the defaults; `args` come last. kubelet-quick collects garbage every few seconds. */
  readonly kubelet?: {
    readonly program?: 'kubelet' | 'kubelet-quick';
    readonly config?: Readonly<Record<string, unknown>>;
    readonly args?: readonly string[];
  };
  /** Imported besides the pause image, before a kubelet starts. */
  readonly images?: readonly ImageSpec[];
  readonly pinnedImages?: readonly ImageSpec[];
  readonly users?: readonly User[];
  /** Installs crds/ and waits until they are served. */
  readonly crds?: boolean;
  /** For each part; default 120 s. */
  readonly timeoutMs?: number;
}

/** A running cluster of real servers, with a folder and ports of its own. */
export interface Cluster extends AsyncDisposable {
  readonly dir: string;
  readonly url: string;
  readonly etcdUrl: string;
  /** With the part registry, from which containerd then pulls the images of every registry. */
  readonly registryUrl: string;
  readonly caFile: string;
  /** With the part ctd; throws without. */
  readonly node: ClusterNode;
  /** `admin`, `kcm`, `sched`, `kubelet`, or the name of one of the option `users`. */
  token(user: string): string;
  kubeconfig(user: string): string;
  /** Runs a program of the test bed as an administrator. */
  run(command: Command, args: readonly string[], input?: string): Promise<CommandResult>;
  /** Imports images as the option `images` does. */
  importImages(
    specs: readonly ImageSpec[],
    pins?: { readonly pinned: boolean },
  ): Promise<readonly BuiltImage[]>;
  logs(part: Startable, lastLines?: number): Promise<string>;
  audit(filter?: AuditFilter): Promise<readonly AuditEvent[]>;
  /** The pid, as long as it runs: for measurements. */
  pid(part: Startable): number | undefined;
  kill(part: Startable, signal?: NodeJS.Signals): Promise<void>;
  /** Starts a part again that was killed, with the same data and address, and waits until it is ready. */
  start(part: Startable): Promise<void>;
  /** Ends every part and container, and empties the node's paths; the parts' logs remain until the jail ends. */
  stop(): Promise<void>;
}

/** Parts that do not need each other start at the same time. */
const waves: readonly (readonly Startable[])[] = [
  ['etcd', 'ctd', 'registry'],
  ['api'],
  ['kcm', 'sched'],
  ['kubelet'],
];
const defaultTimeoutMs = 120_000;

/** Starts a cluster of its own; rejects with the part that failed and the last lines of its log, and leaves nothing running then. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const inputs = await prepare(options);
  const cluster = new LocalCluster(inputs);
  try {
    for (const wave of waves) {
      await Promise.all(
        wave.filter((part) => options.parts.includes(part)).map((part) => cluster.start(part)),
      );
      if (inputs.node && wave.includes('ctd')) await importFirst(cluster, options);
    }
    await settle(cluster, inputs);
    if (options.parts.includes('kubelet')) await nodeReady(cluster, liftsTaints(options));
    return endedWithFile(cluster);
  } catch (err) {
    await cluster.stop();
    throw err;
  }
}

async function prepare(options: ClusterOptions): Promise<PartInputs> {
  const { BED_DIR: beds, DUSTPAN_BED_BIN: bin } = process.env;
  if (!beds || !bin) throw new Error('a cluster starts only inside a jail: npm run test:cluster');
  const has = (part: Startable): boolean => options.parts.includes(part);
  const node = has('ctd') ? nodeOfJail(process.env) : undefined;
  const dir = mkdtempSync(join(beds, 'cluster-'));
  mkdirSync(join(dir, 'log'));
  const ports = await portsOf(options);
  const ca = has('api') ? await writeApiFiles(dir, ports.api, options, node) : '';
  return { dir, bin, ca, ports, options, ...(node && { node }) };
}

async function portsOf({ parts }: ClusterOptions): Promise<PartInputs['ports']> {
  const [etcd = 0, peer = 0, api = 0, kcm = 0, sched = 0, registry = 0] = await freePorts(6);
  // Pods use the service's port, and no proxy translates it.
  return { etcd, peer, api: parts.includes('kubelet') ? 443 : api, kcm, sched, registry };
}

async function writeApiFiles(
  dir: string,
  port: number,
  { users = [] }: ClusterOptions,
  node: ClusterNode | undefined,
): Promise<string> {
  await writeFile(join(dir, 'audit.yaml'), auditPolicy);
  await writePki(dir, node);
  await writeIdentities(dir, `https://127.0.0.1:${port}`, identities(users));
  return await readFile(join(dir, 'pki/ca.crt'), 'utf8');
}

async function importFirst(
  cluster: Cluster,
  { images: specs = [], pinnedImages = [] }: ClusterOptions,
): Promise<void> {
  await cluster.importImages([pauseImage, ...specs]);
  if (pinnedImages.length > 0) await cluster.importImages(pinnedImages, { pinned: true });
}

function identities(users: readonly User[]): readonly Identity[] {
  return [
    { key: 'admin', user: 'admin', groups: ['system:masters'] },
    // Real names, so that RBAC's own roles apply to them.
    { key: 'kcm', user: 'system:kube-controller-manager', groups: [] },
    { key: 'sched', user: 'system:kube-scheduler', groups: [] },
    { key: 'kubelet', user: 'system:node:node-a', groups: ['system:nodes'] },
    ...users.map(({ name, groups = [] }) => ({ key: name, user: name, groups })),
  ];
}

async function settle(cluster: Cluster, { options, ca }: PartInputs): Promise<void> {
  if (!options.parts.includes('api')) return;
  const isServed = async (path: string): Promise<boolean> => {
    return (await statusOf(`${cluster.url}${path}`, { ca, token: cluster.token('admin') })) === 200;
  };
  const paths = options.crds ? await installCrds(cluster) : [];
  if (makesServiceAccounts(options)) paths.push('/api/v1/namespaces/default/serviceaccounts/default');
  const deadline = Date.now() + defaultTimeoutMs;
  for (const path of paths) {
    while (!(await isServed(path))) {
      if (Date.now() > deadline)
        throw new Error(`${path} is not there; api:\n${await cluster.logs('api', 20)}`);
      await sleep(50);
    }
  }
  for (const { name, rules } of options.users ?? []) if (rules) await grant(cluster, name, rules);
}

class LocalCluster implements Cluster {
  readonly #inputs: PartInputs;
  readonly #parts = new Map<Startable, PartProcess>();
  #isStopped = false;

  constructor(inputs: PartInputs) {
    this.#inputs = inputs;
    for (const part of inputs.options.parts) this.#parts.set(part, new PartProcess(partSpec(part, inputs)));
  }

  get dir(): string {
    return this.#inputs.dir;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#inputs.ports.api}`;
  }

  get etcdUrl(): string {
    return `http://127.0.0.1:${this.#inputs.ports.etcd}`;
  }

  get registryUrl(): string {
    return registryUrl(this.#inputs);
  }

  get caFile(): string {
    return join(this.dir, 'pki/ca.crt');
  }

  token(user: string): string {
    this.#checkUser(user);
    return tokenOf(user);
  }

  kubeconfig(user: string): string {
    this.#checkUser(user);
    return kubeconfigFile(this.dir, user);
  }

  #checkUser(user: string): void {
    const known = identities(this.#inputs.options.users ?? []).map(({ key }) => key);
    if (!known.includes(user)) throw new Error(`no user ${user} in this cluster, only ${known.join(', ')}`);
  }

  get node(): ClusterNode {
    if (!this.#inputs.node) throw new Error('this cluster has no node');
    return this.#inputs.node;
  }

  async run(command: Command, args: readonly string[], input = ''): Promise<CommandResult> {
    const env = {
      ...process.env,
      KUBECONFIG: this.kubeconfig('admin'),
      KUBECACHEDIR: join(this.dir, 'cache'),
      HELM_CACHE_HOME: join(this.dir, 'helm/cache'),
      HELM_CONFIG_HOME: join(this.dir, 'helm/config'),
      HELM_DATA_HOME: join(this.dir, 'helm/data'),
      ...(this.#inputs.node && { CONTAINER_RUNTIME_ENDPOINT: this.#inputs.node.criSocket }),
    };
    // crictl's default of 2 s is too short on a busy machine; a later flag wins.
    const first = command === 'crictl' ? ['--timeout', '60s'] : [];
    return await runCommand([join(this.#inputs.bin, command), ...first, ...args], {
      env,
      cwd: this.dir,
      input,
    });
  }

  async importImages(
    specs: readonly ImageSpec[],
    { pinned } = { pinned: false },
  ): Promise<readonly BuiltImage[]> {
    const archive = join(this.dir, 'images.tar');
    const built = await images(specs, archive);
    await importArchive(this, archive, pinned);
    await rm(archive);
    return built;
  }

  async logs(part: Startable, lastLines = 100): Promise<string> {
    return await this.#part(part).logTail(lastLines);
  }

  async audit(filter: AuditFilter = {}): Promise<readonly AuditEvent[]> {
    return await auditEvents(join(this.dir, 'log/audit.log'), filter);
  }

  pid(part: Startable): number | undefined {
    return this.#part(part).pid;
  }

  async kill(part: Startable, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#part(part).kill(signal);
  }

  async start(part: Startable): Promise<void> {
    await this.#part(part).start(this.#inputs.options.timeoutMs ?? defaultTimeoutMs);
  }

  #part(part: Startable): PartProcess {
    const process = this.#parts.get(part);
    if (!process) throw new Error(`this cluster has no part ${part}`);
    return process;
  }

  async stop(): Promise<void> {
    // The node may be another cluster's by then.
    if (this.#isStopped) return;
    this.#isStopped = true;
    // Nothing in here is worth a graceful end.
    await Promise.all([...this.#parts.values()].map((part) => part.kill()));
    await rm(join(this.dir, 'etcd'), { recursive: true, force: true });
    if (this.#inputs.node) await wipeNode();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
