import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Registry } from 'prom-client';
import { controllerRights, leaseRight } from '../../api/policy/needs.ts';
import { PolicySet } from '../../api/policy/policy-set.ts';
import { OwnRights } from '../../kube/auth/own-rights.ts';
import { RightsReviews } from '../../kube/auth/rights-reviews.ts';
import { policiesPath } from '../../kube/cache/resources.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import { ClusterLeader, clusterLease } from '../../kube/lease/cluster-leader.ts';
import { LeaseElector } from '../../kube/lease/lease.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { ApiError, isThrottled, type KubeTransport } from '../../kube/http/transport.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { loop, type LoopOptions, type Task } from '../../runtime/scheduling/loop.ts';
import { collectYoungAlone, letHeapDouble } from '../../runtime/serving/v8-heap.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import { createLogger } from '../../runtime/logging/winston-logger.ts';
import { controllerCaches, type Caches } from './caches.ts';
import type { ControllerConfig } from './command.ts';
import { connect } from '../../process/connect.ts';
import { controllerMetrics, type ControllerMetrics } from './metrics.ts';
import { buildUnits, type Units } from './units.ts';
import { exitCode } from '../../process/exit.ts';
import { eventRecorder, startServers, type Daemon } from '../servers.ts';
import { stopSignal } from '../../process/system.ts';
import { revision, version } from '../../runtime/version.ts';

/** Runs the controller. Resolves with the exit code: 0 after SIGTERM, 1 when another controller took the lease. */
export async function runController(config: ControllerConfig): Promise<number> {
  collectYoungAlone();
  letHeapDouble(true);
  const log = createLogger({ format: config.logFormat, verbosity: config.v });
  const stop = stopSignal((signal) => log.info({ signal }, 'stopping controller'));
  // While the API server is away a new process could do no more, and each of its ends would count as a crash.
  let outcome = await runOnce(config, log, stop);
  while (outcome === 'away' && !stop.aborted) outcome = await runOnce(config, log, stop);
  return outcome === 'lost' ? exitCode.failure : exitCode.ok;
}

/** Runs with memory, metrics and connections of its own. `away`: the lease was lost because the API server does not answer. */
async function runOnce(
  config: ControllerConfig,
  log: Logger,
  stop: AbortSignal,
): Promise<'released' | 'lost' | 'away'> {
  const registry = new Registry();
  const metrics = controllerMetrics(registry, config.leaderElection.name);
  const reviews = new RightsReviews({ clock, soonMs: rightsPeriodMs, restMs: rightsRestMs });
  const cluster = await connect(config, (call) => {
    metrics.call(call);
    if (call.code === '403') reviews.noteRefusal();
  });
  log.info({ version, revision, cluster: cluster.connection.source }, 'starting controller');
  try {
    const ended = await new Controller({ config, cluster, registry, metrics, log, reviews }).run(stop);
    const outcome = ended === 'lost' && (await isServerAway(cluster.transport, stop)) ? 'away' : ended;
    log.info({ outcome }, 'stopped controller');
    return outcome;
  } finally {
    cluster.close();
  }
}

/** A server that does not answer at once is waited for. */
const probeMs = 5_000;

/** Whether the API server does not answer, or does not serve this process. */
async function isServerAway(transport: KubeTransport, signal: AbortSignal): Promise<boolean> {
  const query = { limit: '1' };
  try {
    await transport.send(
      { method: 'GET', path: policiesPath, query, timeoutMs: probeMs, retries: 0 },
      signal,
    );
    return false;
  } catch (err) {
    if (signal.aborted) return false;
    return !(err instanceof ApiError) || isThrottled(err) || err.status >= 500;
  }
}

type Base = Daemon<ControllerConfig, ControllerMetrics> & { readonly reviews: RightsReviews };

