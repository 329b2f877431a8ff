import { neededOwners, podLabelKeys } from '../../api/policy/matching.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { RankedPolicies } from '../../api/policy/policy-set.ts';
import { Changed } from '../../gc/changed.ts';
import { isSkewed } from '../../gc/checks.ts';
import { isOfObject } from '../../gc/api-failures.ts';
import { FailureMemory } from '../../gc/failures.ts';
import { showSums } from '../../gc/metrics.ts';
import { countByPolicy, summarizeByPolicy, type SumsByPolicy } from '../../gc/summary.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { OpenBreakers } from '../../gc/open-breaker.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import { hasJumped, momentOf, type Moment } from '../../runtime/scheduling/jump.ts';
import type { Waiting } from '../../runtime/scheduling/loop.ts';
import { inSlices, inSteps, yieldToEventLoop } from '../../runtime/scheduling/slices.ts';
import { areSynced } from '../context.ts';
import { deletePods, MarkedPods, throwIfFailed, type DeleterContext } from './act.ts';
import { maxPlanAgeMs, type Planned } from './checks.ts';
import {
  backlogCollected,
  CollectedByOwner,
  notices,
  noticedBefore,
  podsCollected,
  podStuck,
} from './events.ts';
import { decisionsOf, type Given, type PodDeletion, type PodGcFacts, type PodGcPlan } from './facts.ts';
import { podGcReasons, showBreakers, showStuck } from './metrics.ts';
import { PodGcMemory, type Caches } from './observe.ts';
import type { InForceByName } from '../../gc/hold.ts';
import { planInSteps } from './plan.ts';
import { passReports } from './report.ts';
import { stuckDetail, stuckPods, type StuckPod } from './stuck.ts';

/** The cached pods, with the labels that policies read. */
export interface PodStore extends Store<PodFacts> {
  /** False until a list with these label keys is complete; the call starts that list. */
  covers(labelKeys: ReadonlySet<string>): boolean;
}

export interface PodGcDeps extends Caches, DeleterContext {
  readonly pods: PodStore;
  /** Between two passes. */
  readonly periodMs: number;
  readonly openBreakers: () => OpenBreakers;
  readonly storedInForce: () => InForceByName;
  readonly onPass: (reports: ReadonlyMap<string, PolicyPassReport>) => void;
}

/** Deletes the pods that are garbage by the policies, and reports each pass. */
export class PodGcController {
  readonly #deps: PodGcDeps;
  readonly #memory = new PodGcMemory();
  readonly #failures = new FailureMemory<PodDeletion>({ keyOf: ({ target }) => target.uid, isOfObject });
  readonly #marked = new MarkedPods();
  readonly #noticed = new Changed<string>();
  /** Whether the last pass ended before it had deleted all that was due. */
  #wasCut = false;
  /** UIDs of the pods that were stuck in the last pass. */
  #stuck: ReadonlySet<string> = new Set();
  readonly #namedStuck = new Changed<string>();

  constructor(deps: PodGcDeps) {
    this.#deps = deps;
  }

