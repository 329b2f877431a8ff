import { SelectorIndex } from '../../api/policy/selector-index.ts';
import type { LabelSelector } from '../../api/policy/policy.ts';
import { summarize } from '../../gc/summary.ts';
import { nearestNames } from '../../runtime/text/nearest.ts';
import { byName, partText, type PlanFacts } from '../../snapshot/plan-facts.ts';
import { UsageError } from '../../process/exit.ts';
import { countsIn, type Decision, type PlanDocument, type Totals } from './document.ts';

/** The pods that a command shows, with what belongs to them on nodes; undefined = all. */
export interface PodFilter {
  readonly namespace: string | undefined;
  readonly selector: LabelSelector | undefined;
}

/** Throws UsageError for a namespace that does not exist and has no pods, or whose pods the snapshot leaves out. */
export function checkNamespace({ namespace }: PodFilter, facts: PlanFacts): void {
  const { namespaces, part } = facts;
  if (namespace === undefined || namespaces === undefined) return;
  const known = byName(namespaces);
  if (known.has(namespace) || hasPods(namespace, facts)) return;
  if (part?.namespace !== undefined && part.namespace !== namespace)
    throw new UsageError([`the snapshot has no pods of namespace ${namespace}, only those${partText(part)}`]);
  throw noNamespace(namespace, [...known.keys()]);
}

function hasPods(namespace: string, { pods }: PlanFacts): boolean {
  for (const pod of pods?.values() ?? []) if (pod.namespace === namespace) return true;
  return false;
}

/** The error for a namespace that does not exist, with the known names most similar to it. */
export const noNamespace = (name: string, known: readonly string[]): UsageError =>
  new UsageError([`there is no namespace ${name}${nearestNames(name, known)}`]);

export type IsShown = (pod: string) => boolean;

/** undefined = all pods are shown, and what belongs to none. */
export function shownPods({ namespace, selector }: PodFilter, { pods }: PlanFacts): IsShown | undefined {
  if (selector === undefined)
    return namespace === undefined ? undefined : (pod) => pod.startsWith(`${namespace}/`);
  const index = new SelectorIndex([selector]);
  const shown = new Set<string>();
  for (const pod of pods?.values() ?? []) {
    const selecting = index.select(pod.labels);
    const isSelected = selecting.firstIn(selecting) === 0;
    if (isSelected && (namespace ?? pod.namespace) === pod.namespace)
      shown.add(`${pod.namespace}/${pod.name}`);
  }
  return (pod) => shown.has(pod);
}

/** A note if labels hide objects of pods that do not exist any more, of which only the name is known. */
export function goneNotes(
  decisions: readonly Decision[],
  { namespace, selector }: PodFilter,
  { pods, part }: PlanFacts,
): readonly string[] {
  // Whether a pod outside of a part exists is not known.
  if (selector === undefined || pods === undefined || part !== undefined) return [];
  const known = new Set<string>();
  for (const pod of pods.values()) known.add(`${pod.namespace}/${pod.name}`);
  const isHidden = ({ object }: Decision): boolean =>
    object.kind !== 'Pod' &&
    object.pod?.startsWith(namespace === undefined ? '' : `${namespace}/`) === true &&
    !known.has(object.pod);
  const { length: count } = decisions.filter(isHidden);
  if (count === 0) return [];
  const subject = count === 1 ? 'one object of such a pod is' : `${count} objects of such pods are`;
  return [`The labels of pods that are gone are not known: ${subject} not shown.`];
}

/**
 * The part of a plan about some pods and what belongs to them on nodes. All objects were planned, so a threshold counts the other pods too. The
 * plan must list kept objects; `kept` says whether the result does.
 */
export function shownPart(plan: PlanDocument, isShown: IsShown, kept: boolean): PlanDocument {
  const decisions = plan.decisions.filter((decision) => isAbout(decision, isShown));
  const planned = (name: string): number =>
    decisions.filter(({ order, policy }) => order !== null && policy === name).length;
  return {
    ...plan,
    decisions: listedOf(decisions, kept),
    // A disk does not belong to a pod.
    summary: [],
    totals: [...Map.groupBy(decisions, placeOf).values()].map((own) => totalsOf(own, plan)),
    policies: plan.policies.map((policy) => ({ ...policy, planned: planned(policy.name) })),
  };
}

export const listedOf = (decisions: readonly Decision[], kept: boolean): readonly Decision[] =>
  kept ? decisions : decisions.filter(({ verdict }) => verdict !== 'Keep');

function isAbout({ object }: Decision, isShown: IsShown): boolean {
  const pod = object.kind === 'Pod' ? `${object.namespace}/${object.name}` : object.pod;
  return pod !== undefined && isShown(pod);
}

/** podgc is one sequence for the cluster. */
const nodeOf = ({ unit, object }: Decision): string | null => (unit === 'podgc' ? null : object.node);
const placeOf = (decision: Decision): string => `${decision.unit}/${nodeOf(decision) ?? ''}`;

function totalsOf(decisions: readonly Decision[], whole: PlanDocument): Totals {
  const [first] = decisions;
  if (first === undefined) throw new Error('a group is never empty');
  const summary = summarize(
    decisions.map(({ verdict, reason, bytes: size, eligibleAt }) => ({
      verdict,
      reason,
      bytes: size ?? undefined,
      eligibleAt: eligibleAt === null ? undefined : new Date(eligibleAt),
    })),
  );
  const { unit } = first;
  const node = nodeOf(first);
  const state = whole.totals.find((totals) => totals.unit === unit && totals.node === node)?.state;
  return {
    unit,
    node,
    ...countsIn(state, summary),
    ...(state === 'Unknown' && { state }),
    bytes: summary.bytes,
  };
}
