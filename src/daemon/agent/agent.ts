import { once } from 'node:events';
import { Registry } from 'prom-client';
import { unpinAll } from '../../agent/imagegc/act.ts';
import { ContainerdClient } from '../../containerd/client.ts';
import { criRuntime } from '../../cri/client.ts';
import { foreignBecause } from '../../cri/kubelets-runtime.ts';
import { agentRights } from '../../api/policy/needs.ts';
import { nodeRule } from '../../api/policy/node-governance.ts';
import { isUninstalled } from '../../kube/actions/live-reads.ts';
import { OwnRights } from '../../kube/auth/own-rights.ts';
import { RightsReviews } from '../../kube/auth/rights-reviews.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { loop } from '../../runtime/scheduling/loop.ts';
import type { Check } from '../../runtime/serving/health.ts';
import { createLogger } from '../../runtime/logging/winston-logger.ts';
import { AgentCaches } from './caches.ts';
import type { AgentConfig } from './command.ts';
import { AgentLoops } from './loops.ts';
import { agentMetrics, type AgentMetrics } from './metrics.ts';
import { RuntimeWatch, waitForSocket } from './runtime.ts';
import { StateDirectory } from './state.ts';
import { buildAgentUnits } from './units.ts';
import { connect } from '../../process/connect.ts';
import { exitCode } from '../../process/exit.ts';
import { eventRecorder, startServers, type Daemon } from '../servers.ts';
import { stopSignal } from '../../process/system.ts';
import { revision, version } from '../../runtime/version.ts';

/** Runs the agent of one node until SIGTERM; resolves with 0. */
export async function runAgent(config: AgentConfig): Promise<number> {
  const log = createLogger({ format: config.logFormat, verbosity: config.v });
  const stop = stopSignal((signal) => log.info({ signal }, 'stopping agent'));
  const registry = new Registry();
  const metrics = agentMetrics(registry);
  const reviews = new RightsReviews({ clock, soonMs: rightsPeriodMs });
  const cluster = await connect(config, (call) => {
    metrics.call(call);
    if (call.code === '403') reviews.noteRefusal();
  });
  log.info(
    { version, revision, cluster: cluster.connection.source, node: config.nodeName },
    'starting agent',
  );
  await new Agent({ config, cluster, registry, metrics, log, reviews }, stop).run();
  cluster.close();
  log.info({}, 'stopped agent');
  return exitCode.ok;
}

type Base = Daemon<AgentConfig, AgentMetrics> & { readonly reviews: RightsReviews };

const rightsPeriodMs = 60_000;

/** Parts of the 5 s that a stop may take: removals that have begun, then their report (Events have 3 s meanwhile). */
const lastRemovalsMs = 1_500;
const lastReportMs = 1_500;
/** Beside the last report. */
const ownDaemonSetMs = 1_500;
/** Only when dustpan is uninstalled: nobody waits then, and a pod has 30 s. */
const unpinMs = 15_000;

class Agent {
  readonly #base: Base;
  readonly #stop: AbortSignal;
  readonly #loops: AgentLoops;
  readonly #caches: AgentCaches;
  readonly #recorder: EventRecorder;
  readonly #state: StateDirectory;
  readonly #rights: OwnRights;
  #runtimeTrouble: () => string | undefined = () => 'no socket searched yet';

