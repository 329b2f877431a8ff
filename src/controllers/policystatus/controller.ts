import { resourcesOf, rightsOf, rightText, type Right } from '../../api/policy/needs.ts';
import type { BudgetsReport } from '../../api/report/budgets-report.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { PolicySet } from '../../api/policy/policy-set.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { Store } from '../../kube/cache/reflector.ts';
import type { StaleCache } from '../../kube/cache/staleness.ts';
import type { UnitContext } from '../context.ts';
import { invalidPolicy } from './events.ts';
import { showConditions, type PolicyStatusMetrics } from './metrics.ts';
import { rollUpNodes, type NodesSeen } from './nodes.ts';
import { planStatus, storedStatus, writeAfterMs } from './plan.ts';
import type { Obstacles, PolicyStatus, StatusFacts } from './status.ts';

type PolicyName = Pick<Policy, 'uid' | 'name'>;

interface PolicyStatusDeps extends UnitContext {
  readonly policySet: Pick<PolicySet, 'ranked' | 'storedStatus'>;
  /** The reports of the agents; synced only while the watch works. */
  readonly nodeReports: Store<NodeReportFacts>;
  /** Writes to this policy alone, not to a later one of its name. */
  readonly writeStatus: (policy: PolicyName, status: PolicyStatus, signal: AbortSignal) => Promise<void>;
  /** The caches that have not been current for two minutes. */
  readonly staleCaches: () => readonly StaleCache[];
  /** Those of the controller. */
  readonly rights: {
    readonly missing: readonly Right[];
    isKnown(right: Right): boolean;
  };
  readonly holdsLease: () => boolean;
  readonly metrics: PolicyStatusMetrics;
}

/** Keeps the status of each policy current. */
export class PolicyStatusController {
  readonly #deps: PolicyStatusDeps;
  readonly #memory = new Map<string, Memory>();
  #budgets: ReadonlyMap<string, BudgetsReport> = new Map();

  constructor(deps: PolicyStatusDeps) {
    this.#deps = deps;
  }

  /** Remembers the reports of a pass; the next `reconcile` writes them. */
  observe(reports: ReadonlyMap<string, PolicyPassReport>): void {
    for (const [uid, report] of reports) {
      const known = this.#memory.get(uid);
      this.#memory.set(uid, { ...known, report, deletedSince: (known?.deletedSince ?? 0) + report.deleted });
    }
  }

  /** Replaces the reports about budgets; the next `reconcile` writes them. */
  observeBudgets(reports: ReadonlyMap<string, BudgetsReport>): void {
    this.#budgets = reports;
  }

  /** Writes each status that differs from the stored one; the next pass retries a failed write. */
  async reconcile(signal: AbortSignal): Promise<void> {
    await this.#reconcile(false, signal);
  }

  /** Writes them also where less time has passed since the last write than usual: this process ends, and its counts with it. */
  async flush(signal: AbortSignal): Promise<void> {
    await this.#reconcile(true, signal);
  }

  async #reconcile(isLast: boolean, signal: AbortSignal): Promise<void> {
    const { ranked } = this.#deps.policySet;
    const uids = new Set(ranked.map(({ uid }) => uid));
    for (const uid of this.#memory.keys()) if (!uids.has(uid)) this.#memory.delete(uid);
    const nodes = this.#rollUp();
    const selectable = this.#selectable();
    const conditions = new Map<string, PolicyStatus['conditions']>();
    for (const policy of ranked) {
      if (!this.#deps.holdsLease()) return;
      this.#reportInvalid(policy);
      const known = { ...nodes?.get(policy.uid), selectable };
      const status = await this.#reconcileOne(policy, known, isLast, signal);
      conditions.set(policy.name, status.conditions);
    }
    showConditions(this.#deps.metrics, conditions);
  }

  /** By UID of the policy; undefined while nodes or reports are not known. */
  #rollUp(): ReadonlyMap<string, NodesSeen> | undefined {
    const { policySet, nodes, nodeReports, clock } = this.#deps;
    if (!nodes.synced || !nodeReports.synced) return undefined;
    const observed = { nodes: nodes.items.values(), reports: nodeReports.items.values() };
    return rollUpNodes(policySet.ranked, observed, clock.now());
  }

  #selectable(): NonNullable<StatusFacts['selectable']> {
    const { nodes, namespaces } = this.#deps;
    return {
      nodes: nodes.synced ? [...nodes.items.values()] : undefined,
      namespaces: namespaces.synced ? [...namespaces.items.values()] : undefined,
    };
  }

