import {
  budgetScopes,
  type BudgetFacts,
  type BudgetMemory,
  type BudgetPlan,
  type BudgetScope,
  type BudgetUse,
  type BudgetWarning,
} from './facts.ts';
import { tallyUsage, type NamespaceTally, type PolicyTally, type Reading, type Sum } from './tally.ts';
import { budgetsReport } from './words.ts';

/** An excess ends below this part of the budget, so that usage near the budget causes one Event. */
const endsBelow = 0.9;
/** Of one pass; the others are due in the next one. The recorder writes 200 new Events at once, and others need some. */
const maxWarnings = 64;
/** Usage above this part of a budget has a metric. */
const nearAbove = 0.8;
const maxNear = 64;
const maxPods = 5;

/** Decides which namespaces exceed their budgets, and which Events are due. */
export function planBudgets(facts: BudgetFacts, now: Date): BudgetPlan {
  const { memory } = facts;
  const judged = tallyUsage(facts, now).map((tally) => ({ tally, uses: usesIn(tally, memory) }));
  const uses = judged.flatMap((one) => one.uses).toSorted(byPart);
  const due = uses.filter(({ key, isExceeded }) => isExceeded && !memory.has(key)).slice(0, maxWarnings);
  return {
    reports: new Map(
      judged.map((one) => [one.tally.policy.uid, budgetsReport(one.tally, exceededIn(one.uses))]),
    ),
    warnings: due.map((use) => ({ use, pods: podsOf(use) })),
    near: uses.filter((use) => partOf(use) > nearAbove && !use.mayHaveEnded).slice(0, maxNear),
    counts: judged.flatMap((one) => countsOf(one.tally.policy.name, exceededIn(one.uses))),
    memory: new Set([...exceededIn(uses).filter(({ key }) => memory.has(key)), ...due].map(({ key }) => key)),
  };
}

interface JudgedUse extends BudgetUse {
  readonly key: string;
  readonly isExceeded: boolean;
  /** Of all nodes of the policy. */
  readonly readings: readonly Reading[];
}

/** The worst first. */
const usesIn = (all: PolicyTally, memory: BudgetMemory): readonly JudgedUse[] =>
  all.namespaces
    .flatMap((tally) => budgetScopes.flatMap((scope) => judge(all, { tally, scope }, memory)))
    .toSorted(byPart);

const exceededIn = (uses: readonly JudgedUse[]): readonly JudgedUse[] =>
  uses.filter(({ isExceeded }) => isExceeded);

/** Nothing without a budget of this scope. */
function judge(
  { policy, readings }: PolicyTally,
  { tally, scope }: { readonly tally: NamespaceTally; readonly scope: BudgetScope },
  memory: BudgetMemory,
): readonly JudgedUse[] {
  const { namespace, budget, recent, possible } = tally;
  const limitBytes = scope === 'node' ? budget.perNodeBytes : budget.clusterBytes;
  if (limitBytes === undefined) return [];
  const key = `${policy.uid}/${scope}/${namespace.uid}/${limitBytes}`;
  const endsAtBytes = memory.has(key) ? endsBelow * limitBytes : undefined;
  // Unknown usage begins no excess, but ends none either.
  const lasts = endsAtBytes !== undefined && bytesIn(possible, scope) >= endsAtBytes;
  const mayHaveEnded = lasts && bytesIn(recent, scope) < endsAtBytes;
  return [
    {
      policy,
      namespace,
      scope,
      limitBytes,
      usedBytes: mayHaveEnded ? bytesIn(possible, scope) : bytesIn(recent, scope),
      node: recent.mostNode,
      nodes: scope === 'node' ? recent.nodesOver : recent.nodes,
      mayHaveEnded,
      key,
      readings,
      isExceeded: lasts || bytesIn(recent, scope) > limitBytes,
    },
  ];
}

const bytesIn = ({ mostBytes, bytes }: Pick<Sum, 'bytes' | 'mostBytes'>, scope: BudgetScope): number =>
  scope === 'node' ? mostBytes : bytes;

const partOf = ({ usedBytes, limitBytes }: BudgetUse): number => usedBytes / limitBytes;

const byPart = (a: BudgetUse, b: BudgetUse): number =>
  partOf(b) - partOf(a) || (a.namespace.name < b.namespace.name ? -1 : 1);

const countsOf = (policy: string, exceeded: readonly BudgetUse[]): BudgetPlan['counts'] =>
  budgetScopes.map((scope) => ({
    policy,
    scope,
    exceeded: exceeded.filter((use) => use.scope === scope).length,
  }));

/** The largest pods of the namespace that recent reports list: on the node with the most, or on all nodes. */
const podsOf = ({ scope, node, namespace, readings }: JudgedUse): BudgetWarning['pods'] =>
  readings
    .filter((reading) => scope === 'cluster' || reading.node === node)
    .flatMap(({ recent }) => recent?.pods.filter((pod) => pod.namespace === namespace.name) ?? [])
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, maxPods);
