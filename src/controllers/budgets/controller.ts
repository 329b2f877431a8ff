import type { BudgetsReport } from '../../api/report/budgets-report.ts';
import { hasNamespaceBudgets } from '../../api/policy/matching.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import type { Waiting } from '../../runtime/scheduling/loop.ts';
import type { UnitContext } from '../context.ts';
import { namespaceOverBudget } from './events.ts';
import { noMemory, type BudgetMemory, type BudgetPlan } from './facts.ts';
import { showBudgets, type BudgetMetrics } from './metrics.ts';
import { planBudgets } from './plan.ts';

/** The reports of the agents. */
interface UsageStore extends Store<NodeReportFacts> {
  /** Returns whether the reports have the usage, if it is needed. */
  keepUsage(isNeeded: boolean): boolean;
}

export interface BudgetDeps extends UnitContext {
  readonly policies: Pick<Store<unknown>, 'synced'>;
  readonly nodeReports: UsageStore;
  readonly metrics: BudgetMetrics;
  /** Called after each pass, by UID of the policy. */
  readonly onPass: (reports: ReadonlyMap<string, BudgetsReport>) => void;
}

/** Warns about namespaces that exceed a budget of local storage. It removes and evicts nothing. */
export class BudgetController {
  readonly #deps: BudgetDeps;
  #memory: BudgetMemory = noMemory;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  /** One pass. Waits, and leaves all as it was, while a cache that budgets need is not current. */
  reconcile(): Waiting {
    const { nodeReports, nodes, namespaces, policies, policySet, clock, metrics, onPass } = this.#deps;
    if (!policies.synced) return 'waiting';
    const { ranked } = policySet;
    const hasBudgets = hasNamespaceBudgets(ranked);
    const hasUsage = nodeReports.keepUsage(hasBudgets);
    const isComplete = hasUsage && [nodeReports, nodes, namespaces].every(({ synced }) => synced);
    if (hasBudgets && !isComplete) return 'waiting';
    const facts = {
      policies: ranked,
      nodes: nodes.items.values(),
      namespaces: namespaces.items.values(),
      reports: nodeReports.items.values(),
      memory: this.#memory,
    };
    const plan = planBudgets(facts, clock.now());
    showBudgets(metrics, plan);
    this.#warn(plan);
    this.#memory = plan.memory;
    onPass(plan.reports);
    return undefined;
  }

  #warn({ warnings }: Pick<BudgetPlan, 'warnings'>): void {
    const { recorder, log } = this.#deps;
    for (const warning of warnings) {
      const event = namespaceOverBudget(warning);
      recorder.record(event);
      const { policy, namespace, scope } = warning.use;
      const fields = { policy: policy.name, namespace: namespace.name, scope, note: event.note };
      log.info(fields, 'namespace exceeds its budget');
    }
  }
}
