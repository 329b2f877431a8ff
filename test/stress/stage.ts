import { apiClient, type ApiClient } from '../bench/api-client.ts';
import { agentUser, startAgent } from '../cluster/agent/agent.ts';
import { idleKubelet, keepingContainers } from '../cluster/agent/environment.ts';
import { shipped, type Shipped } from '../cluster/chart/shipped.ts';
import {
  dustpanUser,
  mountServiceAccount,
  relayedKubeconfig,
  relayTo,
  startController,
} from '../cluster/controller/dustpan.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../cluster/servers/cluster.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import { apply } from '../cluster/servers/kubectl.ts';
import { policyManifest } from '../manifests.ts';
import type { Relay } from '../proxies.ts';
import { victims, type Fault, type Victim } from './actions.ts';
import { keptImages, limits } from './remains.ts';

/** Which kubelet the agent runs beside: one that collects nothing by itself, or one that collects every few seconds. */
export type KubeletKind = 'idle' | 'collecting';

export const components = ['agent', 'controller'] as const;
export type Component = (typeof components)[number];
const isComponent = (victim: Victim): victim is Component => components.some((one) => one === victim);

const lowThresholdPercent = 35;

const policyOf = (kubelet: KubeletKind): object =>
  policyManifest('stress', {
    mode: 'Enforce',
    pods: {
      terminated: {
        threshold: limits.terminatedPods,
        ttlByReason: [{ phase: 'Failed', ttl: `${limits.failedTtlMs}ms` }],
      },
      ...{ orphaned: { quarantine: '5s' }, unscheduledTerminating: {}, outOfService: {} },
      safety: { holdAbove: 0 },
    },
    nodes: {
      imageGC: {
        ...{ highThresholdPercent: limits.highThresholdPercent, lowThresholdPercent, minimumAge: '2s' },
        ...{ keep: keptImages, repullBackoff: false, holdAbove: 0 },
        // Else dustpan would leave nothing to the kubelet.
        ...(kubelet === 'idle' && { maximumAge: `${limits.imageMaximumAgeMs}ms` }),
      },
      containerGC: {
        // The kubelet keeps one, and removes the others as soon as dustpan does.
        maxPerPodContainer: kubelet === 'idle' ? limits.deadPerContainer : 0,
        maxContainers: 30,
        logs: { maxRotatedPerContainer: limits.rotatedPerContainer },
      },
      localStorageEviction: { evictAtPercent: 90, gracePeriodSeconds: 1 },
    },
  });

/** The kubelet logs each of its removals. */
const logsRemovals = '--vmodule=kuberuntime_gc=4,kuberuntime_container=4';
const shared = {
  evictionHard: {},
  crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
  ...{ containerLogMaxSize: '64Ki', containerLogMaxFiles: 5, containerLogMonitorInterval: '3s' },
};

const kubelets: Readonly<Record<KubeletKind, ClusterOptions['kubelet'] & object>> = {
  idle: { config: { ...idleKubelet, ...shared }, args: [...keepingContainers, logsRemovals] },
  collecting: {
    program: 'kubelet-quick',
    config: {
      ...shared,
      imageGCHighThresholdPercent: 45,
      imageGCLowThresholdPercent: lowThresholdPercent,
      imageMinimumGCAge: '2s',
    },
    args: [
      '--maximum-dead-containers-per-container=1',
      '--minimum-container-ttl-duration=0s',
      '--housekeeping-interval=500ms',
      logsRemovals,
    ],
  },
};

const agentPeriods: Readonly<Record<KubeletKind, readonly string[]>> = {
  idle: ['--image-gc-period=1s', '--container-gc-period=1s', '--local-storage-period=1s'],
  // A kubelet-quick lists the images every five seconds: each of the two is first at times.
  collecting: ['--image-gc-period=2s', '--container-gc-period=1s', '--local-storage-period=1s'],
};

