import { governNode } from '../../api/policy/node-governance.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { wantedOn } from '../../api/wanted-images.ts';
import type { EvictionFacts } from '../../controllers/eviction/facts.ts';
import { noMemory } from '../../controllers/eviction/memory.ts';
import { replicasOf } from '../../controllers/eviction/pace.ts';
import { planEvictions } from '../../controllers/eviction/plan.ts';
import { explainEviction } from '../../controllers/eviction/words.ts';
import { decisionsOf, type PodGcFacts } from '../../controllers/podgc/facts.ts';
import { PodGcMemory } from '../../controllers/podgc/observe.ts';
import { planPodGc } from '../../controllers/podgc/plan.ts';
import { explainPod } from '../../controllers/podgc/words.ts';
import { inForceForMs } from '../../gc/hold.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { byName, type ByUid, type PlanFacts } from '../../snapshot/plan-facts.ts';
import {
  explained,
  unitPlan,
  type Decision,
  type PlanDocument,
  type PlanOptions,
  type PolicyCount,
  type Totals,
  type UnitPlan,
} from './document.ts';
import { planNode } from './node.ts';
import { holdNotes, imageListNotes, notesOn, paceNotes } from './notes.ts';
import { unknownIn } from './unknown.ts';

/** Plans what the controller and the agents would do, with their own plan functions: the cluster first, then node by node. */
export function planUnits(facts: PlanFacts, options: PlanOptions): PlanDocument {
  const unknown = unknownIn(facts, false);
  const state = unknown.some(({ what }) => what === 'pods') ? 'Unknown' : undefined;
  const units = [
    planPods(facts, state, options),
    ...planRequested(facts, options),
    ...planNodes(facts, options),
  ];
  const decisions = units.flatMap((unit) => unit.decisions);
  const governing = new Set(decisions.flatMap(({ policy }) => policy ?? []));
  // An object that no policy governs may be one that a policy should.
  const isGoverned = options.only !== undefined && governing.size > 0;
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'Plan',
    generatedAt: formatRfc3339(options.now),
    decisions,
    summary: units.flatMap(({ summary }) => summary ?? []),
    totals: [...units.flatMap(({ totals }) => totals ?? []), ...facts.reports.flatMap(reportTotals)],
    policies: policyCounts(facts, decisions),
    unknown,
    idle: facts.idle,
    notes: [
      ...notesOn(facts, options.now, ({ name }) => !isGoverned || governing.has(name)),
      ...imageListNotes(facts, options.now),
      ...paceNotes(decisions),
      ...units.flatMap(({ notes = [] }) => notes),
    ],
  };
}

function planNodes(facts: PlanFacts, options: PlanOptions): readonly UnitPlan[] {
  const { policies } = facts;
  const nodes = facts.nodes && byName(facts.nodes);
  const namespaces = facts.namespaces && byName(facts.namespaces);
  return facts.parts.flatMap((part) => {
    const node = nodes?.get(part.name);
    const governance = governNode(policies, node);
    // A plan for later does not make the list older than it was.
    const readAt = facts.takenAt ?? options.now;
    const wanted = facts.wanted === undefined ? undefined : wantedOn(facts.wanted, node?.labels, readAt);
    return planNode({ policies, part, governance, wanted, namespaces }, options);
  });
}

/** Plans the controller's pod GC. Pods that are not known have no decision; without known policies, none has. */
function planPods(facts: PlanFacts, state: 'Unknown' | undefined, options: PlanOptions): UnitPlan {
  if (facts.policies === undefined) return { decisions: [] };
  const seen = factsOf(facts, options);
  const plan = planPodGc(seen, { policies: facts.policies, now: options.now });
  const decided = explained(decisionsOf(plan), (decision) => explainPod(decision, plan));
  const { decisions, totals } = unitPlan({ unit: 'podgc', node: null, state }, decided, options);
  if (plan.policies.length === 0) return { decisions };
  const notes = plan.policies.flatMap(({ policy, governed, removable, selected: due, holdLeftMs: leftMs }) =>
    policy.pods === undefined
      ? []
      : holdNotes(policy, policy.pods.hold, {
          due,
          governed,
          removable,
          leftMs,
          isKnown: seen.inForceForMs.has(policy.name),
          now: options.now,
          removal: `delete ${due} of ${governed} pods`,
          field: 'pods.safety.holdAbove',
        }),
  );
  const tripped = plan.policies.flatMap(({ policy, trippedPercent }) =>
    trippedPercent === undefined ? [] : [[policy.name, Math.round(trippedPercent)] as const],
  );
  const open = tripped.length > 0 && { tripped: Object.fromEntries(tripped) };
  return { decisions, totals: { ...totals, ...open }, notes };
}

