import type { PodEviction } from '../../agent/localstorage/facts.ts';
import { byExcess } from '../../agent/localstorage/inventory.ts';
import { planLocalStorage } from '../../agent/localstorage/plan.ts';
import { explainLimit, explainStorage } from '../../agent/localstorage/words.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  EvictionKept,
  KeptPod,
} from '../../controllers/eviction/facts.ts';
import { noMemory } from '../../controllers/eviction/memory.ts';
import { replicasOf } from '../../controllers/eviction/pace.ts';
import { judgeNamespace, planEvictions } from '../../controllers/eviction/plan.ts';
import {
  causeText,
  explainEviction,
  explainKept,
  type EvictionCause,
} from '../../controllers/eviction/words.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import { anyAge, maxAges, type MaxAges } from '../../gc/pod-evictions.ts';
import { summarize } from '../../gc/summary.ts';
import type { Why } from '../../gc/words.ts';
import type { NamespaceFacts } from '../../kube/cache/objects.ts';
import { byName, type NodePart, type PlanFacts } from '../../snapshot/plan-facts.ts';
import { listed, totalsOf, type PlanOptions, type UnitPlan } from './document.ts';

/**
 * Plans the evictions that agents request in their reports, as the controller does: by node and unit, in its order. Checks that need a
 * live read of the pod and its disruption budgets are left out.
 */
export function planRequested(facts: PlanFacts, options: PlanOptions): readonly UnitPlan[] {
  const eviction = evictionFacts(facts);
  if (eviction === undefined) return [];
  const given = { policies: facts.policies ?? [], now: options.now, monotonicMs: 0 };
  const places = new Map<string, [EvictionDecision, ...EvictionDecision[]]>();
  for (const one of planEvictions(eviction, given)) {
    const place = `${one.target.node} ${one.unit}`;
    const known = places.get(place);
    if (known === undefined) places.set(place, [one]);
    else known.push(one);
  }
  return [...places.values()].map((decided) => {
    const [{ unit, target }] = decided;
    const { node } = target;
    return {
      decisions: listed(decided, explainEviction, { ...options, node }),
      totals: totalsOf({ unit, node }, decided),
    };
  });
}

/** undefined = no report requests an eviction, or too little is known to decide. */
function evictionFacts({ policies, pods, nodes, namespaces, reports }: PlanFacts): EvictionFacts | undefined {
  const requesting = reports.filter(({ requests }) => requests.length > 0);
  if (requesting.length === 0 || !policies || !pods || !nodes || !namespaces) return undefined;
  return {
    // Without memory nothing waits for time: all that are due are listed.
    reports: requesting,
    pods,
    memory: noMemory,
    replicas: replicasOf({ reports: requesting, pods, memory: noMemory }),
    nodes: byName(nodes),
    namespaces: byName(namespaces),
  };
}

/** Namespaces by name; undefined = not known. */
type Namespaces = ReadonlyMap<string, NamespaceFacts> | undefined;

/** A node, with what the plans of pods on it need. */
export interface Place {
  readonly part: NodePart;
  readonly governance: NodeGovernance;
  readonly namespaces: Namespaces;
}

/** Plans the agent's local-storage unit on a node: which pods would be evicted or warned about. A warning is a decision of its own, besides the one about its pod. */
export function planStorage({ part, governance, namespaces }: Place, options: PlanOptions): UnitPlan {
  const { name: node, pods, usage } = part;
  const plan = planLocalStorage({ pods, usage }, { governance, ...timesOf(part, options) });
  const { warnings, kept } = plan;
  const { evictions, refused } = rechecked(plan.evictions, namespaces);
  const at = { ...options, node };
  const decisions = [
    ...listed(evictions, (one) => explainStorage(one, plan), at),
    ...listed(warnings, (one) => explainLimit(one, plan), at),
    ...listed(refused, explainRefused, at),
    ...listed(kept, (one) => explainStorage(one, plan), at),
  ];
  if (nodeRule(governance, 'localStorageEviction').kind === 'keep') return { decisions, totals: undefined };
  const all = [...evictions, ...warnings, ...refused, ...kept];
  const totals = {
    ...totalsOf({ unit: 'localstorage', node }, all),
    warned: summarize(all).warned,
    ...((pods === undefined || usage === undefined) && { state: 'Unknown' }),
  };
  return { decisions, totals };
}

/** The moment of the measurement, which a snapshot records; without it, measurements may have any age. */
export const timesOf = (
  { usage }: NodePart,
  { now }: PlanOptions,
): { readonly now: Date; readonly maxAges: MaxAges } =>
  usage !== undefined && usage.atMs > 0 ? { now: new Date(usage.atMs), maxAges } : { now, maxAges: anyAge };

/** A pod whose eviction the agent would request, and the controller would deny or put off. */
export type RefusedPod = KeptPod<PodTarget & { readonly cause: EvictionCause }>;

export const refusal = (
  { target, ...eviction }: Decision<PodTarget>,
  why: EvictionKept,
  cause: EvictionCause,
): RefusedPod => ({
  ...eviction,
  verdict: 'Keep',
  target: { ...target, cause },
  ...why,
});

export const explainRefused = (refused: RefusedPod): Why =>
  explainKept(refused, causeText(refused.target.cause));

interface Rechecked {
  /** In the order of the requests. */
  readonly evictions: readonly PodEviction[];
  readonly refused: readonly RefusedPod[];
}

/** Applies the labels of namespaces as the controller does; agents do not know them. */
function rechecked(evictions: readonly PodEviction[], namespaces: Namespaces): Rechecked {
  const sorted = evictions.toSorted(byExcess);
  const refusals = sorted.map((one) => {
    const denied = judgeNamespace(one.target.namespace, namespaces);
    return denied && refusal(one, denied, one.target.excess);
  });
  return {
    evictions: sorted.filter((_, i) => refusals[i] === undefined),
    refused: refusals.filter((one) => one !== undefined),
  };
}
