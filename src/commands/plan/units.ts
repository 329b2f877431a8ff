import { hasPressureRule, hasStorageRule } from '../../api/policy/matching.ts';
import { governNode } from '../../api/policy/node-governance.ts';
import { isInvalid } from '../../api/policy/policy.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { byName, type PlanFacts } from '../../snapshot/plan-facts.ts';
import { planContainers } from './containergc.ts';
import type { Decision, PlanDocument, PlanOptions, PolicyCount, Totals, UnitPlan } from './document.ts';
import { planImages } from './imagegc.ts';
import { planRequested, planStorage } from './localstorage.ts';
import { planPressure } from './nodepressure.ts';
import { notesOn } from './notes.ts';
import { planPods } from './podgc.ts';

/** Plans what the controller and the agents would do, with their own plan functions: the cluster first, then node by node. */
export function planUnits(facts: PlanFacts, options: PlanOptions): PlanDocument {
  const units = [planPods(facts, options), ...planRequested(facts, options), ...planNodes(facts, options)];
  const decisions = units.flatMap((unit) => unit.decisions);
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'Plan',
    generatedAt: formatRfc3339(options.now),
    decisions,
    summary: units.flatMap(({ summary }) => summary ?? []),
    totals: [...units.flatMap(({ totals }) => totals ?? []), ...facts.reports.flatMap(reportTotals)],
    policies: policyCounts(facts, decisions),
    notes: notesOn(facts),
  };
}

function planNodes(facts: PlanFacts, options: PlanOptions): readonly UnitPlan[] {
  const nodes = facts.nodes && byName(facts.nodes);
  const namespaces = facts.namespaces && byName(facts.namespaces);
  return facts.parts.flatMap((part) => {
    const governance = governNode(facts.policies, nodes?.get(part.name));
    const place = { part, governance, namespaces };
    const storage = hasStorageRule(facts.policies) ? [planStorage(place, options)] : [];
    const isBusy = storage.some(({ totals }) => (totals?.planned ?? 0) > 0);
    return [
      planImages(part, governance, options),
      planContainers(part, governance, options),
      // Without a rule for them, the usage is not even read.
      ...storage,
      ...(hasPressureRule(facts.policies) ? [planPressure({ ...place, isBusy }, options)] : []),
    ];
  });
}

/** The totals of a node of which only the report was read: sums, no objects. */
function reportTotals(report: NodeReportFacts): readonly Totals[] {
  const { reportedAtMs, degraded } = report;
  const common = {
    ...{ node: report.name, planned: null, kept: null, waiting: null, reasons: {} },
    ...(degraded && { state: 'Degraded' }),
    reportedAt: reportedAtMs === undefined ? null : formatRfc3339(new Date(reportedAtMs)),
  };
  const images = { removable: report.imagesRemovable, removableBytes: report.imageBytesRemovable };
  return [
    { unit: 'imagegc', ...common, ...images },
    { unit: 'containergc', ...common, removable: report.containersRemovable },
  ];
}

/** The valid policies, in the order in which they govern. */
function policyCounts({ policies = [] }: PlanFacts, decisions: readonly Decision[]): readonly PolicyCount[] {
  const planned = new Map<string | null, number>();
  for (const { order, policy } of decisions)
    if (order !== null) planned.set(policy, (planned.get(policy) ?? 0) + 1);
  return policies.flatMap((policy) =>
    isInvalid(policy)
      ? []
      : [{ name: policy.name, mode: policy.mode, planned: planned.get(policy.name) ?? 0 }],
  );
}
