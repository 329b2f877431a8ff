import type { ContainerGcPlan } from '../../agent/containergc/facts.ts';
import { plannedContainers, planContainerGc } from '../../agent/containergc/plan.ts';
import { observeGone } from '../../agent/containergc/pods.ts';
import { explainContainer } from '../../agent/containergc/words.ts';
import type { ImageGcPlan } from '../../agent/imagegc/facts.ts';
import { planImageGc } from '../../agent/imagegc/plan.ts';
import { bytesOfImage } from '../../agent/imagegc/space.ts';
import { observeImages } from '../../agent/imagegc/records.ts';
import { explainImage } from '../../agent/imagegc/words.ts';
import { planLeftovers } from '../../agent/leftovers/plan.ts';
import { explainLeftover } from '../../agent/leftovers/words.ts';
import { byExcess } from '../../agent/localstorage/inventory.ts';
import { planLocalStorage } from '../../agent/localstorage/plan.ts';
import { explainLimit, explainStorage } from '../../agent/localstorage/words.ts';
import { demandsOf, nextStep, resultAfter, noContainers } from '../../agent/nodepressure/demands.ts';
import type {
  Consumer,
  Demand,
  NodePressureFacts,
  Reclaimed,
  ReclaimResult,
  SignalState,
} from '../../agent/nodepressure/facts.ts';
import { planNodePressure } from '../../agent/nodepressure/plan.ts';
import { completed, observeSignals } from '../../agent/nodepressure/signals.ts';
import { explainNodeWarning, explainPressure } from '../../agent/nodepressure/words.ts';
import { isDiskSignal, type DiskSignal, type ThresholdSignal } from '../../api/node-pressure.ts';
import { hasPressureRule, hasStorageRule } from '../../api/policy/matching.ts';
import { nodeRule, type NodeGovernance, type NodeRule } from '../../api/policy/node-governance.ts';
import type { ImageGcPolicy, NodePressurePolicy } from '../../api/policy/policy.ts';
import type { WantedImages } from '../../api/wanted-images.ts';
import type { KeptPod } from '../../controllers/eviction/facts.ts';
import { judgeNamespace } from '../../controllers/eviction/plan.ts';
import { causeText, explainKept, type EvictionCause } from '../../controllers/eviction/words.ts';
import type { Decision as Planned, PodTarget } from '../../gc/decision.ts';
import { inForceForMs } from '../../gc/hold.ts';
import { anyAge, maxAges, type MaxAges } from '../../agent/localstorage/pods.ts';
import type { Why } from '../../gc/words.ts';
import type { NamespaceFacts } from '../../kube/cache/objects.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import { explained, unitPlan, type Explained, type PlanOptions, type UnitPlan } from './document.ts';
import { holdNotes } from './notes.ts';

interface NodeFacts extends Pick<PlanFacts, 'policies'> {
  readonly part: NodePart;
  readonly governance: NodeGovernance;
  /** The images that workloads want on the node; undefined = they were not read. */
  readonly wanted?: WantedImages | undefined;
  /** By name; undefined = not known. */
  readonly namespaces: ReadonlyMap<string, NamespaceFacts> | undefined;
}

/** Plans what the units of the agent would do on a node, in the order in which they act. */
export function planNode(facts: NodeFacts, options: PlanOptions): readonly UnitPlan[] {
  const storage = hasStorageRule(facts.policies) ? planStorage(facts, options) : undefined;
  // Without a rule for them, the usage is not even read.
  const pressure = hasPressureRule(facts.policies) ? pressureOn(facts, options) : undefined;
  const reclaim = planReclaim(facts, pressure?.demands ?? [], options);
  // Pods that are evicted for their limits: the others wait for what that frees.
  const isBusy = (storage?.totals?.planned ?? 0) > 0;
  return [
    imageUnit(facts, reclaim.images, options),
    containerUnit(facts, reclaim.containers, options),
    leftoversUnit(facts, options),
    ...(storage === undefined ? [] : [storage]),
    ...(pressure === undefined ? [] : [pressureUnit({ ...facts, ...pressure, reclaim, isBusy }, options)]),
  ];
}

/** The plans of the passes over containers and images, with what they remove for node pressure. */
interface Reclaim {
  readonly containers: ContainerGcPlan;
  readonly images: ImageGcPlan;
  readonly results: ReadonlyMap<DiskSignal, ReclaimResult>;
}

