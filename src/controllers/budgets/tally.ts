import { hasNamespaceBudgets, isNamed, nodeMatcher } from '../../api/policy/matching.ts';
import { isInvalid, type NamespaceBudget, type NodesPolicy, type Policy } from '../../api/policy/policy.ts';
import { SelectorIndex } from '../../api/policy/selector-index.ts';
import { isFresh } from '../../api/report/fresh.ts';
import type { NamespacesUsage } from '../../kube/cache/node-report-facts.ts';
import { sum } from '../../runtime/sum.ts';
import type { BudgetFacts, BudgetNamespace } from './facts.ts';

/** The usage of the namespaces with a budget, on the nodes of a policy. */
export interface PolicyTally {
  readonly policy: Pick<Policy, 'name' | 'uid'>;
  readonly readings: readonly Reading[];
  readonly namespaces: readonly NamespaceTally[];
}

/** The usage of a governed node. */
export interface Reading {
  readonly node: string;
  /** As last reported within a day; undefined = unknown. */
  readonly last: NamespacesUsage | undefined;
  /** The same if it is recent; undefined = unknown now. */
  readonly recent: NamespacesUsage | undefined;
}

export interface NamespaceTally {
  readonly namespace: BudgetNamespace;
  readonly budget: NamespaceBudget;
  /** By recent reports alone. */
  readonly recent: Sum;
  /** By the last report of every node within a day, with the most that is possible on nodes that do not list the namespace. */
  readonly possible: Pick<Sum, 'bytes' | 'mostBytes'>;
}

export interface Sum {
  readonly bytes: number;
  /** Nodes with any usage. */
  readonly nodes: number;
  /** Nodes over the budget per node. */
  readonly nodesOver: number;
  /** The usage of the node with the most. */
  readonly mostBytes: number;
  readonly mostNode: string;
}

const noSum: Sum = { bytes: 0, nodes: 0, nodesOver: 0, mostBytes: 0, mostNode: '' };

/** Adds up the last known usage of the nodes of each valid policy with budgets. */
export function tallyUsage(
  { policies, nodes, namespaces, reports }: Omit<BudgetFacts, 'memory'>,
  now: Date,
): readonly PolicyTally[] {
  const governorOf = nodeMatcher(policies);
  const governed = Map.groupBy(nodes, ({ labels }) => governorOf(labels)?.uid);
  const usages = new Map([...reports].map(({ name, usage }) => [name, usage]));
  const existing = [...namespaces];
  return policies.flatMap((policy) => {
    if (isInvalid(policy) || policy.nodes === undefined || !hasNamespaceBudgets([policy])) return [];
    const readings = (governed.get(policy.uid) ?? []).map(({ name }) => {
      const usage = usages.get(name);
      const last = isPast(usage?.measuredAtMs, now) ? undefined : usage;
      return { node: name, last, recent: isFresh(last?.measuredAtMs, now) ? last : undefined };
    });
    return [{ policy, readings, namespaces: tallied(budgeted(policy.nodes, existing), readings) }];
  });
}

const dayMs = 24 * 60 * 60_000;

/** Whether the usage counts as unknown: an agent that was removed does not report the end of an excess. */
const isPast = (atMs: number | undefined, now: Date): boolean =>
  atMs !== undefined && now.getTime() - atMs > dayMs;

type Budgeted = Pick<NamespaceTally, 'namespace' | 'budget'>;

/** The namespaces with a budget: that of the first entry that selects them. */
function budgeted(
  { namespaceBudgets, excludeNamespaces }: Pick<NodesPolicy, 'namespaceBudgets' | 'excludeNamespaces'>,
  namespaces: readonly BudgetNamespace[],
): readonly Budgeted[] {
  const index = new SelectorIndex(namespaceBudgets.map(({ namespaceSelector }) => namespaceSelector));
  return namespaces.flatMap((namespace) => {
    const selecting = index.select(namespace.labels);
    const budget = namespaceBudgets[selecting.firstIn(selecting)];
    return budget === undefined || isNamed(excludeNamespaces, namespace.name) ? [] : [{ namespace, budget }];
  });
}

function tallied(namespaces: readonly Budgeted[], readings: readonly Reading[]): readonly NamespaceTally[] {
  const unlisted = readings.map(unlistedIn);
  const possible = {
    bytes: sum(unlisted),
    mostBytes: unlisted.reduce((most, bytes) => Math.max(most, bytes), 0),
  };
  const tallies = new Map<string, NamespaceTally>(
    namespaces.map((one) => [one.namespace.name, { ...one, recent: noSum, possible }]),
  );
  for (const reading of readings)
    for (const { name, bytes } of reading.last?.namespaces ?? []) {
      const tally = tallies.get(name);
      if (tally !== undefined && bytes > 0) tallies.set(name, withUsage(tally, reading, bytes));
    }
  return [...tallies.values()];
}

/** At most this much is used by each namespace that the report does not list. */
const unlistedIn = ({ last }: Reading): number => last?.unlistedAtMostBytes ?? 0;

function withUsage(tally: NamespaceTally, reading: Reading, bytes: number): NamespaceTally {
  const { namespace, budget, recent, possible } = tally;
  const { perNodeBytes = Infinity } = budget;
  return {
    namespace,
    budget,
    recent:
      reading.recent === undefined
        ? recent
        : {
            bytes: recent.bytes + bytes,
            nodes: recent.nodes + 1,
            nodesOver: recent.nodesOver + Number(bytes > perNodeBytes),
            mostBytes: Math.max(recent.mostBytes, bytes),
            mostNode: bytes > recent.mostBytes ? reading.node : recent.mostNode,
          },
    possible: {
      bytes: possible.bytes - unlistedIn(reading) + bytes,
      // A listed namespace uses at least as much as the unlisted ones.
      mostBytes: Math.max(possible.mostBytes, bytes),
    },
  };
}