/** A pass that takes longer than this many periods counts as hung. */
const livePeriods = 3;
/** Waiting for a list or for the lease must not count as a hung loop. */
const liveAtLeastMs = 5 * 60_000;
const statusPeriodMs = 10_000;
/** Without requests a pass costs almost nothing. */
const evictionPeriodMs = 10_000;
/** An agent reports a change of the usage at most once a minute. */
const budgetsPeriodMs = 30_000;
/** Six lists of workloads, of which a large cluster has many. */
const wantedImagesPeriodMs = 5 * 60_000;
const rightsPeriodMs = 30_000;
/** A watch goes on for minutes after its right was taken away. */
const rightsRestMs = 5 * 60_000;
const lastStatusMs = 3_000;

/** Runs the loops while this process holds the lease, the caches and the reviews of rights all the time. */
class Controller {
  readonly #base: Base;
  readonly #policySet = new PolicySet();
  readonly #wakes = {
    podgc: new Wake(),
    eviction: new Wake(),
    budgets: new Wake(),
    wanted: new Wake(),
  };
  readonly #recorder: EventRecorder;
  readonly #caches: Caches;
  readonly #rights: OwnRights;
  readonly #elector: ClusterLeader | undefined;
  readonly #heartbeat: Heartbeat;
  readonly #units: Units;

  constructor(base: Base) {
    const { config, cluster, metrics, log } = base;
    this.#base = base;
    this.#recorder = eventRecorder(base, 'controller', instanceOf(config));
    this.#caches = this.#makeCaches();
    metrics.caches(this.#caches.all);
    this.#elector = config.leaderElection.enabled ? clusterLeader(base, this.#recorder) : undefined;
    if (this.#elector === undefined) metrics.leading(true);
    const limitMs = Math.max(livePeriods * config.podGcPeriodMs, liveAtLeastMs);
    this.#heartbeat = new Heartbeat('podgc', limitMs, clock);
    this.#rights = new OwnRights({
      transport: cluster.transport,
      namespace: config.podNamespace,
      onChange: (missing) => {
        metrics.missingRights(missing);
        this.#caches.retryExcept(missing);
        this.#wakes.wanted.trigger();
      },
      log: log.named('rights'),
    });
    this.#units = buildUnits({
      ...base,
      recorder: this.#recorder,
      policySet: this.#policySet,
      caches: this.#caches,
      rights: this.#rights,
      holdsLease: () => this.#elector?.holdsLease() ?? true,
      hasPredecessor: () => this.#elector?.hasPredecessor ?? true,
      heartbeat: this.#heartbeat,
      wake: this.#wakes.podgc,
    });
  }

  async run(stop: AbortSignal): Promise<'released' | 'lost'> {
    const lease = { name: 'leader-election', check: () => this.#elector?.health() };
    const servers = await startServers(this.#base, {
      live: [lease, this.#heartbeat],
      ready: [...this.#caches.checks, this.#rights],
    });
    const background = new AbortController();
    const work = [
      this.#caches.run(background.signal),
      this.#recorder.run(background.signal),
      this.#reviewRights(background.signal),
    ];
    const lead = (signal: AbortSignal): Promise<void> => this.#lead(signal);
    try {
      return await (this.#elector?.run(lead, stop) ?? lead(stop).then(() => 'released' as const));
    } finally {
      background.abort();
      await Promise.all([...work, ...servers.map((server) => server.close())]);
    }
  }

  #makeCaches(): Caches {
    const { cluster, metrics, log, reviews } = this.#base;
    const { podgc, eviction, budgets, wanted } = this.#wakes;
    return controllerCaches({
      transport: cluster.transport,
      clock,
      random: Math.random,
      log,
      policySet: this.#policySet,
      metrics: metrics.reflector,
      onReady: () => {
        letHeapDouble(false);
        for (const wake of [podgc, eviction, budgets]) wake.trigger();
      },
      onPolicy: ({ type, name }) => {
        log.info({ policy: name, change: type }, 'policies changed');
        for (const wake of [podgc, budgets, wanted]) wake.trigger();
        reviews.request();
      },
      onReports: () => budgets.trigger(),
      onEvictionRequests: () => eviction.trigger(),
    });
  }

  /** Reviews the rights of this process at the start, after a change of a policy and after a refusal, then every 30 s until none is missing, else every 5 minutes. */
  #reviewRights(signal: AbortSignal): Promise<void> {
    const { enabled, namespace, name } = this.#base.config.leaderElection;
    const lease = enabled ? [leaseRight({ namespace, name }), leaseRight(clusterLease)] : [];
    const { reviews } = this.#base;
    const review = async (pass: AbortSignal): Promise<void> => {
      await reviews.run(() =>
        this.#rights.review([...controllerRights(this.#policySet.ranked), ...lease], pass),
      );
      this.#units.statusWake.trigger();
    };
    const options = { wake: reviews.wake, quietRepeats: true, isSkipped: () => !reviews.isDue };
    return this.#loop('rights', rightsPeriodMs, review, options)(signal);
  }

  /** The loops of the leader, until the signal aborts. */
  async #lead(signal: AbortSignal): Promise<void> {
    const { podGc, eviction, budgets, status, wantedImages, statusWake } = this.#units;
    const { podGcPeriodMs } = this.#base.config;
    const { podgc: wake, ...wakes } = this.#wakes;
    const loops = [
      this.#loop('podgc', podGcPeriodMs, (pass) => podGc.reconcile(pass), {
        wake,
        heartbeat: this.#heartbeat,
      }),
      this.#loop('eviction', evictionPeriodMs, (pass) => eviction.reconcile(pass), { wake: wakes.eviction }),
      this.#loop('budgets', budgetsPeriodMs, () => Promise.resolve(budgets.reconcile()), {
        wake: wakes.budgets,
      }),
      this.#loop('wantedimages', wantedImagesPeriodMs, (pass) => wantedImages.reconcile(pass), {
        wake: wakes.wanted,
        quietRepeats: true,
      }),
      this.#loop('policystatus', statusPeriodMs, (pass) => status.reconcile(pass), { wake: statusWake }),
    ];
    await Promise.all(loops.map((run) => run(signal)));
    // Writes the status of the last pass while the lease is still held.
    await status.flush(AbortSignal.timeout(lastStatusMs));
  }

  #loop(
    name: string,
    intervalMs: number,
    task: Task,
    options: Pick<LoopOptions, 'wake' | 'heartbeat' | 'quietRepeats' | 'isSkipped'>,
  ): (signal: AbortSignal) => Promise<void> {
    const { metrics, log } = this.#base;
    const onResult = metrics.pass(name, intervalMs);
    return (signal) => loop(task, { ...options, name, intervalMs, clock, log, onResult }, signal);
  }
}

