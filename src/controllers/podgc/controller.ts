import { isKeepMarked, podLabelKeys } from '../../api/matching.ts';
import type { PolicyPassReport } from '../../api/pass-report.ts';
import type { PolicyView, RankedPolicies } from '../../api/policy-view.ts';
import type { ClusterActions } from '../../kube/cluster.ts';
import type { PodFacts } from '../../kube/objects.ts';
import type { Recorder } from '../../kube/recorder.ts';
import type { Store } from '../../kube/reflector.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { paced } from '../../runtime/paced.ts';
import { initialPace, type Pace } from '../../runtime/pacing.ts';
import { inSlices } from '../../runtime/slices.ts';
import { backlogCollected, CollectedByOwner, podsCollected } from './events.ts';
import { DeletionExecutor, fieldsOf } from './executor.ts';
import type { PodDeletion, PodGcFacts, PodGcPlan } from './facts.ts';
import { showPlan, type PodGcMetrics } from './metrics.ts';
import { noneSeen, type SeenFinished } from './finish.ts';
import { observe, type Caches } from './observe.ts';
import { noneMissing, type MissingNodes } from './nodes.ts';
import { planPodGc } from './plan.ts';
import {
  countByPolicy,
  nothingSaid,
  notices,
  passReports,
  takeCensus,
  type Census,
  type Said,
} from './report.ts';

/** The pods known, and whether the labels that today's policies read were kept of them. */
export interface PodStore extends Store<PodFacts> {
  /** False until a list with these label keys is complete; asking starts it. */
  covers(labelKeys: ReadonlySet<string>): boolean;
}

export interface PodGcDeps extends Caches {
  readonly pods: PodStore;
  readonly policies: PolicyView;
  readonly cluster: ClusterActions;
  /** True while this process surely holds the lease. */
  readonly fenced: () => boolean;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: PodGcMetrics;
  readonly log: Logger;
  /** Between two passes. */
  readonly periodMs: number;
  /** 0 = adaptive pacing alone. */
  readonly maxDeletesPerSecond: number;
  /** A pass ended because what it was planned from is out of date: the next one should not wait. */
  readonly onStale: () => void;
  /** Called as deletions go on: a long pass is not a dead one. */
  readonly onProgress: () => void;
  readonly onPass: (reports: ReadonlyMap<string, PolicyPassReport>) => void;
}

/** Deletes the pods that the policies call garbage, and says of each pass what it did. */
export class PodGcController {
  readonly #deps: PodGcDeps;
  #missing: MissingNodes = noneMissing;
  #seenFinished: SeenFinished = noneSeen;
  #pace: Pace = initialPace;
  #said: Said = nothingSaid;

  constructor(deps: PodGcDeps) {
    this.#deps = deps;
  }

