import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Registry } from 'prom-client';
import { controllerRights, leaseRight } from '../../api/policy/needs.ts';
import { PolicySet } from '../../api/policy/policy-set.ts';
import { OwnRights } from '../../kube/auth/own-rights.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import { ClusterLeader, clusterLease } from '../../kube/lease/cluster-leader.ts';
import { LeaseElector } from '../../kube/lease/lease.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { loop } from '../../runtime/scheduling/loop.ts';
import { collectYoungAlone, letHeapDouble } from '../../runtime/serving/v8-heap.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import { createLogger } from '../../runtime/logging/winston-logger.ts';
import { controllerCaches, type Caches } from './caches.ts';
import type { ControllerConfig } from './command.ts';
import { connect } from '../../process/connect.ts';
import { controllerMetrics, type ControllerMetrics } from './metrics.ts';
import { buildUnits, type Units } from './units.ts';
import { exitCode } from '../../process/exit.ts';
import { checkAccess, isServerAway } from '../preflight.ts';
import { eventRecorder, startServers, type Daemon } from '../servers.ts';
import { stopSignal } from '../../process/system.ts';
import { revision, version } from '../../runtime/version.ts';

/** The lists that the controller cannot work without. */
const needed = ['pods', 'nodes', 'namespaces'].map((name) => ({ path: `/api/v1/${name}` }));

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
  const cluster = await connect(config, metrics.call);
  log.info({ version, revision, cluster: cluster.connection.source }, 'starting controller');
  const { transport } = cluster;
  try {
    await checkAccess({ transport, needed, log }, stop);
    const ended = stop.aborted
      ? ('released' as const)
      : await run({ config, cluster, registry, metrics, log }, stop);
    const outcome = ended === 'lost' && (await isServerAway(transport, stop)) ? 'away' : ended;
    log.info({ outcome }, 'stopped controller');
    return outcome;
  } finally {
    cluster.close();
  }
}

type Base = Daemon<ControllerConfig, ControllerMetrics>;

/** A pass that takes longer than this many periods counts as hung. */
const livePeriods = 3;
/** Waiting for a list or for the lease must not count as a hung loop. */
const liveAtLeastMs = 5 * 60_000;
const statusPeriodMs = 10_000;
/** Without requests a pass costs almost nothing. */
const evictionPeriodMs = 10_000;
/** An agent reports a change of the usage at most once a minute. */
const budgetsPeriodMs = 30_000;
const rightsPeriodMs = 30_000;
const lastStatusMs = 3_000;

async function run(base: Base, stop: AbortSignal): Promise<'released' | 'lost'> {
  const { config, cluster, log } = base;
  const recorder = eventRecorder(base, 'controller', instanceOf(config));
  const policySet = new PolicySet();
  const rightsWake = new Wake();
  const wakes = { wake: new Wake(), evictionWake: new Wake(), budgetsWake: new Wake(), rightsWake };
  const caches = cachesOf(base, policySet, wakes);
  const elector = config.leaderElection.enabled ? clusterLeader(base, recorder) : undefined;
  if (elector === undefined) base.metrics.leading(true);
  const heartbeat = podGcHeartbeat(config);
  const rights = new OwnRights({
    transport: cluster.transport,
    onChange: (missing) => {
      base.metrics.missingRights(missing);
      caches.retryExcept(missing);
    },
    log: log.named('rights'),
  });
  base.metrics.caches(caches.all);
  const units = buildUnits({
    ...base,
    recorder,
    policySet,
    caches,
    rights,
    holdsLease: () => elector?.holdsLease() ?? true,
    hasPredecessor: () => elector?.hasPredecessor ?? true,
    heartbeat,
    wake: wakes.wake,
  });
  const lease = { name: 'leader-election', check: () => elector?.health() };
  const ready = [...caches.checks, rights];
  const servers = await startServers(base, { live: [lease, heartbeat], ready });
  const lead = leading(base, { ...wakes, units, heartbeat });
  const background = new AbortController();
  const work = [
    caches.run(background.signal),
    recorder.run(background.signal),
    reviewing(base, { rights, policySet, wake: rightsWake, units }, background.signal),
  ];
  try {
    return await (elector?.run(lead, stop) ?? lead(stop).then(() => 'released' as const));
  } finally {
    background.abort();
    await Promise.all([...work, ...servers.map((server) => server.close())]);
  }
}

