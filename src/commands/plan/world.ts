import { governNode } from '../../api/policy/node-governance.ts';
import { isInvalid } from '../../api/policy/policy.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { byName, type NodePart, type World } from '../../snapshot/world.ts';
import { planContainers } from './containergc.ts';
import { planRequested } from './evictions.ts';
import type { Decision, PlanDocument, PlanOptions, PolicyCount, UnitPlan } from './document.ts';
import { planImages } from './imagegc.ts';
import { planStorage, storageNamespaces } from './localstorage.ts';
import { notesOn } from './notes.ts';
import { reportTotals } from './reports.ts';
import { planPods } from './podgc.ts';

/** What controller and agents would do with this world, decided by their own plans: the cluster first, then node by node. */
export function planWorld(world: World, options: PlanOptions): PlanDocument {
  const nodes = byName(world.nodes ?? new Map<string, NodeFacts>());
  const storage = storageNamespaces(world);
  const units: readonly UnitPlan[] = [
    planPods(world, options),
    ...planRequested(world, options),
    ...world.parts.flatMap((part) => planNode(part, { world, node: nodes.get(part.name), storage }, options)),
  ];
  const decisions = units.flatMap((unit) => unit.decisions);
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'Plan',
    generatedAt: formatRfc3339(options.now),
    decisions,
    summary: units.flatMap(({ summary }) => summary ?? []),
    totals: [...units.flatMap(({ totals }) => totals ?? []), ...world.reports.flatMap(reportTotals)],
    policies: policyCounts(world, decisions),
    notes: notesOn(world),
  };
}

interface Place {
  readonly world: World;
  readonly node: NodeFacts | undefined;
  readonly storage: ReturnType<typeof storageNamespaces>;
}

function planNode(
  part: NodePart,
  { world, node, storage }: Place,
  options: PlanOptions,
): readonly UnitPlan[] {
  const governance = governNode(world.policies, node);
  return [
    planImages(part, governance, options),
    planContainers(part, governance, options),
    ...(storage === undefined ? [] : [planStorage({ part, governance, namespaces: storage.known }, options)]),
  ];
}

/** Of the policies that can be followed, in the order in which they govern. */
function policyCounts({ policies = [] }: World, decisions: readonly Decision[]): readonly PolicyCount[] {
  const planned = new Map<string | null, number>();
  for (const { order, policy } of decisions)
    if (order !== null) planned.set(policy, (planned.get(policy) ?? 0) + 1);
  return policies.flatMap((policy) =>
    isInvalid(policy)
      ? []
      : [{ name: policy.name, mode: policy.mode, planned: planned.get(policy.name) ?? 0 }],
  );
}
