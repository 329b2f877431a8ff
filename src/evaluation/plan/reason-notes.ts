import { isFinished } from '../../api/pod-phase.ts';
import { reasonDoubts } from '../../api/policy/reason-doubts.ts';
import { podReason } from '../../api/policy/ttl-rules.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';

/** Reasons of pods.terminated.ttlByReason that no finished pod can have, or that are probably misspelt. One that a pod has is correct, whatever it is, so only with all pods is a similar one named. */
export function reasonNotes({ policies = [], pods, part }: PlanFacts): readonly string[] {
  const found = new Set(
    [...(pods?.values() ?? [])]
      .filter(isFinished)
      .flatMap((pod) => [podReason(pod), ...pod.ends.map(({ reason }) => reason)]),
  );
  const areAllKnown = pods !== undefined && part === undefined;
  return policies.flatMap((policy) =>
    reasonDoubts(policy)
      .filter(({ reason, isCertain }) => (isCertain || areAllKnown) && ![...found].some(globMatcher(reason)))
      .map(({ entry, advice }) => `GCPolicy ${policy.name}: ${entry} matches no finished pod; ${advice}`),
  );
}
