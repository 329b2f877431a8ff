import type { ContainerGcPlan } from '../../agent/containergc/facts.ts';
import { plannedContainers, planContainerGc } from '../../agent/containergc/plan.ts';
import { observeGone } from '../../agent/containergc/pods.ts';
import { explainContainer } from '../../agent/containergc/words.ts';
import type { ImageGcPlan } from '../../agent/imagegc/facts.ts';
import { planImageGc } from '../../agent/imagegc/plan.ts';
import { observeImages } from '../../agent/imagegc/records.ts';
import { missingAfter } from '../../agent/nodepressure/demands.ts';
import type { Demand } from '../../agent/nodepressure/facts.ts';
import {
  noContainers,
  type DiskSignal,
  type PlannedContainers,
  type ReclaimResult,
} from '../../api/node-pressure.ts';
import { hasPressureRule, hasStorageRule } from '../../api/policy/matching.ts';
import {
  governNode,
  nodeRule,
  type NodeGovernance,
  type NodeRule,
} from '../../api/policy/node-governance.ts';
import { isInvalid, type ImageGcPolicy, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { decisionsOf, type PodGcFacts } from '../../controllers/podgc/facts.ts';
import { noneSeen } from '../../controllers/podgc/finish.ts';
import { noneMissing } from '../../controllers/podgc/nodes.ts';
import { observe } from '../../controllers/podgc/observe.ts';
import { planPodGc } from '../../controllers/podgc/plan.ts';
import type { Decision as Planned } from '../../gc/decision.ts';
import { explainImage } from '../../agent/imagegc/words.ts';
import { explainPod } from '../../controllers/podgc/words.ts';
import { inForceForMs } from '../../gc/hold.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { byName, type ByUid, type NodePart, type PlanFacts } from '../../snapshot/plan-facts.ts';
import {
  listed,
  totalsOf,
  type Decision,
  type PlanDocument,
  type PlanOptions,
  type PolicyCount,
  type Totals,
  type UnitPlan,
} from './document.ts';
import { holdNotes } from './hold-notes.ts';
import { planRequested, planStorage } from './localstorage.ts';
import { planPressure, pressureOn, type Reclaim } from './nodepressure.ts';
import { imageListNotes, notesOn, paceNotes } from './notes.ts';

/** Plans what the controller and the agents would do, with their own plan functions: the cluster first, then node by node. */
export function planUnits(facts: PlanFacts, options: PlanOptions): PlanDocument {
  const units = [planPods(facts, options), ...planRequested(facts, options), ...planNodes(facts, options)];
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
    policiesUnknown: facts.policies === undefined ? true : undefined,
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
  const nodes = facts.nodes && byName(facts.nodes);
  const namespaces = facts.namespaces && byName(facts.namespaces);
  return facts.parts.flatMap((part) => {
    const governance = governNode(facts.policies, nodes?.get(part.name));
    const place = { part, governance, namespaces };
    const storage = hasStorageRule(facts.policies) ? [planStorage(place, options)] : [];
    const isBusy = storage.some(({ totals }) => (totals?.planned ?? 0) > 0);
    // Without a rule for them, the usage is not even read.
    const pressure = hasPressureRule(facts.policies) ? pressureOn(place, options) : undefined;
    const demands = pressure?.demands ?? [];
    const containers = planContainers(place, demands, options);
    const images = planImages(place, { demands, planned: containers.planned }, options);
    const { reclaimed, plan: containerPlan } = containers;
    const reclaim = { containers: reclaimed, containerPlan, ...images };
    return [
      images.unit,
      containers.unit,
      ...storage,
      ...(pressure === undefined ? [] : [planPressure({ ...place, ...pressure, reclaim, isBusy }, options)]),
    ];
  });
}

/** Plans the controller's pod GC. Pods that are not known have no decision; without known policies, none has. */
function planPods(facts: PlanFacts, options: PlanOptions): UnitPlan {
  if (facts.policies === undefined) return { decisions: [], totals: undefined };
  const seen = factsOf(facts, options);
  const plan = planPodGc(seen, { policies: facts.policies, now: options.now });
  const decisions = listed(decisionsOf(plan), (one) => explainPod(one, plan), { ...options, node: null });
  if (plan.policies.length === 0) return { decisions, totals: undefined };
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
  const totals = {
    ...totalsOf({ unit: 'podgc', node: null }, decisionsOf(plan)),
    ...(facts.pods === undefined && { state: 'Unknown' }),
    ...(tripped.length > 0 && { tripped: Object.fromEntries(tripped) }),
  };
  return { decisions, totals, notes };
}

/** The facts that the controller would have in its first pass. */
function factsOf(facts: PlanFacts, { assumeElapsed, now }: PlanOptions): PodGcFacts {
  const { facts: first } = observe(
    {
      pods: store(facts.pods),
      nodes: store(facts.nodes),
      namespaces: store(facts.namespaces),
      jobs: () => store(facts.jobs),
      replicaSets: () => store(facts.replicaSets),
    },
    facts.policies ?? [],
    {
      missing: noneMissing,
      seenFinished: noneSeen,
      failedBefore: new Map(),
      openBreakers: facts.openBreakers ?? new Map(),
      inForce: new Map(),
      storedInForce: new Map(),
      monotonicMs: 0,
      maxGapMs: Infinity,
      now,
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
    policies.filter((one) => replaced.some((before) => isSame(one, before))).map(({ name }) => name),
  );
}

const store = <T>(items: ByUid<T> | undefined): { readonly items: ByUid<T>; readonly synced: boolean } => ({
  items: items ?? new Map<string, T>(),
  synced: items !== undefined,
});

interface Place {
  readonly part: NodePart;
  readonly governance: NodeGovernance;
}

const isReclaim = ({ unit }: Planned): boolean => unit === 'nodepressure';
const isOwn = (one: Planned): boolean => !isReclaim(one);

function imageHoldNotes(
  { selected }: ImageGcPlan,
  { policy, rule }: Extract<NodeRule<ImageGcPolicy>, { kind: 'governed' }>,
  { part: { name, state }, now }: Pick<Place, 'part'> & { readonly now: Date },
): readonly string[] {
  if (selected === undefined) return [];
  const { due, unused, holdLeftMs: leftMs } = selected;
  return holdNotes(policy, rule.hold, {
    due,
    governed: unused,
    removable: unused,
    leftMs,
    isKnown: inForceForMs(policy, state.inForce, now) !== undefined,
    now,
    removal: `remove ${due} of ${unused} unused images of node ${name}`,
    field: 'nodes.imageGC.holdAbove',
  });
}

/** Plans the agent's image GC on a node, and its reclaim of images after that of containers. Images that are not known have no decision. */
function planImages(
  { part, governance }: Place,
  reclaim: { readonly demands: readonly Demand[]; readonly planned: PlannedContainers },
  options: PlanOptions,
): { readonly unit: UnitPlan } & Pick<Reclaim, 'images' | 'imagePlan' | 'results'> {
  const { name: node, images: known = [], pods, disk, mounted, sandboxImage } = part;
  const { now } = options;
  const { demands, planned } = reclaim;
  const left = demands.map((one) => ({ ...one, wanted: missingAfter(one, one.wanted, planned) }));
  const ofImages = left.filter(({ images, wanted }) => images && wanted > 0);
  // The pass over images for such a demand follows one over containers.
  const gone = ofImages.some((one) => one.containers) ? planned.ids : noContainers.ids;
  const containers = part.containers?.filter(({ id }) => !gone.has(id));
  const observed = observeImages(part.state, { images: known, containers: containers ?? [], mounted, now });
  const facts = { ...observed.state, listed: known, containers, pods, disk, mounted, sandboxImage };
  const plan = planImageGc(facts, { governance, now, demands: ofImages });
  const images = plan.removals.filter(isReclaim);
  const all = [...plan.removals.filter(isOwn), ...plan.kept];
  const decisions = listed(all, (one) => explainImage(one, plan), { ...options, node });
  const results = new Map(
    left.map(({ signal, wanted }): [DiskSignal, ReclaimResult] => [
      signal,
      plan.reclaim.get(signal) ?? (wanted <= 0 ? 'Enough' : 'Exhausted'),
    ]),
  );
  const rule = nodeRule(governance, 'imageGC');
  if (rule.kind === 'keep')
    return { unit: { decisions, totals: undefined }, images, imagePlan: plan, results };
  const { wantedBytes, plannedBytes, usedPercent = null, usedInodesPercent = null } = plan;
  const { wantedInodes, plannedInodes, crossed } = plan;
  const inodes = { wantedInodes, plannedInodes, usedInodesPercent };
  const { waiting, bytes } = summarize(all);
  const place = { unit: 'imagegc', node } as const;
  const state = part.images === undefined ? 'Unknown' : plan.state;
  const unit = {
    decisions,
    totals: { ...totalsOf(place, all), bytes, state },
    notes: imageHoldNotes(plan, rule, { part, now }),
    summary: { ...place, state, crossed, wantedBytes, plannedBytes, usedPercent, ...inodes, waiting },
  };
  return { unit, images, imagePlan: plan, results };
}

/** Plans the first pass of the agent's container GC on a node, and its reclaim for the first demand. */
function planContainers(
  { part, governance }: Place,
  demands: readonly Demand[],
  options: PlanOptions,
): {
  readonly unit: UnitPlan;
  readonly reclaimed: Reclaim['containers'];
  readonly plan: ContainerGcPlan;
  readonly planned: PlannedContainers;
} {
  const { name: node, containers, sandboxes, pods, logs, orphans } = part;
  const { now, assumeElapsed: assumeGone } = options;
  const seen = { containers, sandboxes, pods, logs, orphans };
  const facts = { ...seen, sightings: observeGone(new Map(), seen, { now }) };
  const demand = demands.find((one) => one.containers);
  const plan = planContainerGc(facts, { governance, now, assumeGone, demand });
  const { warnings, kept } = plan;
  const removals = plan.removals.filter(isOwn);
  const all = [...removals, ...warnings, ...kept];
  const decisions = listed(all, (one) => explainContainer(one, plan), { ...options, node });
  const reclaimed = plan.removals.filter(isReclaim);
  const planned = plannedContainers(facts, plan);
  if (nodeRule(governance, 'containerGC').kind === 'keep')
    return { unit: { decisions, totals: undefined }, reclaimed, plan, planned };
  const { bytes, warned } = summarize(all);
  const totals = { ...totalsOf({ unit: 'containergc', node }, all), warned, bytes };
  return { unit: { decisions, totals }, reclaimed, plan, planned };
}

/** The totals of a node of which only the report was read: sums, no objects. */
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
