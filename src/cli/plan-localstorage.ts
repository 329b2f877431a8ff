import type { KeptPod, LimitWarning, LocalStoragePlan, PodEviction } from '../agent/localstorage/facts.ts';
import { byExcess } from '../agent/localstorage/inventory.ts';
import { keepAllPods, planLocalStorage, staleAfterMs } from '../agent/localstorage/plan.ts';
import type { StoragePod } from '../api/local-storage.ts';
import { hasStorageRule } from '../api/matching.ts';
import type { NodeGovernance } from '../api/node-governance.ts';
import { isInvalid, type LocalStoragePolicy } from '../api/policy.ts';
import type { EvictionKeepReason, NodeKeepReason } from '../api/reasons.ts';
import { judgeNamespace } from '../controllers/eviction/plan.ts';
import type { NamespaceFacts } from '../kube/objects.ts';
import { byName, type NodePart, type World } from '../snapshot/world.ts';
import {
  Counts,
  decision,
  isListed,
  type Decision,
  type PlanOptions,
  type PodObject,
  type Totals,
  type UnitPlan,
} from './plan-document.ts';
import { evictionTold, keptPodTold, warningTold, type StorageContext } from './plan-localstorage-detail.ts';

/** By name; undefined = not known. */
type Namespaces = ReadonlyMap<string, NamespaceFacts> | undefined;

/** What evictions need to know of the cluster; undefined where no policy speaks of local storage, which then costs nothing. */
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

/** Which pods of a node would be evicted or warned about, by the agent's own plan; of each warning a decision besides the one of its pod. */
export function planStorage({ part, governance, namespaces }: Place, options: PlanOptions): UnitPlan {
  const rule = ruleOf(governance);
  const plan = rechecked(planOf(part, rule, options), namespaces);
  const { policy } = governance;
  const context: StorageContext = {
    ...{ node: part.name, policy: rule.storage, isUsageKnown: part.usage !== undefined },
    invalid: policy !== undefined && isInvalid(policy) ? policy : undefined,
    isNodeMarked: governance.kind === 'keep' && governance.reason === 'KeepMarked',
  };
  const counts = new Counts();
  const decisions: Decision[] = [];
  const add = (known: Pick<Decision, 'verdict' | 'reason'>, pod: StoragePod, rest: Rest): void => {
    const all = { unit: 'localstorage', ...known, object: objectOf(pod, part.name) } as const;
    if (!isListed(options, all)) return;
    decisions.push(decision({ ...all, ...rest.tell() }, { policy, order: rest.order }));
  };
  plan.evictions.forEach((one, i) => {
    counts.goes(one.reason);
    add(one, one.pod, { order: i + 1, tell: () => evictionTold(one, context) });
  });
  for (const one of plan.warnings) {
    const known = { verdict: 'Warn', reason: one.reading.signal } as const;
    add(known, one.pod, { tell: () => warningTold(one, context) });
  }
  for (const one of plan.kept) {
    counts.stays(one.reason, false);
    add(one, one.pod, { tell: () => keptPodTold(one, context) });
  }
  return { decisions, totals: rule.storage === undefined ? undefined : totalsOf(part, plan, counts) };
}

interface Rest {
  readonly order?: number;
  readonly tell: () => Pick<Decision, 'detail' | 'field'>;
}

function totalsOf(part: NodePart, { warnings }: Rechecked, counts: Counts): Totals {
  const { planned, kept, waiting, reasons } = counts;
  const isUnknown = part.pods === undefined || part.usage === undefined;
  return {
    ...{ unit: 'localstorage', node: part.name, planned, kept, waiting, reasons, warned: warnings.length },
    ...(isUnknown && { state: 'Unknown' }),
  };
}

type Rule =
  { readonly storage: LocalStoragePolicy } | { readonly storage: undefined; readonly reason: NodeKeepReason };

function ruleOf(governance: NodeGovernance): Rule {
  if (governance.kind === 'keep') return { storage: undefined, reason: governance.reason };
  const storage = governance.nodes.localStorageEviction;
  return storage === undefined ? { storage, reason: 'RuleOff' } : { storage };
}

/** As a pass at the moment of the look, which a snapshot keeps; where it does not say when that was, figures may be of any age. */
function planOf({ pods, usage }: NodePart, rule: Rule, { now }: PlanOptions): LocalStoragePlan {
  if (rule.storage === undefined) return keepAllPods(pods ?? [], rule.reason);
  const isDated = usage !== undefined && usage.atMs > 0;
  const given = isDated ? { now: new Date(usage.atMs), staleAfterMs } : { now };
  return planLocalStorage({ pods, usage }, { policy: rule.storage, ...given });
}

/** A pod that the agent would ask for, and why the controller would not evict it. */
export interface RefusedPod {
  readonly verdict: 'Keep';
  readonly reason: Extract<EvictionKeepReason, 'KeepMarked' | 'NamespaceUnknown'>;
  readonly pod: StoragePod;
  readonly refused: PodEviction;
}

interface Rechecked {
  /** In the order in which they are asked for. */
  readonly evictions: readonly PodEviction[];
  readonly warnings: readonly LimitWarning[];
  readonly kept: readonly (KeptPod | RefusedPod)[];
}

/** As the controller, which sees the namespaces: no agent does. */
function rechecked({ evictions, warnings, kept }: LocalStoragePlan, namespaces: Namespaces): Rechecked {
  const judged = evictions.toSorted(byExcess).map((one) => refusal(one, namespaces) ?? one);
  return {
    evictions: judged.filter((one) => one.verdict === 'Evict'),
    warnings,
    kept: [...judged.filter((one) => one.verdict === 'Keep'), ...kept],
  };
}

function refusal(refused: PodEviction, namespaces: Namespaces): RefusedPod | undefined {
  const { pod } = refused;
  const reason = judgeNamespace(namespaces?.get(pod.namespace));
  return reason && { verdict: 'Keep', reason, pod, refused };
}

const objectOf = ({ namespace, name, uid }: StoragePod, node: string): PodObject => ({
  ...{ kind: 'Pod', namespace, name, uid, node },
});