/** Plans the passes as the agent runs them for demands: over containers for the first that needs one, then over images. */
function planReclaim(
  { part, governance, wanted }: NodeFacts,
  demands: readonly Demand[],
  options: PlanOptions,
): Reclaim {
  const { containers: known, sandboxes, pods, logs, orphans, checkpoints } = part;
  const { now, assumeElapsed: assumeGone } = options;
  const seen = { containers: known, sandboxes, pods, logs, orphans, checkpoints };
  const facts = { ...seen, sightings: observeGone(new Map(), seen, { now }) };
  const begun = { planned: noContainers };
  const demand = demands.find((demand) => nextStep(demand, demand.wanted, begun).pass === 'containers');
  const containers = planContainerGc(facts, { governance, now, assumeGone, demand });
  const done = { containers: 'Exhausted', planned: plannedContainers(facts, containers) } as const;
  const steps = demands.map((demand) => ({ ...demand, ...nextStep(demand, demand.wanted, done) }));
  const ofImages = steps.filter(({ pass }) => pass === 'images');
  // The pass over images for such a demand follows one over containers.
  const gone = ofImages.some((step) => step.containers) ? done.planned.ids : noContainers.ids;
  const images = planImages({ part, wanted }, gone, { governance, now, demands: ofImages });
  const results = steps.map(
    ({ signal, result }) =>
      [signal, result ?? resultAfter(done, images.reclaim.get(signal) ?? 'Exhausted')] as const,
  );
  return { containers, images, results: new Map(results) };
}

/** Plans the pass over images without these containers. Images that are not known have no decision. */
function planImages(
  { part, wanted }: Pick<NodeFacts, 'part' | 'wanted'>,
  gone: ReadonlySet<string>,
  given: Parameters<typeof planImageGc>[1],
): ImageGcPlan {
  const { images = [], space, pods, disk, mounted, sandboxImage, state } = part;
  const containers = part.containers?.filter(({ id }) => !gone.has(id));
  const observed = observeImages(state, { images, containers: containers ?? [], mounted, now: given.now });
  return planImageGc(
    { ...observed.state, listed: images, space, containers, pods, disk, mounted, sandboxImage, wanted },
    given,
  );
}

const isReclaim = ({ unit }: Planned): boolean => unit === 'nodepressure';
const isOwn = (decision: Planned): boolean => !isReclaim(decision);

function imageUnit({ part, governance }: NodeFacts, plan: ImageGcPlan, options: PlanOptions): UnitPlan {
  const { name: node } = part;
  const place = { unit: 'imagegc', node } as const;
  const state = part.images === undefined ? 'Unknown' : plan.state;
  const all = [...plan.removals.filter(isOwn), ...plan.kept];
  const decided = explained(all, (decision) => explainImage(decision, plan));
  const { decisions, totals } = unitPlan({ ...place, state }, decided, options);
  const rule = nodeRule(governance, 'imageGC');
  if (rule.kind === 'keep') return { decisions };
  const { wantedBytes, plannedBytes, usedPercent = null, usedInodesPercent = null } = plan;
  const { wantedInodes, plannedInodes, crossed } = plan;
  const inodes = { wantedInodes, plannedInodes, usedInodesPercent };
  const waiting = plan.kept.filter(({ eligibleAt }) => eligibleAt !== undefined).length;
  return {
    decisions,
    totals,
    notes: [...imageHoldNotes(plan, rule, part, options.now), ...wantedNotes(node, plan)],
    summary: { ...place, state, crossed, wantedBytes, plannedBytes, usedPercent, ...inodes, waiting },
  };
}

const wantedNotes = (node: string, { wantedUnknown }: ImageGcPlan): readonly string[] =>
  wantedUnknown === undefined
    ? []
    : [
        `Node ${node}: not all images that workloads want (nodes.imageGC.pinWanted) are known, so those that dustpan has pinned are kept, and none is removed by age: ${wantedUnknown}. An agent that waits for its first list removes none for ten minutes.`,
      ];

