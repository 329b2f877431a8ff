import type { NamespaceBudget, NodesPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { BudgetNamespace, UsageReport } from '../../../../src/controllers/budgets/facts.ts';
import type { NamespacesUsage } from '../../../../src/kube/cache/node-report-facts.ts';
import { everything, nodesRules, now, policy } from '../../../builders.ts';

export const gib = 2 ** 30;

/** A budget of every namespace; sizes in GiB. */
export const budget = ({
  perNode,
  cluster,
  selector = everything,
}: {
  readonly perNode?: number;
  readonly cluster?: number;
  readonly selector?: NamespaceBudget['namespaceSelector'];
}): NamespaceBudget => ({
  namespaceSelector: selector,
  perNodeBytes: perNode && perNode * gib,
  clusterBytes: cluster && cluster * gib,
});

/** The policy `nodes`, in mode DryRun. */
export const budgetPolicy = (
  namespaceBudgets: readonly NamespaceBudget[],
  over: Partial<NodesPolicy> = {},
  name = 'nodes',
): Policy =>
  policy({ name, mode: 'DryRun', pods: undefined, nodes: nodesRules({ namespaceBudgets, ...over }) });

export const namespace = (name: string, labels: BudgetNamespace['labels'] = {}): BudgetNamespace => ({
  name,
  uid: `uid-${name}`,
  labels,
});

/** The report of a node, with namespaces and pods (`team-a/ci-0`) and their GiB. */
export const usageReport = (
  name: string,
  namespaces: Readonly<Record<string, number>>,
  {
    pods = {},
    ageMinutes = 0,
    unlistedAtMost = 0,
  }: {
    readonly pods?: Readonly<Record<string, number>>;
    readonly ageMinutes?: number;
    readonly unlistedAtMost?: number;
  } = {},
): UsageReport & { readonly usage: NamespacesUsage } => ({
  name,
  usage: {
    measuredAtMs: now.getTime() - ageMinutes * 60_000,
    namespaces: Object.entries(namespaces).map(([ns, size]) => ({ name: ns, bytes: size * gib })),
    unlistedAtMostBytes: unlistedAtMost * gib,
    pods: Object.entries(pods).map(([key, size]) => {
      const [ns = '', pod = ''] = key.split('/');
      return { namespace: ns, name: pod, bytes: size * gib };
    }),
  },
});