  /** One pass: observe, plan, act. Waits, and keeps every pod, unless all caches are current. */
  async reconcile(signal: AbortSignal): Promise<Waiting> {
    const { policySet, clock, metrics, own, recorder, log } = this.#deps;
    const { ranked } = policySet;
    if (!this.#seesAll(ranked)) return 'waiting';

    const observedAt = momentOf(clock);
    const { monotonicMs, wallMs } = observedAt;
    const now = new Date(wallMs);
    const openBreakers = this.#deps.openBreakers();
    if (this.#memory.isNew) this.#noticed.added(noticedBefore(ranked, openBreakers));
    const facts = this.#memory.observe(this.#deps, ranked, {
      failedBefore: this.#failures.known((uid) => this.#deps.pods.items.has(uid), monotonicMs),
      openBreakers,
      storedInForce: this.#deps.storedInForce(),
      monotonicMs,
      wallMs,
      maxGapMs: Math.max(maxPlanAgeMs, maxMissedPasses * this.#deps.periodMs),
    });
    const observedMs = clock.monotonicMs() - monotonicMs;
    const isLimited = this.#deps.maxDeletesPerSecond > 0 || this.#wasCut;
    await yieldToEventLoop();
    const { result, busyMs } = await inSteps(planAndSums(facts, { policies: ranked, now, isLimited }), clock);
    const { plan, sums } = result;
    this.#memory.addClosed(plan.policies);
    own.missingNodes.set(facts.missingForMs.size);
    own.planSeconds.observe((observedMs + busyMs) / 1000);
    showSums(metrics, 'podgc', podGcReasons, sums);
    showBreakers(own, plan.policies);
    const noticed = notices(plan, now);
    const unsaid = this.#noticed.added(noticed.map(({ key }) => key));
    for (const { key, event } of noticed) {
      if (!unsaid.has(key)) continue;
      recorder.record(event);
      log.warn({ reason: event.reason, kind: event.regarding.kind, name: event.regarding.name }, event.note);
    }
    log.debug({ due: plan.deletions.length }, 'planned pass');
    const pass = { ranked, observedAt, facts, plan, sums };
    try {
      await this.#act(pass, signal);
    } finally {
      await this.#reportStuck(pass, signal);
    }
    return undefined;
  }

  #seesAll(ranked: RankedPolicies): boolean {
    const { pods, nodes, namespaces, policies, log } = this.#deps;
    const needed = neededOwners(ranked);
    const owners = [
      ...(needed.jobs ? [this.#deps.jobs()] : []),
      ...(needed.replicaSets ? [this.#deps.replicaSets()] : []),
    ];
    const synced = {
      policies: policies.synced,
      pods: pods.synced && pods.covers(podLabelKeys(ranked)),
      nodes: nodes.synced,
      namespaces: namespaces.synced,
      // A pass works without them, if they cannot be listed: it keeps the pods that need them.
      owners: owners.every(({ isStarting = false }) => !isStarting),
    };
    return areSynced(synced, log);
  }

  /** Reports the stuck pods that this pass does not delete. New ones only if our clock agrees with the API server's. */
  async #reportStuck({ facts, plan, observedAt }: PodGcPass, signal: AbortSignal): Promise<void> {
    const { recorder, own, log } = this.#deps;
    const isEnforced = ({ policy }: PodDeletion): boolean => policy.mode === 'Enforce';
    const deleted = new Set(plan.deletions.filter(isEnforced).map(({ target }) => target.pod));
    const found = stuckPods(facts.pods, facts.nodes, new Date(observedAt.wallMs)).filter(
      ({ pod }) => !deleted.has(pod),
    );
    const isKnown = ({ pod }: StuckPod): boolean => this.#stuck.has(pod.uid);
    const isSure = found.every(isKnown) || (await this.#isClockSure(observedAt, signal));
    const stuck = isSure ? found : found.filter(isKnown);
    const byCause = Map.groupBy(stuck, ({ obstacle }) => obstacle.cause);
    const counts = Object.fromEntries([...byCause].map(([cause, pods]) => [cause, pods.length]));
    showStuck(own, counts);
    // The same pods in each pass, as long as they are stuck: a series needs its repetitions.
    const named = [...byCause.values()].flatMap((pods) => pods.slice(0, maxNamedStuck));
    const unsaid = this.#namedStuck.added(uids(named));
    for (const one of named) {
      const { pod, obstacle } = one;
      const detail = stuckDetail(one);
      const fields = {
        pod: { namespace: pod.namespace, name: pod.name },
        uid: pod.uid,
        cause: obstacle.cause,
      };
      if (unsaid.has(pod.uid)) log.warn({ ...fields, detail }, 'pod is stuck');
      recorder.record(podStuck(one, detail));
    }
    if (named.length < stuck.length && !stuck.every(isKnown))
      log.warn({ stuck: counts }, 'more pods are stuck than are named');
    this.#stuck = uids(stuck);
  }

  async #isClockSure(observedAt: Moment, signal: AbortSignal): Promise<boolean> {
    const { live, clock, log } = this.#deps;
    try {
      const { clockSkewMs } = await live.policies(signal);
      return !isSkewed(clockSkewMs) && !hasJumped(observedAt, clock);
    } catch (err) {
      log.debug({ err }, 'reading the time of the API server failed');
      return false;
    }
  }

  async #act({ facts, plan, observedAt, sums, ranked }: PodGcPass, signal: AbortSignal): Promise<void> {
    const { pods, clock, onPass } = this.#deps;
    const marked = this.#marked.due({ pods: pods.items, failedBefore: facts.failedBefore });
    const begun = asPlanned(marked, plan.deletions);
    const others = begun.size === 0 ? plan.deletions : plan.deletions.filter((one) => !begun.has(one));
    const results = await deletePods(
      [...begun, ...others],
      this.#deps,
      {
        ranked,
        observedAt,
        begun,
        failures: this.#failures,
        marked: this.#marked,
        onNodeFound: (node) => this.#memory.forgetMissing(node),
      },
      signal,
    );
    this.#wasCut = results.stopped !== undefined;
    await this.#recordDeleted(results.removed, facts.owners, new Date(observedAt.wallMs));
    // The plan does not count the pods that only the mark makes due.
    const counted = results.outcomes.filter(
      ({ kind, decision }) => kind === 'failed' || !begun.has(decision) || plan.deletions.includes(decision),
    );
    onPass(
      passReports(plan, sums, { facts, outcomes: counted, inForce: this.#memory.inForce, at: clock.now() }),
    );
    throwIfFailed(results);
  }

  async #recordDeleted(
    deleted: readonly PodDeletion[],
    owners: PodGcFacts['owners'],
    at: Date,
  ): Promise<void> {
    const { recorder } = this.#deps;
    const collected = new CollectedByOwner(owners);
    await inSlices(deleted, (deletion) => collected.add(deletion));
    if (collected.isBacklog)
      for (const [policy, pods] of countByPolicy(deleted)) recorder.record(backlogCollected(policy, pods));
    await inSlices(collected.groups(), (group) => recorder.record(podsCollected(group, at)));
  }
}

/** Of each cause, the longest stuck. The other Events of a pass need most of the 200 that the recorder accepts at once. */
const maxNamedStuck = 8;

const uids = (pods: readonly StuckPod[]): ReadonlySet<string> => new Set(pods.map(({ pod }) => pod.uid));

interface PodGcPass extends Planned {
  readonly facts: PodGcFacts;
  readonly plan: PodGcPlan;
  readonly sums: SumsByPolicy;
}

function* planAndSums(facts: PodGcFacts, given: Given) {
  const plan = yield* planInSteps(facts, given);
  const sums = yield* summarizeByPolicy(decisionsOf(plan));
  return { plan, sums };
}

/** After a longer gap a node may have been back in between. */
const maxMissedPasses = 5;

/** The deletions that an earlier pass has begun: those of the plan, where it has them too. */
function asPlanned(begun: readonly PodDeletion[], planned: readonly PodDeletion[]): ReadonlySet<PodDeletion> {
  const byUid = new Map(begun.map((deletion) => [deletion.target.uid, deletion]));
  if (byUid.size > 0)
    for (const deletion of planned)
      if (byUid.has(deletion.target.uid)) byUid.set(deletion.target.uid, deletion);
  return new Set(byUid.values());
}
