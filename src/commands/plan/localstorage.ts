import type { LocalStoragePlan, PodEviction } from '../../agent/localstorage/facts.ts';
import { byExcess } from '../../agent/localstorage/inventory.ts';
import { planLocalStorage, staleAfterMs } from '../../agent/localstorage/plan.ts';
import { hasStorageRule } from '../../api/policy/matching.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { judgeNamespace } from '../../controllers/eviction/plan.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import { evictionReasons, type LabelEvidence } from '../../gc/reasons/evictions.ts';
import { storageReasons, storageWarnings } from '../../gc/reasons/storage.ts';
import { summarize } from '../../gc/summary.ts';
import type { NamespaceFacts } from '../../kube/cache/objects.ts';
import { byName, type NodePart, type World } from '../../snapshot/world.ts';
import { listed, type PlanOptions, type UnitPlan } from './document.ts';

/** By name; undefined = not known. */
type Namespaces = ReadonlyMap<string, NamespaceFacts> | undefined;

/** What evictions need to know of the cluster; undefined where no policy has a rule for local storage, which then costs nothing. */
export function storageNamespaces({
  policies,
  namespaces,
}: World): { readonly known: Namespaces } | undefined {
  if (!hasStorageRule(policies)) return undefined;
  return { known: namespaces && byName(namespaces) };
}

interface Place {
  readonly part: NodePart;
  readonly governance: NodeGovernance;
  readonly namespaces: Namespaces;
}

/** Which pods of a node would be evicted or warned about, by the agent's own plan; each warning is a decision besides the one about its pod. */
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
  const { planned, kept: stay, waiting, reasons, warned } = summarize(all);
  const state = pods === undefined || usage === undefined ? { state: 'Unknown' } : {};
  const totals = {
    unit: 'localstorage',
    node,
    planned,
    kept: stay,
    waiting,
    reasons,
    warned,
    ...state,
  } as const;
  return { decisions, totals };
}

/** As a pass at the moment at which the usage was read, which a snapshot keeps; where it does not, measurements may be of any age. */
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
  /** In the order in which they are requested. */
  readonly evictions: readonly PodEviction[];
  readonly refused: readonly RefusedPod[];
}

/** As the controller decides, which sees the namespaces: no agent does. */
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
  const evidence = { namespace, excess, measuredAtMs: undefined, on: `namespace ${namespace}` };
  return { ...eviction, verdict: 'Keep', reason, evidence };
}
