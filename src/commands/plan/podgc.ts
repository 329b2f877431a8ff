import { decisionsOf, type PodGcFacts, type PodGcPlan } from '../../controllers/podgc/facts.ts';
import { noneSeen } from '../../controllers/podgc/finish.ts';
import { noneMissing } from '../../controllers/podgc/nodes.ts';
import { observe } from '../../controllers/podgc/observe.ts';
import { planPodGc } from '../../controllers/podgc/plan.ts';
import { podReasons } from '../../gc/reasons/pods.ts';
import { summarize } from '../../gc/summary.ts';
import type { ByUid, World } from '../../snapshot/world.ts';
import { listed, type PlanOptions, type Totals, type UnitPlan } from './document.ts';

/** What the controller's pod GC would do, by its own plan. Pods that are not known have no decision. */
export function planPods(world: World, options: PlanOptions): UnitPlan {
  const plan = planPodGc(factsOf(world, options), { policies: world.policies ?? [], now: options.now });
  const decisions = listed(decisionsOf(plan), podReasons, { ...options, node: null });
  return { decisions, totals: plan.policies.length === 0 ? undefined : totalsOf(plan, world) };
}

/** What the controller would see in its first pass. */
function factsOf(world: World, { assumeElapsed, now }: PlanOptions): PodGcFacts {
  const { facts } = observe(
    {
      pods: store(world.pods),
      nodes: store(world.nodes),
      namespaces: store(world.namespaces),
      jobs: () => store(world.jobs),
      replicaSets: () => store(world.replicaSets),
    },
    world.policies ?? [],
    { missing: noneMissing, seenFinished: noneSeen, monotonicMs: 0, maxGapMs: Infinity, now },
  );
  if (world.nodes === undefined) return { ...facts, nodes: undefined, missingForMs: new Map() };
  if (!assumeElapsed) return facts;
  return { ...facts, missingForMs: new Map([...facts.missingForMs.keys()].map((name) => [name, Infinity])) };
}

const store = <T>(items: ByUid<T> | undefined): { readonly items: ByUid<T>; readonly synced: boolean } => ({
  items: items ?? new Map<string, T>(),
  synced: items !== undefined,
});

function totalsOf(plan: PodGcPlan, { pods }: World): Totals {
  const { planned, kept, waiting, reasons } = summarize(decisionsOf(plan));
  const tripped = plan.policies.flatMap(({ policy, trippedPercent }) =>
    trippedPercent === undefined ? [] : [[policy.name, Math.round(trippedPercent)] as const],
  );
  return {
    ...{ unit: 'podgc', node: null, planned, kept, waiting, reasons },
    ...(pods === undefined && { state: 'Unknown' }),
    ...(tripped.length > 0 && { tripped: Object.fromEntries(tripped) }),
  };
}
