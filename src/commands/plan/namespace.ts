import type { Decision, PlanDocument, Totals } from './document.ts';

/**
 * The part of a plan about the pods of one namespace and what belongs to them on nodes. All objects were planned, so a threshold counts the pods
 * of every namespace. The plan must list kept objects; `kept` says whether the result does.
 */
export function inNamespace(plan: PlanDocument, namespace: string, kept: boolean): PlanDocument {
  const decisions = plan.decisions.filter((one) => isIn(one, namespace));
  const planned = (name: string): number =>
    decisions.filter(({ order, policy }) => order !== null && policy === name).length;
  return {
    ...plan,
    decisions: kept ? decisions : decisions.filter(({ verdict }) => verdict !== 'Keep'),
    // Disks are not of a namespace.
    summary: [],
    totals: [...Map.groupBy(decisions, placeOf).values()].map(totalsOf),
    policies: plan.policies.map((policy) => ({ ...policy, planned: planned(policy.name) })),
  };
}

const isIn = ({ object }: Decision, namespace: string): boolean =>
  object.kind === 'Pod' ? object.namespace === namespace : object.pod?.startsWith(`${namespace}/`) === true;

/** podgc is one sequence for the cluster. */
const nodeOf = ({ unit, object }: Decision): string | null => (unit === 'podgc' ? null : object.node);
const placeOf = (one: Decision): string => `${one.unit}/${nodeOf(one) ?? ''}`;

function totalsOf(decisions: readonly Decision[]): Totals {
  const [first] = decisions;
  if (first === undefined) throw new Error('a group is never empty');
  const counted = decisions.filter(({ verdict }) => verdict !== 'Warn');
  const reasons: Record<string, number> = {};
  for (const { reason } of counted) reasons[reason] = (reasons[reason] ?? 0) + 1;
  const removed = counted.filter(({ order }) => order !== null);
  const waiting = counted.filter(({ order, eligibleAt }) => order === null && eligibleAt !== null);
  return {
    ...{ unit: first.unit, node: nodeOf(first), planned: removed.length },
    ...{ kept: counted.length - removed.length, waiting: waiting.length, reasons },
    bytes: removed.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
  };
}
