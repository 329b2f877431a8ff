import type { EvictionDecision, EvictionFacts } from '../../controllers/eviction/facts.ts';
import { noMemory } from '../../controllers/eviction/memory.ts';
import { planEvictions } from '../../controllers/eviction/plan.ts';
import { evictionReasons } from '../../gc/reasons/evictions.ts';
import { summarize } from '../../gc/summary.ts';
import { byName, type World } from '../../snapshot/world.ts';
import { listed, type PlanOptions, type UnitPlan } from './document.ts';

/**
 * What becomes of the pods whose eviction the agents request, by the controller's own plan: node by node, the most excessive first. What only
 * a live read of the pod and its budgets shows is not known here.
 */
export function planRequested(world: World, options: PlanOptions): readonly UnitPlan[] {
  const facts = factsOf(world);
  if (facts === undefined) return [];
  const given = { policies: world.policies ?? [], now: options.now, monotonicMs: 0 };
  const byNode = new Map<string, EvictionDecision[]>();
  for (const one of planEvictions(facts, given)) {
    const { node } = one.target;
    byNode.set(node, [...(byNode.get(node) ?? []), one]);
  }
  return [...byNode].map(([node, decided]) => planOf(node, decided, options));
}

/** undefined = no report requests an eviction, or too little is known to say anything. */
function factsOf({ policies, pods, nodes, namespaces, reports }: World): EvictionFacts | undefined {
  const requesting = reports.filter(({ requests }) => requests.length > 0);
  if (requesting.length === 0 || !policies || !pods || !nodes || !namespaces) return undefined;
  return {
    ...{ reports: requesting, pods, memory: noMemory },
    nodes: byName(nodes),
    namespaces: byName(namespaces),
  };
}

function planOf(node: string, decided: readonly EvictionDecision[], options: PlanOptions): UnitPlan {
  const { planned, kept, waiting, reasons } = summarize(decided);
  return {
    decisions: listed(decided, evictionReasons, { ...options, node }),
    totals: { unit: 'localstorage', node, planned, kept, waiting, reasons },
  };
}
