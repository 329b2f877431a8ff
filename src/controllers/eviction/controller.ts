import { isPressureRequest } from '../../api/local-storage.ts';
import { needsUsageOf } from '../../api/policy/matching.ts';
import type { RankedPolicies } from '../../api/policy/policy-set.ts';
import { Changed } from '../../gc/changed.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { NamespaceFacts, NodeFacts } from '../../kube/cache/objects.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import { momentOf } from '../../runtime/scheduling/jump.ts';
import type { Waiting } from '../../runtime/scheduling/loop.ts';
import { areSynced, type RemoverContext } from '../context.ts';
import { evictPods, type EvictionActDeps } from './act.ts';
import { evictionsInVain, evictionsSlowed, exceededGracePeriod } from './events.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  EvictionMemory,
  PodEviction,
  RequestingNode,
} from './facts.ts';
import { EvictionRecord } from './memory.ts';
import { showDecisions } from './metrics.ts';
import { planOverdue } from './overdue.ts';
import { paceOf, replicasOf } from './pace.ts';
import { planEvictions } from './plan.ts';
import { planSlowed, planStopped } from './slowed.ts';

export interface EvictionDeps extends RemoverContext, Pick<EvictionActDeps, 'evictions' | 'live' | 'own'> {
  /** The reports of the agents; synced only while the watch works. */
  readonly nodeReports: Store<NodeReportFacts>;
  /** Whether another process has led before this one. */
  readonly hasPredecessor: () => boolean;
}

/** Evicts each pod that an agent requests, once, if its own checks allow it. */
export class EvictionController {
  readonly #deps: EvictionDeps;
  readonly #memory = new EvictionRecord();
  /** UIDs of the evicted pods that had not ended in time. */
  readonly #overdue = new Changed<string>();
  #replicas: EvictionFacts['replicas'] = new Map();
  /** Whether a pass was made: the first one begins the leadership. */
  #isLeading = false;
  /** Whether the last pass had requests: then memory and gauges must be updated. */
  #wasRequested = false;
  /** Monotonic milliseconds; until then no eviction is tried, because the API server throttles. */
  #pausedUntilMs = 0;

  constructor(deps: EvictionDeps) {
    this.#deps = deps;
  }

