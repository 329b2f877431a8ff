import { startSandbox } from '../../sandbox/server.ts';
import type { Manifest } from '../../sandbox/api/direct-store.ts';
import type { KubeObject } from '../../sandbox/api/json.ts';
import { until, type RunningController } from '../built.ts';
import { policyManifest } from '../../manifests.ts';
import { ControllerEnvironment } from './environment.ts';

/** An eviction request of a node; the defaults are the pod's own values, measured now. */
interface RequestedEviction {
  readonly name: string;
  readonly uid?: string;
  readonly observedMs?: number;
}

const limitBytes = 1_000_000;

/** A user who may do everything but evict. */
export const powerless = 'no-evictions';

/** node-1 and node-2, running pods, a policy that evicts, and the reports that agents would write. */
export class EvictionEnvironment extends ControllerEnvironment {
  static async evicting(mode: 'DryRun' | 'Enforce', rule: object = {}): Promise<EvictionEnvironment> {
    const users = [
      {
        name: powerless,
        token: 't',
        allow: (asked: { resource: string }) => asked.resource !== 'pods/eviction',
      },
    ];
    const environment = new EvictionEnvironment(await startSandbox({ users }));
    environment.#apply('v1', 'Namespace', { metadata: { name: 'dustpan-system' } });
    for (const name of ['node-1', 'node-2']) environment.#apply('v1', 'Node', { metadata: { name } });
    environment.policy(mode, rule);
    return environment;
  }

  /** With the log lines that give the reason for each kept pod. */
  override start(kubeconfig?: string): RunningController {
    return super.start(kubeconfig, ['--v=4']);
  }

  policy(mode: 'DryRun' | 'Enforce', rule: object = {}): void {
    const nodes = { nodeSelector: {}, localStorageEviction: rule };
    this.api.store.apply(policyManifest('default', { mode, nodes }));
  }

  /** A running, ready pod of a StatefulSet: of one owner only one pod a minute is evicted. */
  pod(
    name: string,
    { owner = 'web', nodeName = 'node-1', labels, metadata, ...spec }: PodOptions = {},
  ): void {
    const statefulSet = {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: owner, uid: `${owner}-uid`, controller: true },
    };
    const own = { labels: { app: 'web', ...labels }, ownerReferences: [statefulSet] };
    this.#apply('v1', 'Pod', {
      metadata: { name, namespace: 'default', ...own, ...metadata },
      spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  /** A budget over all pods, with the status of its controller. */
  budget(disruptionsAllowed: number): void {
    const counts = { currentHealthy: 2 + disruptionsAllowed, desiredHealthy: 2, expectedPods: 2 };
    this.#apply('policy/v1', 'PodDisruptionBudget', {
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
      status: { observedGeneration: 9, disruptionsAllowed, ...counts },
    });
  }

  /** Writes the report of the node under the current policy; the first request exceeds the limit most. */
  report(node: string, ...requested: readonly RequestedEviction[]): void {
    const { name, uid, generation } = this.#get('GCPolicy', 'default').metadata;
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

  isTerminating = (name: string): boolean => this.#get('Pod', name).metadata.deletionTimestamp !== undefined;

  graceOf = (name: string): unknown => this.#get('Pod', name).metadata.deletionGracePeriodSeconds;

  /** The objects that Events of this reason are about, such as `Pod/a`, in order of names. */
  eventsAbout(reason: string): readonly string[] {
    const events = this.api.store.list('Event').filter((event) => event['reason'] === reason);
    return events
      .map(({ regarding }) => regarding as Record<string, string>)
      .map(({ kind, name }) => `${kind}/${name}`)
      .sort();
  }

  async untilTerminating(name: string): Promise<void> {
    await until(`${name} is evicted`, () => this.isTerminating(name));
  }

  #requestOf({ name, uid, observedMs = Date.now() }: RequestedEviction, excess: number): object {
    return {
      pod: { namespace: 'default', name, uid: uid ?? this.#get('Pod', name).metadata.uid },
      ...{ signal: 'emptydirfs.limit', subject: 'cache', limitBytes },
      ...{ observedBytes: limitBytes + excess, observedTime: rfc3339(observedMs) },
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
