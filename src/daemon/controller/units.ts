import { BudgetController, type BudgetDeps } from '../../controllers/budgets/controller.ts';
import { budgetMetrics } from '../../controllers/budgets/metrics.ts';
import { EvictionController } from '../../controllers/eviction/controller.ts';
import { evictionMetrics } from '../../controllers/eviction/metrics.ts';
import { PodGcController, type PodGcDeps } from '../../controllers/podgc/controller.ts';
import { podGcMetrics } from '../../controllers/podgc/metrics.ts';
import { PolicyStatusController } from '../../controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../controllers/policystatus/metrics.ts';
import { readStatus } from '../../controllers/policystatus/plan.ts';
import type { Registry } from 'prom-client';
import type { PolicySet } from '../../api/policy/policy-set.ts';
import type { UnitMetrics } from '../../gc/metrics.ts';
import { openBreakersIn } from '../../gc/open-breaker.ts';
import { inForceIn } from '../../gc/hold.ts';
import { clusterActions } from '../../kube/actions/cluster.ts';
import { podEvictions } from '../../kube/actions/eviction.ts';
import type { OwnRights } from '../../kube/auth/own-rights.ts';
import { LiveReads } from '../../kube/actions/live-reads.ts';
import { reportableStale } from '../../kube/cache/staleness.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import type { Caches } from './caches.ts';
import type { ControllerConfig } from './command.ts';
import type { Connected } from '../../process/connect.ts';

interface UnitDeps {
  readonly config: Pick<ControllerConfig, 'maxDeleteQps' | 'podGcPeriodMs'>;
  readonly cluster: Connected;
  readonly registry: Registry;
  readonly metrics: { readonly units: UnitMetrics };
  readonly recorder: Recorder;
  readonly policySet: PolicySet;
  readonly caches: Caches;
  readonly rights: Pick<OwnRights, 'missing' | 'isKnown'>;
  readonly holdsLease: () => boolean;
  readonly hasPredecessor: () => boolean;
  readonly heartbeat: Heartbeat;
  /** Starts a pass of podgc. */
  readonly wake: Wake;
  readonly log: Logger;
}

export interface Units {
  readonly podGc: PodGcController;
  readonly eviction: EvictionController;
  readonly budgets: BudgetController;
  readonly status: PolicyStatusController;
  /** Triggered after each pass of podgc. */
  readonly statusWake: Wake;
}

/** The units of the controller with their dependencies. */
export function buildUnits(deps: UnitDeps): Units {
  const statusWake = new Wake();
  const status = policyStatus(deps);
  const live = new LiveReads(deps.cluster.acts, clock);
  const podGc = podGcOf(deps, live, (reports) => {
    status.observe(reports);
    statusWake.trigger();
  });
  const budgets = budgetsOf(deps, (reports) => {
    status.observeBudgets(reports);
  });
  return { podGc, eviction: evictionOf(deps, live), budgets, status, statusWake };
}

function policyStatus(deps: UnitDeps): PolicyStatusController {
  const { registry, policySet, caches, rights, holdsLease, recorder, log } = deps;
  return new PolicyStatusController({
    rights,
    staleCaches: () => reportableStale(caches.all, clock.monotonicMs()),
    policies: {
      get ranked() {
        return policySet.ranked;
      },
      storedStatus: (uid) => readStatus(policySet.storedStatus(uid)),
    },
    nodes: caches.nodes,
    namespaces: caches.namespaces,
    nodeReports: caches.nodeReports,
    writeStatus: caches.writePolicyStatus,
    holdsLease,
    recorder,
    clock,
    log: log.named('policystatus'),
    metrics: policyStatusMetrics(registry),
  });
}

function evictionOf(
  { cluster, registry, metrics, recorder, policySet, caches, holdsLease, hasPredecessor, log }: UnitDeps,
  live: LiveReads,
): EvictionController {
  return new EvictionController({
    ...caches,
    live,
    policySet,
    evictions: podEvictions(cluster.acts, live),
    holdsLease,
    hasPredecessor,
    recorder,
    clock,
    metrics: metrics.units,
    own: evictionMetrics(registry),
    log: log.named('eviction'),
  });
}

function budgetsOf(deps: UnitDeps, onPass: BudgetDeps['onPass']): BudgetController {
  const { registry, recorder, policySet, caches, log } = deps;
  return new BudgetController({
    ...caches,
    policySet,
    recorder,
    clock,
    metrics: budgetMetrics(registry),
    onPass,
    log: log.named('budgets'),
  });
}

function podGcOf(deps: UnitDeps, live: LiveReads, onPass: PodGcDeps['onPass']): PodGcController {
  const {
    config,
    cluster,
    registry,
    metrics,
    recorder,
    policySet,
    caches,
    holdsLease,
    heartbeat,
    wake,
    log,
  } = deps;
  return new PodGcController({
    ...caches,
    live,
    policySet,
    cluster: clusterActions(cluster.acts),
    holdsLease,
    recorder,
    clock,
    onPass,
    metrics: metrics.units,
    own: podGcMetrics(registry),
    log: log.named('podgc'),
    periodMs: config.podGcPeriodMs,
    openBreakers: () => openBreakersIn(policySet.statuses),
    storedInForce: () => inForceIn(policySet.statuses),
    maxDeletesPerSecond: config.maxDeleteQps,
    onStale: () => {
      wake.trigger();
    },
    onProgress: () => {
      heartbeat.beat();
    },
  });
}