  constructor(base: Base, stop: AbortSignal) {
    const { config, cluster, metrics, log } = base;
    this.#base = base;
    this.#stop = stop;
    this.#loops = new AgentLoops({
      config,
      clock,
      random: Math.random,
      log,
      onResult: metrics.pass,
      isCurrent: () => this.#caches.all.every(({ stale }) => stale === undefined),
    });
    this.#caches = new AgentCaches({
      transport: cluster.transport,
      clock,
      random: Math.random,
      log,
      metrics: metrics.reflector,
      nodeName: config.nodeName,
      containerGcPeriodMs: config.containerGcPeriodMs,
      onNews: () => this.#loops.wakeAll(stop),
    });
    metrics.caches(this.#caches.all);
    this.#rights = new OwnRights({
      transport: cluster.transport,
      namespace: config.pod?.namespace,
      onChange: metrics.missingRights,
      log: log.named('rights'),
    });
    this.#recorder = eventRecorder(base, 'agent', config.nodeName);
    this.#state = new StateDirectory(config.directories.state, log);
  }

  async run(): Promise<void> {
    await this.#state.prepare(this.#stop);
    const ready = this.#readiness();
    const servers = await startServers(this.#base, { live: this.#loops.heartbeats, ready });
    const [watching, writing] = [new AbortController(), new AbortController()];
    const work = [
      this.#caches.run(watching.signal),
      this.#recorder.run(writing.signal),
      this.#reviewRights(watching.signal),
    ];
    try {
      const socket = await this.#socket();
      if (socket !== undefined) await this.#collect(socket, writing);
    } finally {
      watching.abort();
      writing.abort();
      await Promise.all([...work, ...servers.map((server) => server.close())]);
    }
  }

  /** After a refusal, and then each minute until none is missing: thousands of agents must not ask without a cause. */
  #reviewRights(signal: AbortSignal): Promise<void> {
    const { reviews, log } = this.#base;
    const review = (pass: AbortSignal): Promise<void> => {
      const rule = nodeRule(this.#caches.governance(), 'imageGC');
      const needed = agentRights(rule.kind === 'governed' && rule.rule.pinWanted);
      return reviews.run(() => this.#rights.review(needed, pass));
    };
    const isSkipped = (): boolean => !reviews.isDue;
    const options = { name: 'rights', intervalMs: rightsPeriodMs, quietRepeats: true, isSkipped };
    return loop(review, { ...options, clock, log, wake: reviews.wake }, signal);
  }

  #readiness(): readonly Check[] {
    const runtime = { name: 'runtime', check: () => this.#runtimeTrouble() };
    return [...this.#caches.checks, this.#rights, runtime, this.#state];
  }

  #socket(): Promise<string | undefined> {
    const onTrouble = (line: string): void => {
      this.#runtimeTrouble = () => line;
    };
    const { config, log } = this.#base;
    return waitForSocket({ socket: config.criSocket, clock, log, onTrouble }, this.#stop);
  }

  async #collect(socket: string, writing: AbortController): Promise<void> {
    const { config, metrics, log } = this.#base;
    const deadlineMs = config.runtimeRequestTimeoutMs;
    const cri = criRuntime({
      socket,
      deadlineMs,
      statusDeadlineMs: Math.min(deadlineMs, statusMs),
      onCall: metrics.runtimeCall,
      foreignBecause: (identity) => {
        const runtimeVersion = this.#caches.node()?.containerRuntimeVersion;
        return foreignBecause(identity, { runtimeVersion, pods: this.#caches.pods() });
      },
    });
    const containerd = new ContainerdClient({ socket, deadlineMs, onCall: metrics.runtimeCall });
    const watch = new RuntimeWatch({
      runtime: cri,
      socket,
      log,
      onReady: () => this.#loops.wakePasses(this.#stop),
    });
    this.#runtimeTrouble = () => watch.check();
    const units = buildAgentUnits({
      ...this.#base,
      loops: this.#loops,
      caches: this.#caches,
      rights: this.#rights,
      recorder: this.#recorder,
      state: this.#state,
      runtimeWatch: watch,
      runtime: cri,
      containerd,
    });
    await this.#untilStopped(
      this.#loops.run({ ...units, runtime: (signal) => watch.probe(signal) }, this.#stop),
    );
    // Events are flushed meanwhile.
    writing.abort();
    await Promise.all([
      units
        .report(AbortSignal.timeout(lastReportMs), true)
        .catch((err: unknown) => log.warn({ err }, 'last report not written')),
      this.#unpinIfUninstalled(containerd),
    ]);
    cri.close();
    containerd.close();
  }

  /** Nobody else would remove the pins of images: a new agent goes on with them, but none may come. */
  async #unpinIfUninstalled(containerd: ContainerdClient): Promise<void> {
    const { config, cluster, log } = this.#base;
    if (config.pod === undefined) return;
    try {
      if (!(await isUninstalled(cluster.acts, config.pod, AbortSignal.timeout(ownDaemonSetMs)))) return;
      const names = (await unpinAll(containerd, AbortSignal.timeout(unpinMs))) ?? [];
      log.info(
        { names: names.length },
        'removed the pins of images, because the DaemonSet of this agent is deleted, or may not be read',
      );
    } catch (err) {
      log.warn({ err }, 'pins of images stay; if dustpan is uninstalled, dustpan unpin removes them');
    }
  }

  /** Waits for the end of removals that have begun, but not for a runtime that hangs. */
  async #untilStopped(loops: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const late = afterStop(this.#stop, ended.signal);
    const outcome = await Promise.race([loops.then(() => 'ended'), late]);
    ended.abort();
    if (outcome !== 'ended') this.#base.log.warn({}, 'stopping while the container runtime is still at work');
  }
}

async function afterStop(stop: AbortSignal, ended: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort', { signal: ended }).catch(() => undefined);
  await clock.sleep(lastRemovalsMs, ended);
}

/** The runtime responds to these calls from its memory. */
const statusMs = 10_000;
