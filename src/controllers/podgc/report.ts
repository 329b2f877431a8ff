import type { PolicyPassReport } from '../../api/pass-report.ts';
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
  const byReason = new Map<PodKeepReason, number>(podKeepReasons.map((reason) => [reason, 0]));
  const waiting = new Map<string, number>();
  const held = new Map<string, number>();
  const heldPods: PodFacts[] = [];
  plan.eachKept((pod, { reason, eligibleAtMs }, policy) => {
    bump(byReason, reason);
    if (eligibleAtMs !== undefined && policy !== undefined) bump(waiting, policy.uid);
    if (reason !== 'FinalizerHeld') return;
    heldPods.push(pod);
    if (policy !== undefined) bump(held, policy.uid);
  });
  return { byReason, waiting, held, heldPods };
}

function bump<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** What was really done, as the executor counted it. */
export interface Outcome {
  readonly deleted: readonly PodDeletion[];
  readonly failed: readonly PodDeletion[];
}

/** The report of a pass for each valid policy that speaks of pods, by the policy's UID. */
export function passReports(
  plan: PodGcPlan,
  { waiting, held }: Census,
  outcome: Outcome & { readonly at: Date },
): ReadonlyMap<string, PolicyPassReport> {
  const of = (list: readonly PodDeletion[], uid: string): number =>
    list.reduce((count, { policy }) => count + Number(policy.uid === uid), 0);
  return new Map(
    plan.policies.map(({ policy: { uid }, governed, terminated, due, missingNodes, trippedPercent }) => [
      uid,
      {
        at: outcome.at,
        ...{ governed, terminated, due, missingNodes, trippedPercent },
        waiting: waiting.get(uid) ?? 0,
        held: held.get(uid) ?? 0,
        deleted: of(outcome.deleted, uid),
        failed: of(outcome.failed, uid),
      },
    ]),
  );
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
  const open = plan.policies.filter(({ trippedPercent }) => trippedPercent !== undefined);
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