const instanceOf = ({ podName }: ControllerConfig): string => podName ?? hostname();

/** Only where the Lease is in the cluster of the pod. */
function podOf({
  podName: name,
  podUid: uid,
  podNamespace: namespace,
  isPodNamespace,
  kube,
}: ControllerConfig) {
  const isKnown = name !== undefined && uid !== undefined && isPodNamespace;
  return isKnown && kube.kubeconfig === undefined && kube.kubeconfigVariable === undefined
    ? { namespace, name, uid }
    : undefined;
}

function clusterLeader({ config, cluster, metrics, log: all }: Base, recorder: EventRecorder): ClusterLeader {
  const { namespace, name, ...times } = config.leaderElection;
  const log = all.named('lease');
  const common = {
    ...times,
    transport: cluster.lease,
    clock,
    log,
    random: Math.random,
    identity: `${instanceOf(config)}_${randomUUID()}`,
    pod: podOf(config),
    onEvent: (event: EventSpec) => recorder.record(event),
    onSlowPath: metrics.slowRenewal,
  };
  let waitsFor = '';
  const onHeld = (holder: string): void => {
    if (holder !== waitsFor)
      log.warn(
        { holder, lease: clusterLease },
        'leader election waits: a controller of another release acts in this cluster',
      );
    waitsFor = holder;
  };
  return new ClusterLeader({
    release: new LeaseElector({ ...common, lease: { namespace, name } }),
    cluster: new LeaseElector({
      ...common,
      lease: clusterLease,
      onMasterStatus: metrics.leading,
      onHeld,
    }),
  });
}