  /** One pass; without requests it only reads the reports. Waits, and keeps every pod, unless all caches are current. */
  async reconcile(signal: AbortSignal): Promise<Waiting> {
    const { nodeReports, policySet, pods, clock, own, hasPredecessor } = this.#deps;
    if (!this.#isLeading && hasPredecessor()) this.#memory.succeed(momentOf(clock));
    this.#isLeading = true;
    this.#reportOverdue();
    const reports = requestingOf(nodeReports.items);
    const isIdle = reports.length === 0;
    const { ranked } = policySet;
    if (isIdle && !this.#wasRequested)
      return nodeReports.synced || !needsUsageOf(ranked) ? undefined : 'waiting';
    if (!isIdle && !this.#seesAll()) return 'waiting';

    this.#wasRequested = !isIdle;
    this.#memory.forgetOthers(reports, pods.items, clock.monotonicMs());
    const { decisions, replicas } = this.#decide(reports, ranked);
    this.#replicas = replicas;
    showDecisions(this.#deps, decisions);
    this.#reportSlowed(decisions);
    try {
      if (clock.monotonicMs() >= this.#pausedUntilMs) await this.#act(decisions, ranked, signal);
    } finally {
      own.blocked.set(blockedOf(this.#memory));
    }
    return undefined;
  }

  /** Reports owners whose evictions wait, and nodes where evictions freed nothing. */
  #reportSlowed(decisions: readonly EvictionDecision[]): void {
    const { pods, nodes, recorder, log } = this.#deps;
    const facts = { pods: pods.items, replicas: this.#replicas, memory: this.#memory };
    const slowed = planSlowed(decisions, facts);
    for (const one of slowed) {
      const event = evictionsSlowed(one);
      recorder.record(event);
      log.info({ owner: one.pod.controller, waiting: one.waiting, note: event.note }, 'evictions are slowed');
    }
    const stopped = planStopped(decisions, this.#memory.relief);
    for (const node of nodes.items.values()) {
      const shortage = stopped.get(node.name);
      if (shortage === undefined) continue;
      const event = evictionsInVain(node, shortage);
      recorder.record(event);
      log.warn({ node: node.name, note: event.note }, 'evictions for node pressure freed nothing');
    }
    this.#memory.addSlowed(
      slowed.map(({ owner }) => owner),
      stopped.keys(),
    );
  }

  /** Reports each evicted pod that has not ended in time once, even if no node requests it any more. */
  #reportOverdue(): void {
    const { pods, recorder, clock, own, log } = this.#deps;
    if (!pods.synced) return;
    const { evicted } = this.#memory;
    const overdue = planOverdue(evicted, pods.items, clock.monotonicMs());
    // Reported once, even if the cache shows a longer grace later.
    const reported = this.#overdue.last.filter((uid) => evicted.has(uid));
    const unreported = this.#overdue.added([...reported, ...overdue.map(({ pod }) => pod.uid)]);
    for (const late of overdue) {
      const { namespace, name, uid, nodeName, finalizers } = late.pod;
      if (!unreported.has(uid)) continue;
      recorder.record(exceededGracePeriod(late));
      own.exceeded.inc();
      const { graceSeconds } = late;
      log.warn(
        { pod: { namespace, name }, uid, node: nodeName, graceSeconds, finalizers },
        'evicted pod has not ended',
      );
    }
    this.#memory.forgetEvicted(pods.items);
  }

  #seesAll(): boolean {
    const { nodeReports, pods, nodes, namespaces, policies, log } = this.#deps;
    const stores = { nodeReports, pods, nodes, namespaces, policies };
    const synced = Object.entries(stores).map(([name, store]) => [name, store.synced] as const);
    return areSynced(Object.fromEntries(synced), log);
  }

  #decide(reports: readonly RequestingNode[], policies: RankedPolicies): Decided {
    const { clock } = this.#deps;
    const facts = factsOf(this.#deps, reports, this.#memory);
    return {
      decisions: planEvictions(facts, { policies, now: clock.now(), monotonicMs: clock.monotonicMs() }),
      replicas: facts.replicas,
    };
  }

  async #act(
    decisions: readonly EvictionDecision[],
    ranked: RankedPolicies,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.#deps;
    const due = decisions.filter((one) => one.verdict === 'Evict');
    for (const { verdict, target, reason: kept } of decisions)
      if (verdict === 'Keep')
        log.debug({ pod: target.request.pod, node: target.node, kept }, 'not evicting pod');
    if (due.length === 0) return;
    const { retryAfterMs, error } = await evictPods(this.#actDeps(ranked), this.#withinPace(due), signal);
    this.#pausedUntilMs = clock.monotonicMs() + Math.min(retryAfterMs, maxPauseMs);
    if (error !== undefined) throw error;
  }

  /** The evictions in order, each only if the pace allows it when its turn comes. */
  *#withinPace(due: readonly PodEviction[]): Iterable<PodEviction> {
    for (const one of due) {
      const monotonicMs = this.#deps.clock.monotonicMs();
      const facts = { memory: this.#memory, replicas: this.#replicas, monotonicMs };
      if (paceOf(one.target, one.policy, facts) === undefined) yield one;
    }
  }

  #actDeps(ranked: RankedPolicies): EvictionActDeps {
    return {
      ...this.#deps,
      stopReason: () => this.#stopReason(ranked),
      ranked,
      decideAgain: (eviction) => this.#decideAgain(eviction, ranked),
      wasDeferred: (uid, reason) => this.#memory.triesBefore(uid, reason) > 0,
      onResult: (target, result) => this.#memory.add(target, result, momentOf(this.#deps.clock)),
    };
  }

  #stopReason(ranked: RankedPolicies): string | undefined {
    const { policySet, holdsLease } = this.#deps;
    if (!holdsLease()) return 'the lease is not held';
    if (policySet.ranked !== ranked) return 'policies have changed';
    return this.#seesAll() ? undefined : 'the caches are not current';
  }

  /**
   * The decision by the caches now: the request may have changed or ended, or an object may have a new keep label. All requests of the node
   * are decided, because one for node pressure depends on the others. A request of the other kind is another one.
   */
  #decideAgain({ target }: PodEviction, ranked: RankedPolicies): EvictionDecision | undefined {
    const report = [...this.#deps.nodeReports.items.values()].find(({ name }) => name === target.node);
    if (report === undefined) return undefined;
    const isForPressure = isPressureRequest(target.request);
    return this.#decide([report], ranked).decisions.find(
      ({ target: { uid, request } }) => uid === target.uid && isPressureRequest(request) === isForPressure,
    );
  }
}

interface Decided {
  readonly decisions: readonly EvictionDecision[];
  readonly replicas: EvictionFacts['replicas'];
}

/** The longest pause after a throttled request, whatever its Retry-After. */
const maxPauseMs = 5 * 60_000;

const requestingOf = (reports: Store<NodeReportFacts>['items']): readonly NodeReportFacts[] =>
  [...reports.values()].filter(({ requests }) => requests.length > 0);

const blockedOf = ({ deferred }: EvictionMemory): number =>
  [...deferred.values()].filter(({ reason }) => reason === 'BudgetBlocked').length;

/** Only the nodes and namespaces of the requests: a cluster has thousands. */
function factsOf(
  { pods, nodes, namespaces }: Pick<EvictionDeps, 'pods' | 'nodes' | 'namespaces'>,
  reports: readonly RequestingNode[],
  memory: EvictionMemory,
): EvictionFacts {
  const requesting = new Set(reports.map(({ name }) => name));
  const concerned = new Set(reports.flatMap(({ requests }) => requests.map(({ pod }) => pod.namespace)));
  return {
    reports,
    memory,
    replicas: replicasOf({ reports, pods: pods.items, memory }),
    pods: pods.items,
    nodes: named(nodes.items, requesting),
    namespaces: named(namespaces.items, concerned),
  };
}

const named = <T extends NodeFacts | NamespaceFacts>(
  items: ReadonlyMap<string, T>,
  names: ReadonlySet<string>,
): ReadonlyMap<string, T> =>
  new Map([...items.values()].flatMap((item) => (names.has(item.name) ? [[item.name, item]] : [])));