  /** The status that the policy should have, written or not. */
  async #reconcileOne(
    policy: Policy | InvalidPolicy,
    { counts: nodes, removals, unmatched, selectable }: Partial<NodesSeen> & Pick<StatusFacts, 'selectable'>,
    isLast: boolean,
    signal: AbortSignal,
  ): Promise<PolicyStatus> {
    const { policySet, clock } = this.#deps;
    const {
      written,
      writtenAtMs = -Infinity,
      report,
      deletedSince,
    } = this.#memory.get(policy.uid) ?? emptyMemory;
    // The cache may not show our own last write yet; its deletions must not count twice.
    const stored = newer(written, storedStatus(policySet.storedStatus(policy.uid)));
    const known = { policy, stored, report, deletedSince, obstacles: this.#obstaclesTo(policy) };
    const facts = {
      ...known,
      selectable,
      nodes,
      removals,
      unmatched,
      budgets: this.#budgets.get(policy.uid),
    };
    const planned = planStatus(facts, clock.now());
    const waitMs = writeAfterMs(planned, stored);
    const waitedMs = clock.monotonicMs() - writtenAtMs;
    if (waitMs !== undefined && (isLast || waitedMs >= waitMs))
      await this.#write(policy, { planned, deletedSince }, signal);
    return planned;
  }

  #obstaclesTo(policy: Policy | InvalidPolicy): Obstacles {
    if (isInvalid(policy)) return { missingRights: [], unknownRights: [], staleCaches: [] };
    const { staleCaches, rights } = this.#deps;
    const [resources, needed] = [resourcesOf(policy), rightsOf(policy)];
    const missing = rights.missing.map(rightText);
    return {
      // Another policy may need the same right, which another value of the chart grants for that.
      missingRights: needed.filter((right) => missing.includes(rightText(right))),
      unknownRights: needed.filter((right) => !rights.isKnown(right)),
      staleCaches: staleCaches().filter(({ resource }) => resources.includes(resource)),
    };
  }

  async #write(
    { uid, name }: PolicyName,
    { planned, deletedSince }: { readonly planned: PolicyStatus; readonly deletedSince: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log, writeStatus } = this.#deps;
    try {
      await writeStatus({ uid, name }, planned, signal);
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ policy: name, err }, 'writing policy status failed');
      return;
    }
    const now = this.#memory.get(uid) ?? emptyMemory;
    this.#memory.set(uid, {
      ...now,
      deletedSince: now.deletedSince - deletedSince,
      written: planned,
      writtenAtMs: clock.monotonicMs(),
    });
  }

  #reportInvalid(policy: Policy | InvalidPolicy): void {
    if (!('problems' in policy)) return;
    const memory = this.#memory.get(policy.uid) ?? emptyMemory;
    if (memory.invalidGeneration === policy.generation) return;
    this.#memory.set(policy.uid, { ...memory, invalidGeneration: policy.generation });
    this.#deps.log.error({ policy: policy.name, problems: policy.problems }, 'policy is invalid');
    this.#deps.recorder.record(invalidPolicy(policy));
  }
}

interface Memory {
  readonly report?: PolicyPassReport;
  readonly deletedSince: number;
  readonly written?: PolicyStatus;
  readonly writtenAtMs?: number;
  readonly invalidGeneration?: number;
}

const emptyMemory: Memory = { deletedSince: 0 };

/** The one with the higher total of deletions: our own last write or the cached status. */
function newer(
  written: PolicyStatus | undefined,
  cached: PolicyStatus | undefined,
): PolicyStatus | undefined {
  if (written === undefined || cached === undefined) return written ?? cached;
  const total = (status: PolicyStatus): number => status.pods?.deletedTotal ?? 0;
  return total(cached) > total(written) ? cached : written;
}
