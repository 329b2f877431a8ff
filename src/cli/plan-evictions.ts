import type { EvictionRequest } from '../api/local-storage.ts';
import { requestMessage } from '../api/local-storage-messages.ts';
import { evictionMeanings } from '../api/storage-reason-meanings.ts';
import type { EvictionDecision, EvictionFacts } from '../controllers/eviction/facts.ts';
import { noMemory } from '../controllers/eviction/memory.ts';
import { planEvictions } from '../controllers/eviction/plan.ts';
import { formatRfc3339 } from '../runtime/rfc3339.ts';
import { byName, type World } from '../snapshot/world.ts';
import {
  Counts,
  decision,
  isListed,
  type Decision,
  type PlanOptions,
  type PodObject,
  type Told,
  type UnitPlan,
} from './plan-document.ts';

/**
 * What becomes of the pods whose eviction the agents ask for, by the controller's own plan: node by node, the most excessive first. What only a
 * live look at the pod and its budgets tells is not known here.
 */
export function planAsked(world: World, options: PlanOptions): readonly UnitPlan[] {
  const facts = factsOf(world);
  if (facts === undefined) return [];
  const given = { policies: world.policies ?? [], now: options.now, monotonicMs: 0 };
  const byNode = new Map<string, EvictionDecision[]>();
  for (const one of planEvictions(facts, given)) byNode.set(one.node, [...(byNode.get(one.node) ?? []), one]);
  return [...byNode].map(([node, decided]) => planOf(node, decided, options));
}

/** undefined = nobody asks, or too little is known to say anything. */
function factsOf({ policies, pods, nodes, namespaces, reports }: World): EvictionFacts | undefined {
  const asking = reports.filter(({ requests }) => requests.length > 0);
  if (asking.length === 0 || !policies || !pods || !nodes || !namespaces) return undefined;
  return {
    ...{ reports: asking, pods, memory: noMemory },
    nodes: byName(nodes),
    namespaces: byName(namespaces),
  };
}

function planOf(node: string, decided: readonly EvictionDecision[], options: PlanOptions): UnitPlan {
  const counts = new Counts();
  const decisions: Decision[] = [];
  for (const one of decided) {
    const { verdict } = one;
    const reason = verdict === 'Evict' ? one.request.signal : one.reason;
    if (verdict === 'Evict') counts.goes(reason);
    else counts.stays(reason, false);
    const known = { unit: 'localstorage', verdict, reason, object: objectOf(one) } as const;
    if (!isListed(options, known)) continue;
    const policy = verdict === 'Evict' ? one.policy : undefined;
    const order = verdict === 'Evict' ? counts.planned : undefined;
    decisions.push(decision({ ...known, ...toldOf(one) }, { policy, order }));
  }
  const { planned, kept, waiting, reasons } = counts;
  return { decisions, totals: { unit: 'localstorage', node, planned, kept, waiting, reasons } };
}

const objectOf = ({ node, request: { pod } }: EvictionDecision): PodObject => ({
  ...{ kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid, node },
});

function toldOf(one: EvictionDecision): Told {
  if (one.verdict === 'Keep') {
    const { meaning } = evictionMeanings[one.reason];
    return { detail: `${requestMessage(one.request)} ${askedAt(one.request)} ${meaning}`, field: null };
  }
  const { evictAtPercent, respectPodDisruptionBudgets } = one.rule;
  const budgets = respectPodDisruptionBudgets ? ' A disruption budget may put it off.' : '';
  return {
    detail: `${requestMessage(one.request, evictAtPercent)} ${askedAt(one.request)}${budgets}`,
    field: `nodes.localStorageEviction.evictAtPercent=${evictAtPercent}`,
  };
}

const askedAt = ({ observedAtMs }: EvictionRequest): string =>
  `Its agent asks for the eviction, by figures of ${formatRfc3339(new Date(observedAtMs))}.`;
