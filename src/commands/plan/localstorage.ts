import type { LocalStoragePlan, PodEviction } from '../../agent/localstorage/facts.ts';
import { byExcess } from '../../agent/localstorage/inventory.ts';
import { planLocalStorage, staleAfterMs } from '../../agent/localstorage/plan.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { EvictionDecision, EvictionFacts } from '../../controllers/eviction/facts.ts';
import { noMemory } from '../../controllers/eviction/memory.ts';
import { judgeNamespace, planEvictions } from '../../controllers/eviction/plan.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import { evictionReasons, type LabelEvidence } from '../../gc/reasons/evictions.ts';
import { storageReasons, storageWarnings } from '../../gc/reasons/storage.ts';
import { summarize } from '../../gc/summary.ts';
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
      decisions: listed(decided, evictionReasons, { ...options, node }),
      totals: totalsOf({ unit, node }, decided),
    };
  });
}

/** undefined = no report requests an eviction, or too little is known to decide. */
function evictionFacts({ policies, pods, nodes, namespaces, reports }: PlanFacts): EvictionFacts | undefined {
  const requesting = reports.filter(({ requests }) => requests.length > 0);
  if (requesting.length === 0 || !policies || !pods || !nodes || !namespaces) return undefined;
  return {
    ...{ reports: requesting, pods, memory: noMemory },
    nodes: byName(nodes),
    namespaces: byName(namespaces),
  };
}

/** Namespaces by name; undefined = not known. */
export type Namespaces = ReadonlyMap<string, NamespaceFacts> | undefined;

interface Place {
  readonly part: NodePart;
  readonly governance: NodeGovernance;
  readonly namespaces: Namespaces;
}

/** Plans the agent's local-storage unit on a node: which pods would be evicted or warned about. A warning is a decision of its own, besides the one about its pod. */
export function planStorage({ part, governance, namespaces }: Place, options: PlanOptions): UnitPlan {
  const { name: node, pods, usage } = part;
  const { evictions, refused, warnings, kept } = rechecked(planOf(part, governance, options), namespaces);
  const at = { ...options, node };
  const decisions = [
    ...listed(evictions, storageReasons, at),
    ...listed(warnings, storageWarnings, at),
    ...listed(refused, evictionReasons, at),
    ...listed(kept, storageReasons, at),
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

/** Plans for the moment at which the usage was measured, which a snapshot records; without it, measurements may have any age. */
function planOf(
  { pods, usage }: NodePart,
  governance: NodeGovernance,
  { now }: PlanOptions,
): LocalStoragePlan {
  const isDated = usage !== undefined && usage.atMs > 0;
  const given = isDated ? { now: new Date(usage.atMs), staleAfterMs } : { now };
  return planLocalStorage({ pods, usage }, { governance, ...given });
}

/** A pod whose eviction the agent would request, and the controller would deny. */
type RefusedPod = Decision<PodTarget, 'KeepMarked' | 'NamespaceUnknown', LabelEvidence>;

interface Rechecked extends Pick<LocalStoragePlan, 'warnings' | 'kept'> {
  /** In the order of the requests. */
  readonly evictions: readonly PodEviction[];
  readonly refused: readonly RefusedPod[];
}

/** Applies the labels of namespaces as the controller does; agents do not know them. */
function rechecked({ evictions, warnings, kept }: LocalStoragePlan, namespaces: Namespaces): Rechecked {
  const sorted = evictions.toSorted(byExcess);
  const refusals = sorted.map((one) => refusal(one, namespaces));
  return {
    evictions: sorted.filter((_, i) => refusals[i] === undefined),
    refused: refusals.filter((one) => one !== undefined),
    ...{ warnings, kept },
  };
}

function refusal(eviction: PodEviction, namespaces: Namespaces): RefusedPod | undefined {
  const { namespace } = eviction.target;
  const reason = judgeNamespace(namespaces?.get(namespace));
  if (reason === undefined) return undefined;
  const { excess } = eviction.evidence;
  const evidence = { namespace, cause: excess, measuredAtMs: undefined, on: `namespace ${namespace}` };
  return { ...eviction, verdict: 'Keep', reason, evidence };
}