function imageHoldNotes(
  { selected }: ImageGcPlan,
  { policy, rule }: Extract<NodeRule<ImageGcPolicy>, { kind: 'governed' }>,
  { name, state }: NodePart,
  now: Date,
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

function containerUnit(facts: NodeFacts, plan: ContainerGcPlan, options: PlanOptions): UnitPlan {
  const { containers, sandboxes, pods, logs } = facts.part;
  const all = [...plan.removals.filter(isOwn), ...plan.warnings, ...plan.kept];
  const decided = explained(all, (decision) => explainContainer(decision, plan));
  const isUnknown = [containers, sandboxes, pods, logs].includes(undefined);
  const unit = { unit: 'containergc', rules: ['containerGC', 'orphans', 'checkpoints'], isUnknown } as const;
  return unitOn(facts, unit, decided, options);
}

function leftoversUnit(facts: NodeFacts, options: PlanOptions): UnitPlan {
  const { part, governance } = facts;
  const { now, assumeElapsed: assumeUnchanged } = options;
  const seen = { leftovers: part.leftovers, before: new Map() };
  const { removals, kept } = planLeftovers(seen, { governance, now, assumeUnchanged });
  const decided = explained([...removals, ...kept], explainLeftover);
  const isUnknown = part.leftovers === undefined;
  return unitOn(facts, { unit: 'leftovers', rules: ['leftovers'], isUnknown }, decided, options);
}

interface RuleUnit {
  readonly unit: 'containergc' | 'localstorage' | 'nodepressure' | 'leftovers';
  readonly rules: readonly Parameters<typeof nodeRule>[1][];
  readonly isUnknown: boolean;
}

/** Without totals if no policy has one of the rules on this node. */
function unitOn(
  { part: { name: node }, governance }: NodeFacts,
  { unit, rules, isUnknown }: RuleUnit,
  decided: Iterable<Explained>,
  options: PlanOptions,
): UnitPlan {
  const state = isUnknown ? 'Unknown' : undefined;
  const { decisions, totals } = unitPlan({ unit, node, state }, decided, options);
  const isGoverned = rules.some((rule) => nodeRule(governance, rule).kind === 'governed');
  return { decisions, totals: isGoverned ? totals : undefined };
}

/** Plans which pods would be evicted or warned about for their limits. A warning is a decision of its own, besides the one about its pod. */
function planStorage(facts: NodeFacts, options: PlanOptions): UnitPlan {
  const { part, governance, namespaces } = facts;
  const { pods, usage } = part;
  const plan = planLocalStorage({ pods, usage }, { governance, ...timesOf(part, options) });
  const { evictions, refused } = rechecked(plan.evictions.toSorted(byExcess), namespaces, Infinity);
  const decided = [
    ...explained(evictions, (decision) => explainStorage(decision, plan)),
    ...explained(plan.warnings, (decision) => explainLimit(decision, plan)),
    ...explained(refused, (decision) => explainRefused(decision, decision.target.excess)),
    ...explained(plan.kept, (decision) => explainStorage(decision, plan)),
  ];
  const isUnknown = pods === undefined || usage === undefined;
  return unitOn(
    facts,
    { unit: 'localstorage', rules: ['localStorageEviction'], isUnknown },
    decided,
    options,
  );
}

/** The moment of the measurement, which a snapshot records; without it, measurements may have any age. */
const timesOf = (
  { usage }: NodePart,
  { now }: PlanOptions,
): { readonly now: Date; readonly maxAges: MaxAges } =>
  usage !== undefined && usage.atMs > 0 ? { now: new Date(usage.atMs), maxAges } : { now, maxAges: anyAge };

/** Explains a pod whose eviction the agent would request, and the controller would deny or put off. */
const explainRefused = <T extends PodTarget>(refused: KeptPod<T>, cause: EvictionCause): Why =>
  explainKept(refused, causeText(cause));

/** Applies the labels of namespaces as the controller does, which agents do not know, and its pace: it evicts `most` at a time. */
function rechecked<T extends PodTarget, E extends Planned<T>>(
  requested: readonly E[],
  namespaces: NodeFacts['namespaces'],
  most: number,
): { readonly evictions: readonly E[]; readonly refused: readonly KeptPod<E['target']>[] } {
  const evictions: E[] = [];
  const refused: KeptPod<E['target']>[] = [];
  for (const eviction of requested) {
    const denied = judgeNamespace(eviction.target.namespace, namespaces);
    if (denied === undefined && evictions.length < most) evictions.push(eviction);
    else
      refused.push({ ...eviction, verdict: 'Keep', ...(denied ?? { reason: 'PacingLimit', pace: 'node' }) });
  }
  return { evictions, refused };
}

interface NodePressure {
  readonly states: readonly SignalState[];
  /** Signals with a threshold, and without a current value. */
  readonly unknown: readonly ThresholdSignal[];
  readonly demands: readonly Demand[];
}

/** Compares what the kubelet measured with the thresholds. One reading shows no growth, and the thresholds of the kubelet are not known. */
function pressureOn({ part, governance }: NodeFacts, options: PlanOptions): NodePressure {
  const rule = nodeRule(governance, 'nodePressure');
  const { states, unknown } =
    rule.kind === 'keep' ? { states: [], unknown: [] } : statesOf(part, rule.rule, options);
  return { states, unknown, demands: demandsOf({ signals: states, usage: part.usage }) };
}

function statesOf(
  part: NodePart,
  rule: NodePressurePolicy,
  options: PlanOptions,
): Pick<NodePressure, 'states' | 'unknown'> {
  const { usage = { signals: [] }, disk } = part;
  const given = { rule, kubelet: new Map(), ...timesOf(part, options) };
  // Only the time of the image file system is that of an old measurement.
  const disks = new Map(disk === undefined || part.usage === undefined ? [] : [['imagefs', disk] as const]);
  const { states, unknown } = observeSignals(new Map(), completed(usage, disks, given), given);
  if (!options.assumeElapsed) return { states, unknown };
  // As if the grace period were over.
  const elapsed = states.map((state) =>
    state.crossedSinceMs === undefined
      ? state
      : {
          ...state,
          crossedSinceMs: Math.min(beforeMs(state), given.now.getTime()) - rule.gracePeriodMs,
        },
  );
  return { states: elapsed, unknown };
}

const beforeMs = ({ reading }: SignalState): number => reading.measuredAtMs - 1;

interface Pressed extends NodeFacts, NodePressure {
  readonly reclaim: Reclaim;
  readonly isBusy: boolean;
}

/** Plans as after the reclaim: the images and containers that are removed, the thresholds to warn about, and the pod that is evicted. */
function pressureUnit(pressed: Pressed, options: PlanOptions): UnitPlan {
  const { part, governance, namespaces, unknown, reclaim, isBusy } = pressed;
  const { containers, images } = reclaim;
  const plan = planNodePressure(pressureFacts(pressed, options), { governance, ...timesOf(part, options) });
  const { evictions, refused } = rechecked(plan.evictions, namespaces, isBusy ? 0 : 1);
  const decided = [
    ...explained(containers.removals.filter(isReclaim), (decision) => explainContainer(decision, containers)),
    ...explained(images.removals.filter(isReclaim), (decision) => explainImage(decision, images)),
    ...explained(evictions, (decision) => explainPressure(decision, plan)),
    ...explained(plan.warnings, explainNodeWarning),
    ...explained(refused, (decision) => explainRefused(decision, decision.target)),
    ...explained(plan.kept, (decision) => explainPressure(decision, plan)),
  ];
  const isUnknown = part.pods === undefined || unknown.length > 0;
  const note = `Node ${part.name}: the kubelet's /stats/summary has no current value of ${unknown.join(', ')}: nothing is removed or evicted for it.`;
  const notes = part.usage !== undefined && unknown.length > 0 ? [note] : [];
  const unit = unitOn(
    pressed,
    { unit: 'nodepressure', rules: ['nodePressure'], isUnknown },
    decided,
    options,
  );
  return { ...unit, notes };
}

/** The effect of the reclaim is measured only where waiting periods are skipped. */
function pressureFacts({ part, states, reclaim }: Pressed, options: PlanOptions): NodePressureFacts {
  const { name: node, pods, usage, images = [], space } = part;
  const { now } = timesOf(part, options);
  const reclaimed = new Map(
    states.flatMap((state): [DiskSignal, Reclaimed][] => {
      const { signal } = state.reading;
      const result = isDiskSignal(signal) ? reclaim.results.get(signal) : undefined;
      const atMs = options.assumeElapsed ? beforeMs(state) : now.getTime();
      return isDiskSignal(signal) && result !== undefined ? [[signal, { atMs, result }]] : [];
    }),
  );
  const consumers = images.map((image): Consumer => ({
    kind: 'image',
    name: image.tags[0] ?? image.digests[0] ?? image.id,
    amount: bytesOfImage(image, space),
  }));
  return { node, signals: states, pods, usage, reclaimed, consumers };
}