/** The facts that the controller would have in its first pass. */
function factsOf(facts: PlanFacts, { assumeElapsed, now }: PlanOptions): PodGcFacts {
  const first = new PodGcMemory().observe(
    {
      pods: store(facts.pods),
      nodes: store(facts.nodes),
      namespaces: store(facts.namespaces),
      jobs: () => store(facts.jobs),
      replicaSets: () => store(facts.replicaSets),
    },
    facts.policies ?? [],
    {
      failedBefore: new Map(),
      openBreakers: facts.openBreakers ?? new Map(),
      storedInForce: new Map(),
      monotonicMs: 0,
      wallMs: now.getTime(),
      maxGapMs: Infinity,
    },
  );
  const inForce = namesInForce(facts);
  const observed = {
    ...first,
    inForceForMs: rulesInForceForMs(facts, now),
    // A controller that runs applies a proposed policy, with other limits perhaps, to the nodes that it has seen.
    leftOpenForMs: new Map([...first.leftOpenForMs].filter(([name]) => inForce.has(name))),
  };
  if (facts.nodes === undefined) return { ...observed, nodes: undefined, missingForMs: new Map() };
  // Pods that are not known may refer to more missing nodes, which open the circuit breaker.
  if (!assumeElapsed || facts.part !== undefined) return observed;
  const elapsed = (names: readonly string[]): ReadonlyMap<string, number> =>
    new Map(names.map((name) => [name, Infinity]));
  return {
    ...observed,
    missingForMs: elapsed([...observed.missingForMs.keys()]),
    closedForMs: elapsed((facts.policies ?? []).map(({ name }) => name)),
  };
}

/** Only the status shows whether rules are new; for proposed policies nothing does. */
const rulesInForceForMs = ({ policies = [], inForce }: PlanFacts, now: Date): PodGcFacts['inForceForMs'] =>
  new Map(
    policies.flatMap((policy) => {
      const ms = isInvalid(policy) ? undefined : inForceForMs(policy, inForce?.get(policy.name), now);
      return ms === undefined ? [] : [[policy.name, ms]];
    }),
  );

/** Names of the policies of the plan that are in force: not of those of `--policy`. Ranking copies a policy, but not its blocks. */
function namesInForce({ policies = [], replaced = policies }: PlanFacts): ReadonlySet<string> {
  const isSame = (a: Policy | InvalidPolicy, b: Policy | InvalidPolicy): boolean =>
    a.uid === b.uid && a.pods === b.pods;
  return new Set(
    policies.filter((policy) => replaced.some((before) => isSame(policy, before))).map(({ name }) => name),
  );
}

const store = <T>(items: ByUid<T> | undefined): { readonly items: ByUid<T>; readonly synced: boolean } => ({
  items: items ?? new Map<string, T>(),
  synced: items !== undefined,
});

/**
 * Plans the evictions that agents request in their reports, as the controller does: by node and unit, in its order. Checks that need a
 * live read of the pod and its disruption budgets are left out.
 */
function planRequested(facts: PlanFacts, options: PlanOptions): readonly UnitPlan[] {
  const eviction = evictionFacts(facts);
  if (eviction === undefined) return [];
  const given = { policies: facts.policies ?? [], now: options.now, monotonicMs: 0 };
  const decisions = planEvictions(eviction, given);
  const places = Map.groupBy(decisions, ({ unit, target: { node } }) => `${node} ${unit}`);
  return [...places.values()].flatMap((decided) => {
    const [first] = decided;
    if (first === undefined) return [];
    const place = { unit: first.unit, node: first.target.node };
    return unitPlan(place, explained(decided, explainEviction), options);
  });
}

/** undefined = no report requests an eviction, or too little is known to decide. */
function evictionFacts({ policies, pods, nodes, namespaces, reports }: PlanFacts): EvictionFacts | undefined {
  const requesting = reports.filter(({ requests }) => requests.length > 0);
  if (requesting.length === 0 || !policies || !pods || !nodes || !namespaces) return undefined;
  return {
    // Without memory nothing waits for time: all that are due are listed.
    reports: requesting,
    pods,
    memory: noMemory,
    replicas: replicasOf({ reports: requesting, pods, memory: noMemory }),
    nodes: byName(nodes),
    namespaces: byName(namespaces),
  };
}

function reportTotals(report: NodeReportFacts): readonly Totals[] {
  const { reportedAtMs, degraded } = report;
  const common = {
    node: report.name,
    planned: null,
    kept: null,
    waiting: null,
    reasons: {},
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