  /** One pass: observe, plan, act. Without a complete view nothing is decided: everything stays. */
  async reconcile(signal: AbortSignal): Promise<void> {
    const { policies, clock, metrics, recorder, log } = this.#deps;
    const { ranked } = policies;
    if (!this.#seesAll(ranked)) return;

    const [monotonicMs, now] = [clock.monotonicMs(), clock.now()];
    const { facts, missing, seenFinished } = observe(this.#deps, ranked, {
      missing: this.#missing,
      seenFinished: this.#seenFinished,
      ...{ monotonicMs, now },
      maxGapMs: Math.max(maxPlanAgeMs, maxMissedPasses * this.#deps.periodMs),
    });
    this.#missing = missing;
    this.#seenFinished = seenFinished;
    metrics.missingNodes.set(missing.since.size);
    const plan = planPodGc(facts, { policies: ranked, now });
    const census = takeCensus(plan);
    metrics.planSeconds.observe((clock.monotonicMs() - monotonicMs) / 1000);
    showPlan(metrics, plan, census);
    const { events, said } = notices(this.#said, plan, census);
    this.#said = said;
    for (const event of events) {
      recorder.record(event);
      log.warn({ reason: event.reason, kind: event.regarding.kind, name: event.regarding.name }, event.note);
    }
    log.debug({ kept: Object.fromEntries(census.byReason), due: plan.deletions.length }, 'planned pass');
    await this.#act({ plan, census, owners: facts.replicaSetOwners, ranked }, signal);
  }

  #seesAll(ranked: RankedPolicies): boolean {
    const { pods, nodes, namespaces, policies, log } = this.#deps;
    const synced = {
      policies: policies.synced,
      pods: pods.synced && pods.covers(podLabelKeys(ranked)),
      nodes: nodes.synced,
      namespaces: namespaces.synced,
    };
    const all = Object.values(synced).every(Boolean);
    if (!all) log.debug(synced, 'waiting for caches');
    return all;
  }

  async #act({ plan, census, owners, ranked }: Decided, signal: AbortSignal): Promise<void> {
    const { clock, metrics, log, onPass, onProgress, maxDeletesPerSecond } = this.#deps;
    const mayGoOn = this.#fence(ranked, signal);
    const executor = this.#executor(ranked, mayGoOn);
    try {
      this.#pace = await paced(
        enforced(plan.deletions, log),
        {
          act: (deletion) => executor.perform(deletion),
          clock,
          pace: this.#pace,
          maxPerSecond: maxDeletesPerSecond,
          mayStart: () => mayGoOn() && executor.halted === undefined,
          onPace: ({ window }) => {
            metrics.window.set(window);
            onProgress();
          },
        },
        signal,
      );
    } finally {
      const { deleted, failed, clockUnsure, halted } = executor;
      if (halted !== undefined) log.info({ why: halted, deleted: deleted.length }, 'pass ended early');
      await this.#tell(deleted, owners);
      onPass(passReports(plan, census, { deleted, failed, clockUnsure, at: clock.now() }));
    }
    executor.throwIfFailed();
  }

  async #tell(deleted: readonly PodDeletion[], owners: Decided['owners']): Promise<void> {
    const collected = new CollectedByOwner(owners);
    await inSlices(deleted, (deletion) => {
      collected.add(deletion);
    });
    const { recorder } = this.#deps;
    if (collected.isBacklog)
      for (const [policy, pods] of countByPolicy(deleted)) recorder.record(backlogCollected(policy, pods));
    await inSlices(collected.groups(), (group) => {
      recorder.record(podsCollected(group));
    });
  }

  /**
   * Asked before each act: the policies are those of the plan, the lease is held, the caches that could say otherwise work, and the plan is
   * not old. A plan that is comes to an end, and the next pass plans afresh.
   */
  #fence(ranked: RankedPolicies, signal: AbortSignal): () => boolean {
    const { policies, namespaces, fenced, clock, onStale } = this.#deps;
    const startedAt = clock.monotonicMs();
    return () => {
      if (signal.aborted || !fenced()) return false;
      const isCurrent = policies.ranked === ranked && policies.synced && namespaces.synced;
      if (isCurrent && clock.monotonicMs() - startedAt < maxPlanAgeMs) return true;
      onStale();
      return false;
    };
  }

  #executor(ranked: RankedPolicies, mayGoOn: () => boolean): DeletionExecutor {
    const { policies, namespaces, nodes } = this.#deps;
    const namespaceUids = new Map([...namespaces.items.values()].map(({ name, uid }) => [name, uid]));
    const nodeUids = new Map([...nodes.items.values()].map(({ name, uid }) => [name, uid]));
    return new DeletionExecutor({
      ...this.#deps,
      mayGoOn,
      confirm: (signal) => policies.confirm(ranked, signal),
      isMarkedNow: ({ pod: { namespace, nodeName = '' } }) =>
        isKeepMarked(namespaces.items.get(namespaceUids.get(namespace) ?? '')) ||
        isKeepMarked(nodes.items.get(nodeUids.get(nodeName) ?? '')),
      onNodeFound: (node) => {
        this.#forgetMissing(node);
      },
    });
  }

  /** The node answers although the cache misses it: its quarantine starts anew. */
  #forgetMissing(node: string): void {
    const since = new Map([...this.#missing.since].filter(([name]) => name !== node));
    this.#missing = { ...this.#missing, since };
  }
}

interface Decided {
  readonly plan: PodGcPlan;
  readonly census: Census;
  readonly owners: PodGcFacts['replicaSetOwners'];
  readonly ranked: RankedPolicies;
}

/** Who has not looked for longer cannot say that a node was missing all the time. */
const maxMissedPasses = 5;
/** A pass over a large backlog is cut into plans of this age at most: labels, thresholds and nodes change meanwhile. */
const maxPlanAgeMs = 60_000;

/** What mode Enforce deletes; what mode DryRun would is only told. */
function enforced(deletions: readonly PodDeletion[], log: Logger): PodDeletion[] {
  return deletions.filter((deletion) => {
    if (deletion.policy.mode === 'Enforce') return true;
    log.debug(fieldsOf(deletion), 'would delete pod');
    return false;
  });
}