function cachesOf(
  { cluster, metrics, log }: Base,
  policySet: PolicySet,
  { wake, evictionWake, budgetsWake, rightsWake }: Wakes,
): Caches {
  return controllerCaches({
    transport: cluster.transport,
    clock,
    random: Math.random,
    log,
    policySet,
    metrics: metrics.reflector,
    onReady: () => {
      letHeapDouble(false);
      wake.trigger();
      evictionWake.trigger();
      budgetsWake.trigger();
    },
    onPolicy: ({ type, name }) => {
      log.info({ policy: name, change: type }, 'policies changed');
      wake.trigger();
      budgetsWake.trigger();
      rightsWake.trigger();
    },
    onReports: () => budgetsWake.trigger(),
    onEvictionRequests: () => evictionWake.trigger(),
  });
}

interface Reviewing {
  readonly rights: OwnRights;
  readonly policySet: PolicySet;
  readonly wake: Wake;
  readonly units: Pick<Units, 'statusWake'>;
}

/** Reviews the rights of this process every 30 s, as a watch goes on for minutes after its right was taken away, and after a change of a policy. */
function reviewing(
  base: Base,
  { rights, policySet, wake, units }: Reviewing,
  signal: AbortSignal,
): Promise<void> {
  const { enabled, namespace, name } = base.config.leaderElection;
  const lease = enabled ? [leaseRight({ namespace, name }), leaseRight(clusterLease)] : [];
  return loop(
    async (pass) => {
      await rights.review([...controllerRights(policySet.ranked), ...lease], pass);
      units.statusWake.trigger();
    },
    { clock, log: base.log, wake, quietRepeats: true, ...named(base, 'rights', rightsPeriodMs) },
    signal,
  );
}

const podGcHeartbeat = ({ podGcPeriodMs }: ControllerConfig): Heartbeat =>
  new Heartbeat('podgc', Math.max(livePeriods * podGcPeriodMs, liveAtLeastMs), clock);

interface Wakes {
  readonly wake: Wake;
  readonly evictionWake: Wake;
  readonly budgetsWake: Wake;
  readonly rightsWake: Wake;
}

interface Loops extends Omit<Wakes, 'rightsWake'> {
  readonly units: Units;
  readonly heartbeat: Heartbeat;
}

/** The loops of the leader, until the signal aborts. */
function leading(
  base: Base,
  { units, wake, evictionWake, budgetsWake, heartbeat }: Loops,
): (signal: AbortSignal) => Promise<void> {
  const { config, log } = base;
  return async (signal) => {
    await Promise.all([
      loop(
        (pass) => units.podGc.reconcile(pass),
        { clock, log, wake, heartbeat, ...named(base, 'podgc', config.podGcPeriodMs) },
        signal,
      ),
      loop(
        (pass) => units.eviction.reconcile(pass),
        { clock, log, wake: evictionWake, ...named(base, 'eviction', evictionPeriodMs) },
        signal,
      ),
      loop(
        () => Promise.resolve(units.budgets.reconcile()),
        { clock, log, wake: budgetsWake, ...named(base, 'budgets', budgetsPeriodMs) },
        signal,
      ),
      loop(
        (pass) => units.status.reconcile(pass),
        { clock, log, wake: units.statusWake, ...named(base, 'policystatus', statusPeriodMs) },
        signal,
      ),
    ]);
    // Writes the status of the last pass while the lease is still held.
    await units.status.flush(AbortSignal.timeout(lastStatusMs));
  };
}

const named = ({ metrics }: Base, name: string, intervalMs: number) => ({
  name,
  intervalMs,
  onResult: metrics.pass(name, intervalMs),
});

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