/** A node with dustpan at work on it, whose parts can be killed and paused. */
export class Stage implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly api: ApiClient;
  readonly #kubelet: KubeletKind;
  /** Agent and controller reach the API server through it. */
  readonly #relay: Relay;
  /** How the chart starts them. */
  readonly shipped: Readonly<Record<Component, Shipped>>;
  readonly #down = new Set<Victim>();
  readonly #processes = new Map<Component, DustpanProcess>();

  constructor(cluster: Cluster, relay: Relay, kubelet: KubeletKind, ships: Stage['shipped']) {
    this.cluster = cluster;
    this.#relay = relay;
    this.#kubelet = kubelet;
    this.shipped = ships;
    this.api = apiClient(cluster);
  }

  async startDustpan(): Promise<void> {
    await Promise.all([this.#start('agent'), this.#start('controller')]);
    await Promise.all([...this.#processes.values()].map((one) => one.ready()));
  }

  /** dustpan's processes; a killed one is missing until it is started again. */
  get processes(): ReadonlyMap<Component, DustpanProcess> {
    return this.#processes;
  }

  /** Components that should run and have ended by themselves. */
  ended(): readonly Victim[] {
    return victims.filter((victim) => !this.#down.has(victim) && !this.#isRunning(victim));
  }

  #isRunning(victim: Victim): boolean {
    if (isComponent(victim)) return this.#processes.get(victim)?.isRunning === true;
    return this.cluster.pid(victim) !== undefined;
  }

  /** Ends the component, or stops it in its tracks, which `recover` undoes; or silences its connections. */
  async strike({ do: how, victim }: Fault): Promise<void> {
    if (how === 'silence') {
      this.#relay.swallow();
      return;
    }
    this.#down.add(victim);
    await this.#kill(victim, how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  }

  async recover({ do: how, victim }: Fault): Promise<void> {
    if (how === 'silence') return;
    if (how === 'pause') await this.#kill(victim, 'SIGCONT');
    else await this.#start(victim);
    this.#down.delete(victim);
  }

  async #kill(victim: Victim, signal: NodeJS.Signals): Promise<void> {
    if (isComponent(victim)) await this.#processes.get(victim)?.kill(signal);
    else await this.cluster.kill(victim, signal);
  }

  async #start(victim: Victim): Promise<void> {
    const { cluster } = this;
    if (!isComponent(victim)) {
      await cluster.start(victim);
      return;
    }
    const { env, nodeFlags } = this.shipped[victim];
    if (victim === 'agent') {
      // A kubeconfig would load the library that reads it, which no pod needs.
      const args = ['--kubeconfig=', '--runtime-request-timeout=15s', ...agentPeriods[this.#kubelet]];
      const account = {
        url: this.#relay.url,
        caFile: cluster.caFile,
        token: (user: string) => cluster.token(user),
      };
      const inPod = { ...env, ...mountServiceAccount(account, agentUser.name), KUBECONFIG: '' };
      this.#processes.set(victim, await startAgent(cluster, { args, env: inPod, nodeFlags }));
    } else {
      const kubeconfig = relayedKubeconfig(cluster, dustpanUser.name, this.#relay);
      const args = ['--pod-gc-period=1s', `--kubeconfig=${kubeconfig}`];
      this.#processes.set(victim, await startController(cluster, { args, env }));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.api.close();
    // A paused process would not end on SIGTERM.
    await Promise.all([...this.#processes.values()].map((one) => one.kill('SIGKILL')));
    await this.#relay.stop();
    await this.cluster.stop();
  }
}

/** Starts everything, with a policy in Enforce that has strict limits for all units. */
export async function startStage(kubelet: KubeletKind): Promise<Stage> {
  const kept = keptImages.map((ref) => ({ ref, fill: { bytes: 1_000, kind: 'random' } }) as const);
  const cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    ...{ crds: true, users: [agentUser, dustpanUser], images: kept, kubelet: kubelets[kubelet] },
  });
  try {
    const ships = { agent: await shipped('DaemonSet'), controller: await shipped('Deployment') };
    const stage = new Stage(cluster, await relayTo(cluster), kubelet, ships);
    await apply(cluster, policyOf(kubelet));
    await stage.startDustpan();
    return stage;
  } catch (err) {
    await cluster.stop();
    throw err;
  }
}
