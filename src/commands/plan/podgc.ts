import { decisionsOf, type PodGcFacts } from '../../controllers/podgc/facts.ts';
import { noneSeen } from '../../controllers/podgc/finish.ts';
import { noneMissing } from '../../controllers/podgc/nodes.ts';
import { observe } from '../../controllers/podgc/observe.ts';
import { planPodGc } from '../../controllers/podgc/plan.ts';
import { podReasons } from '../../gc/reasons/pods.ts';
import type { ByUid, PlanFacts } from '../../snapshot/plan-facts.ts';
import { listed, totalsOf, type PlanOptions, type UnitPlan } from './document.ts';

/** Plans the controller's pod GC. Pods that are not known have no decision. */
export function planPods(facts: PlanFacts, options: PlanOptions): UnitPlan {
  const plan = planPodGc(factsOf(facts, options), { policies: facts.policies ?? [], now: options.now });
  const decisions = listed(decisionsOf(plan), podReasons, { ...options, node: null });
  if (plan.policies.length === 0) return { decisions, totals: undefined };
  const tripped = plan.policies.flatMap(({ policy, trippedPercent }) =>
    trippedPercent === undefined ? [] : [[policy.name, Math.round(trippedPercent)] as const],
  );
  const totals = {
    ...totalsOf({ unit: 'podgc', node: null }, decisionsOf(plan)),
    ...(facts.pods === undefined && { state: 'Unknown' }),
    ...(tripped.length > 0 && { tripped: Object.fromEntries(tripped) }),
  };
  return { decisions, totals };
}

/** The facts that the controller would have in its first pass. */
function factsOf(facts: PlanFacts, { assumeElapsed, now }: PlanOptions): PodGcFacts {
  const observed = observe(
    {
      pods: store(facts.pods),
      nodes: store(facts.nodes),
      namespaces: store(facts.namespaces),
      jobs: () => store(facts.jobs),
      replicaSets: () => store(facts.replicaSets),
    },
    facts.policies ?? [],
    { missing: noneMissing, seenFinished: noneSeen, monotonicMs: 0, maxGapMs: Infinity, now },
  );
  if (facts.nodes === undefined) return { ...observed.facts, nodes: undefined, missingForMs: new Map() };
  if (!assumeElapsed) return observed.facts;
  const missing = [...observed.facts.missingForMs.keys()];
  return { ...observed.facts, missingForMs: new Map(missing.map((name) => [name, Infinity])) };
}

const store = <T>(items: ByUid<T> | undefined): { readonly items: ByUid<T>; readonly synced: boolean } => ({
  items: items ?? new Map<string, T>(),
  synced: items !== undefined,
});
