import { BudgetController } from '../../controllers/budgets/controller.ts';
import { budgetMetrics } from '../../controllers/budgets/metrics.ts';
import { EvictionController } from '../../controllers/eviction/controller.ts';
import { evictionMetrics } from '../../controllers/eviction/metrics.ts';
import { PodGcController, type PodGcDeps } from '../../controllers/podgc/controller.ts';
import { podGcMetrics } from '../../controllers/podgc/metrics.ts';
import { WantedImagesController } from '../../controllers/wantedimages/controller.ts';
import { PolicyStatusController } from '../../controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../controllers/policystatus/metrics.ts';
import type { PolicySet } from '../../api/policy/policy-set.ts';
import { openBreakersIn } from '../../gc/open-breaker.ts';
import { inForceIn } from '../../gc/hold.ts';
import { clusterActions } from '../../kube/actions/cluster.ts';
import { podEvictions } from '../../kube/actions/eviction.ts';
import type { OwnRights } from '../../kube/auth/own-rights.ts';
import { LiveReads } from '../../kube/actions/live-reads.ts';
import { readWantedList, writeWantedList } from '../../kube/actions/wanted-list.ts';
import { listWorkloads } from '../../kube/cache/workloads.ts';
import { reportableStale } from '../../kube/cache/staleness.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import type { Caches } from './caches.ts';
import type { ControllerConfig } from './command.ts';
import type { Daemon } from '../servers.ts';
import type { ControllerMetrics } from './metrics.ts';

/** What the controller consists of besides its units. */
interface ControllerContext extends Daemon<ControllerConfig, ControllerMetrics> {
  readonly recorder: Recorder;
  readonly policySet: PolicySet;
  readonly caches: Caches;
  readonly rights: Pick<OwnRights, 'missing' | 'isKnown'>;
  readonly holdsLease: () => boolean;
  readonly hasPredecessor: () => boolean;
  readonly heartbeat: Heartbeat;
  /** Starts a pass of podgc. */
  readonly wake: Wake;
}

export interface Units {
  readonly podGc: PodGcController;
  readonly eviction: EvictionController;
  readonly budgets: BudgetController;
  readonly status: PolicyStatusController;
  readonly wantedImages: WantedImagesController;
  /** Triggered after each pass of podgc. */
  readonly statusWake: Wake;
}

export function buildUnits(context: ControllerContext): Units {
  const statusWake = new Wake();
  const live = new LiveReads(context.cluster.acts, clock);
  const status = policyStatus(context);
  const podGc = podGcOf(context, live, (reports) => {
    status.observe(reports);
    statusWake.trigger();
  });
  const budgets = new BudgetController({
    ...unitContext(context, 'budgets'),
    metrics: budgetMetrics(context.registry),
    onPass: (reports) => status.observeBudgets(reports),
  });
  const eviction = evictionOf(context, live);
  return { podGc, eviction, budgets, status, wantedImages: wantedImagesOf(context), statusWake };
}

/** What all units have. */
const unitContext = (
  { caches, metrics, policySet, holdsLease, recorder, log }: ControllerContext,
  name: string,
) => ({
  ...caches,
  policySet,
  holdsLease,
  recorder,
  clock,
  metrics: metrics.units,
  log: log.named(name),
});

function wantedImagesOf(context: ControllerContext): WantedImagesController {
  const { transport } = context.cluster;
  const { podNamespace } = context.config;
  return new WantedImagesController({
    ...unitContext(context, 'wantedimages'),
    workloads: (isListed, signal) =>
      listWorkloads({ transport, clock, random: Math.random }, isListed, signal),
    read: (signal) => readWantedList(transport, podNamespace, signal),
    write: (list, signal) => writeWantedList(transport, podNamespace, list, signal),
  });
}

function policyStatus(context: ControllerContext): PolicyStatusController {
  const { registry, caches, rights } = context;
  return new PolicyStatusController({
    ...unitContext(context, 'policystatus'),
    rights,
    staleCaches: () => reportableStale(caches.all, clock.monotonicMs()),
    writeStatus: caches.writePolicyStatus,
    metrics: policyStatusMetrics(registry),
  });
}

function evictionOf(context: ControllerContext, live: LiveReads): EvictionController {
  const { cluster, registry, hasPredecessor } = context;
  return new EvictionController({
    ...unitContext(context, 'eviction'),
    live,
    evictions: podEvictions(cluster.acts, live),
    hasPredecessor,
    own: evictionMetrics(registry),
  });
}

function podGcOf(context: ControllerContext, live: LiveReads, onPass: PodGcDeps['onPass']): PodGcController {
  const { config, cluster, registry, policySet, heartbeat, wake } = context;
  return new PodGcController({
    ...unitContext(context, 'podgc'),
    live,
    onPass,
    cluster: clusterActions(cluster.acts),
    own: podGcMetrics(registry),
    periodMs: config.podGcPeriodMs,
    openBreakers: () => openBreakersIn(policySet.statuses),
    storedInForce: () => inForceIn(policySet.statuses),
    maxDeletesPerSecond: config.maxDeleteQps,
    onStale: () => wake.trigger(),
    onProgress: () => heartbeat.beat(),
  });
}
