import { EvictionController } from '../../controllers/eviction/controller.ts';
import { evictionMetrics } from '../../controllers/eviction/metrics.ts';
import { PodGcController, type PodGcDeps } from '../../controllers/podgc/controller.ts';
import { podGcMetrics } from '../../controllers/podgc/metrics.ts';
import { PolicyStatusController } from '../../controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../controllers/policystatus/metrics.ts';
import { readStatus } from '../../controllers/policystatus/plan.ts';
import type { Registry } from 'prom-client';
import { PolicySet } from '../../api/policy/policy-set.ts';
import type { UnitMetrics } from '../../gc/metrics.ts';
import { openBreakersIn } from '../../gc/open-breaker.ts';
import type { Confirmation, PolicyView } from '../../api/policy/policy-view.ts';
import { inForceIn } from '../../gc/hold.ts';
import type { StoredStatuses } from '../../gc/reported.ts';
import { readPolicies } from '../../kube/actions/live-policies.ts';
import { clusterActions } from '../../kube/actions/cluster.ts';
import { podEvictions } from '../../kube/actions/eviction.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Heartbeat } from '../../runtime/scheduling/heartbeat.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { Wake } from '../../runtime/scheduling/wake.ts';
import type { Caches } from './caches.ts';
import type { ControllerConfig } from './command.ts';
import type { Connected } from '../cli/connect.ts';

interface UnitDeps {
  readonly config: Pick<ControllerConfig, 'maxDeleteQps' | 'podGcPeriodMs'>;
  readonly cluster: Connected;
  readonly registry: Registry;
  readonly metrics: { readonly units: UnitMetrics };
  readonly recorder: Recorder;
  readonly policySet: PolicySet;
  readonly caches: Caches;
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
  readonly status: PolicyStatusController;
  /** Triggered after each pass of podgc. */
  readonly statusWake: Wake;
}

/** The units of the controller with their dependencies. */
export function buildUnits(deps: UnitDeps): Units {
  const statusWake = new Wake();
  const status = policyStatus(deps);
  const podGc = podGcOf(deps, (reports) => {
    status.observe(reports);
    statusWake.trigger();
  });
  return { podGc, eviction: evictionOf(deps), status, statusWake };
}

function policyStatus(deps: UnitDeps): PolicyStatusController {
  const { registry, policySet, caches, holdsLease, recorder, log } = deps;
  return new PolicyStatusController({
    policies: {
      get ranked() {
        return policySet.ranked;
      },
      storedStatus: (uid) => readStatus(policySet.storedStatus(uid)),
    },
    nodes: caches.nodes,
    nodeReports: caches.nodeReports,
    writeStatus: caches.writePolicyStatus,
    holdsLease,
    recorder,
    clock,
    log: log.named('policystatus'),
    metrics: policyStatusMetrics(registry),
  });
}

function evictionOf(deps: UnitDeps): EvictionController {
  const { cluster, registry, metrics, recorder, caches, holdsLease, hasPredecessor, log } = deps;
  return new EvictionController({
    ...caches,
    policies: livePolicies(deps),
    evictions: podEvictions(cluster.acts),
    holdsLease,
    hasPredecessor,
    recorder,
    clock,
    metrics: metrics.units,
    own: evictionMetrics(registry),
    log: log.named('eviction'),
  });
}

function podGcOf(deps: UnitDeps, onPass: PodGcDeps['onPass']): PodGcController {
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
    policies: livePolicies(deps),
    cluster: clusterActions(cluster.acts),
    holdsLease,
    recorder,
    clock,
    onPass,
    metrics: metrics.units,
    own: podGcMetrics(registry),
    log: log.named('podgc'),
    periodMs: config.podGcPeriodMs,
    openBreakers: () => openBreakersIn(statusesOf(policySet)),
    storedInForce: () => inForceIn(statusesOf(policySet)),
    maxDeletesPerSecond: config.maxDeleteQps,
    onStale: () => {
      wake.trigger();
    },
    onProgress: () => {
      heartbeat.beat();
    },
  });
}

const statusesOf = (policies: PolicySet): StoredStatuses =>
  policies.ranked.map(({ name, uid }) => ({ name, status: policies.storedStatus(uid) }));

function livePolicies(deps: UnitDeps): PolicyView {
  const { policySet, caches } = deps;
  return {
    get synced() {
      return caches.policies.synced;
    },
    get ranked() {
      return policySet.ranked;
    },
    confirm: (ranked, signal) => confirm(deps, ranked, signal),
  };
}

/** Whether the API server still has the policies of the plan; the watch may not have shown a recent change yet. */
async function confirm(
  { cluster, policySet }: UnitDeps,
  ranked: PolicySet['ranked'],
  signal: AbortSignal,
): Promise<Confirmation> {
  const { objects, serverTime } = await readPolicies(cluster.acts, signal);
  const live = new PolicySet();
  live.update(objects);
  return {
    same: policySet.ranked === ranked && live.fingerprint === policySet.fingerprint,
    clockSkewMs: serverTime === undefined ? 0 : clock.now().getTime() - serverTime.getTime(),
  };
}
