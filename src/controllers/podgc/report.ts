import type { PolicyPassReport } from '../../api/pass-report.ts';
import type { Policy } from '../../api/policy.ts';
import { podKeepReasons, type PodKeepReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/objects.ts';
import type { EventSpec } from '../../kube/recorder.ts';
import { finalizerHeld, tripped } from './events.ts';
import type { PodDeletion, PodGcPlan } from './facts.ts';

/** The kept pods of one plan, counted in one walk. */
export interface Census {
  readonly byReason: ReadonlyMap<PodKeepReason, number>;
  /** By policy UID: pods that wait for time, and pods that wait for finalizers. */
  readonly waiting: ReadonlyMap<string, number>;
  readonly held: ReadonlyMap<string, number>;
  readonly heldPods: readonly PodFacts[];
}

/** Counts what a plan keeps, by reason and by policy. */
export function takeCensus(plan: PodGcPlan): Census {
  const byReason = new Tally<PodKeepReason>();
  const waiting = new Tally<string>();
  const held = new Tally<string>();
  const heldPods: PodFacts[] = [];
  plan.eachKept((pod, { reason, eligibleAtMs }, policy) => {
    byReason.add(reason);
    if (eligibleAtMs !== undefined && policy !== undefined) waiting.add(policy.uid);
    if (reason !== 'FinalizerHeld' || policy === undefined) return;
    heldPods.push(pod);
    held.add(policy.uid);
  });
  const counts = byReason.counts();
  return {
    byReason: new Map(podKeepReasons.map((reason) => [reason, counts.get(reason) ?? 0])),
    waiting: waiting.counts(),
    held: held.counts(),
    heldPods,
  };
}

/** Counts by key; one after the other mostly have the same. */
class Tally<K> {
  readonly #counts = new Map<K, number>();
  #last: K | undefined;
  #run = 0;

  add(key: K): void {
    if (key !== this.#last) this.#note();
    this.#last = key;
    this.#run++;
  }

  counts(): ReadonlyMap<K, number> {
    this.#note();
    return this.#counts;
  }

  #note(): void {
    if (this.#last !== undefined)
      this.#counts.set(this.#last, (this.#counts.get(this.#last) ?? 0) + this.#run);
    this.#run = 0;
  }
}

/** What was really done, as the executor counted it. */
interface Outcome {
  readonly deleted: readonly PodDeletion[];
  readonly failed: readonly PodDeletion[];
  /** Called off, as the clocks differ. */
  readonly clockUnsure: readonly PodDeletion[];
}

/** The report of a pass for each valid policy that speaks of pods, by the policy's UID. */
export function passReports(
  plan: PodGcPlan,
  { waiting, held }: Census,
  outcome: Outcome & { readonly at: Date },
): ReadonlyMap<string, PolicyPassReport> {
  const deleted = countByPolicy(outcome.deleted);
  const failed = countByPolicy(outcome.failed);
  const clockUnsure = countByPolicy(outcome.clockUnsure);
  return new Map(
    plan.policies.map(({ policy, governed, terminated, due, missingNodes, trippedPercent }) => [
      policy.uid,
      {
        at: outcome.at,
        ...{ governed, terminated, due, missingNodes, trippedPercent },
        waiting: waiting.get(policy.uid) ?? 0,
        held: held.get(policy.uid) ?? 0,
        deleted: deleted.get(policy) ?? 0,
        failed: failed.get(policy) ?? 0,
        clockUnsure: clockUnsure.get(policy) ?? 0,
      },
    ]),
  );
}

/** By the very policies of the plan that they are of, not by what is equal. */
export function countByPolicy(list: readonly PodDeletion[]): ReadonlyMap<Policy, number> {
  const tally = new Tally<Policy>();
  for (const { policy } of list) tally.add(policy);
  return tally.counts();
}

/** What has been said already, so that it is said once. */
export interface Said {
  /** Pods found waiting for finalizers in the last pass; reported when found so again. */
  readonly heldOnce: ReadonlySet<string>;
  readonly heldReported: ReadonlySet<string>;
  readonly tripped: ReadonlySet<string>;
}

export const nothingSaid: Said = { heldOnce: new Set(), heldReported: new Set(), tripped: new Set() };

/** The Events a pass owes besides its deletions: breakers that tripped, pods stuck on their finalizers; each when it begins, once. */
export function notices(
  said: Said,
  plan: PodGcPlan,
  { heldPods }: Census,
): { readonly events: readonly EventSpec[]; readonly said: Said } {
  const stuck = heldPods.filter(({ uid }) => said.heldOnce.has(uid) && !said.heldReported.has(uid));
  const open = plan.policies.flatMap(({ policy, missingNodes, trippedPercent: percent }) =>
    percent === undefined ? [] : [{ policy, missingNodes, percent }],
  );
  const held = new Set(heldPods.map(({ uid }) => uid));
  const reported = [...said.heldReported, ...stuck.map(({ uid }) => uid)].filter((uid) => held.has(uid));
  return {
    events: [
      ...open.filter(({ policy }) => !said.tripped.has(policy.uid)).map(tripped),
      ...stuck.map(finalizerHeld),
    ],
    said: {
      heldOnce: held,
      heldReported: new Set(reported),
      tripped: new Set(open.map(({ policy }) => policy.uid)),
    },
  };
}
