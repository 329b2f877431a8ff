import type { Manifest } from '../../sandbox/api/direct-store.ts';
import type { KubeObject } from '../../sandbox/api/json.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { SandboxUser } from '../../sandbox/api/users.ts';
import { RunningController, until, type Built } from '../built.ts';

/** An eviction request of a node; the defaults are the pod's own values, measured now. */
interface RequestedEviction {
  readonly name: string;
  readonly uid?: string;
  readonly observedMs?: number;
  readonly observedBytes?: number;
  /** The node is short of disk space, and its threshold is higher than this. */
  readonly availableBytes?: number;
}

const limitBytes = 1_000_000;

/** A user who may do everything but evict. */
export const powerless = 'no-evictions';

/** node-1 and node-2, running pods, a policy that evicts, the reports that agents would write, and the controller. */
export class EvictionEnvironment implements AsyncDisposable {
  readonly api: Sandbox;
  readonly #built: Pick<Built, 'main'>;
  #controller: RunningController | undefined;

  private constructor(built: Pick<Built, 'main'>, api: Sandbox) {
    this.#built = built;
    this.api = api;
    this.#apply('v1', 'Namespace', { metadata: { name: 'dustpan-system' } });
    for (const name of ['node-1', 'node-2']) this.#apply('v1', 'Node', { metadata: { name } });
  }

  static async open(
    built: Pick<Built, 'main'>,
    mode: 'DryRun' | 'Enforce',
    rule: object = {},
  ): Promise<EvictionEnvironment> {
    const allow: SandboxUser['allow'] = ({ resource }) => resource !== 'pods/eviction';
    const environment = new EvictionEnvironment(
      built,
      await startSandbox({ users: [{ name: powerless, token: 't', allow }] }),
    );
    environment.policy(mode, rule);
    return environment;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller?.stop();
    await this.api.stop();
  }

  start(kubeconfig = this.api.kubeconfigFile): RunningController {
    this.#controller = new RunningController(this.#built, kubeconfig, ['--v=4']);
    return this.#controller;
  }

  policy(mode: 'DryRun' | 'Enforce', rule: object = {}): void {
    const spec = {
      mode,
      nodes: { nodeSelector: {}, localStorageEviction: rule, nodePressure: { evictPods: true } },
    };
    this.#apply('gc.dustpan.dev/v1alpha1', 'GCPolicy', { metadata: { name: 'default' }, spec });
  }

  /** A running, ready pod of a StatefulSet: of one owner only one pod a minute is evicted. */
  pod(name: string, { owner: of = 'web', ...options }: PodOptions = {}): void {
    const { nodeName = 'node-1', labels = {}, metadata = {}, ...spec } = options;
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: of,
      uid: `${of}-uid`,
      controller: true,
    };
    this.#apply('v1', 'Pod', {
      metadata: {
        ...{ name, namespace: 'default', labels: { app: 'web', ...labels }, ownerReferences: [owner] },
        ...metadata,
      },
      spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  /** Another pod of the same name. */
  replace(name: string): void {
    this.api.store.delete('Pod', name);
    this.pod(name);
  }

  /** A budget over all pods, with the status of its controller. */
  budget(allowed: number): void {
    const spec = { minAvailable: 2, selector: { matchLabels: { app: 'web' } } };
    const counts = {
      currentHealthy: 2 + allowed,
      desiredHealthy: 2,
      expectedPods: 2,
      disruptionsAllowed: allowed,
    };
    const metadata = { name: 'web', namespace: 'default' };
    this.#apply('policy/v1', 'PodDisruptionBudget', {
      metadata,
      spec,
      status: { observedGeneration: 9, ...counts },
    });
  }

  /** Writes the report of the node under the current policy; the first request exceeds the limit most. */
  report(node: string, ...requested: readonly RequestedEviction[]): void {
    const { metadata } = this.#get('GCPolicy', 'default');
    const { name, uid, generation } = metadata;
    const evictionRequests = requested.map((one, i) => this.#requestOf(one, requested.length - i));
    this.#apply('gc.dustpan.dev/v1alpha1', 'NodeGCReport', {
      metadata: { name: node },
      status: {
        reportTime: rfc3339(Date.now()),
        policy: { name, uid, observedGeneration: generation, mode: 'Enforce' },
        evictionRequestCount: requested.length,
        evictionRequests,
      },
    });
  }

  /** The requests about this pod, without lists and watches. */
  requestsFor(name: string): string[] {
    return this.api.requests
      .filter(({ path }) => path.includes(`/pods/${name}`))
      .map(({ method, path }) => `${method} ${path.split('/').at(-1) ?? ''}`);
  }

  /** The requested evictions and deletes of this pod. */
  writesFor(name: string): string[] {
    return this.requestsFor(name).filter((request) => !request.startsWith('GET'));
  }

  isTerminating = (name: string): boolean => this.#get('Pod', name).metadata.deletionTimestamp !== undefined;

  graceOf = (name: string): unknown => this.#get('Pod', name).metadata.deletionGracePeriodSeconds;

  /** `Evicted Pod/a`, in order of names; notes with `note`. */
  events(reason: string): { readonly regarding: string; readonly note: string }[] {
    return this.api.store
      .list('Event')
      .filter((event) => event['reason'] === reason)
      .map((event) => {
        const { kind, name } = event['regarding'] as Record<string, string>;
        return { regarding: `${kind}/${name}`, note: String(event['note']) };
      })
      .sort((a, b) => (a.regarding < b.regarding ? -1 : 1));
  }

  /** Waits while the node requests a pod that is kept, twice a second: each report starts a pass of the evictions. */
  async whileReporting(node: string, wait: () => Promise<void>): Promise<void> {
    this.pod('always-kept', { nodeName: node, labels: { 'gc.dustpan.dev/keep': 'true' } });
    const timer = setInterval(() => {
      this.report(node, { name: 'always-kept' });
    }, 500);
    await wait().finally(() => {
      clearInterval(timer);
    });
  }

  async untilTerminating(name: string): Promise<void> {
    await until(`${name} is evicted`, () => this.isTerminating(name));
  }

  #requestOf({ name, uid, observedMs = Date.now(), ...one }: RequestedEviction, excess: number): object {
    const { observedBytes, availableBytes: available } = one;
    return {
      pod: { namespace: 'default', name, uid: uid ?? this.#get('Pod', name).metadata.uid },
      ...(available === undefined
        ? { signal: 'emptydirfs.limit', subject: 'cache', limitBytes }
        : { signal: 'nodefs.available', limitBytes, shortage: { available, threshold: available + 1 } }),
      ...{ observedBytes: observedBytes ?? limitBytes + excess, observedTime: rfc3339(observedMs) },
    };
  }

  #get(kind: string, name: string): KubeObject {
    const found = this.api.store.get(kind, name);
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  }

  #apply(apiVersion: string, kind: string, rest: Omit<Manifest, 'apiVersion' | 'kind'>): void {
    this.api.store.apply({ ...rest, apiVersion, kind } as Manifest);
  }
}

interface PodOptions {
  readonly owner?: string;
  readonly nodeName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly priority?: number;
  /** More of the metadata. */
  readonly metadata?: object;
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString();
