import type { ContainerGcPlan, ContainerRemoval } from '../../agent/containergc/facts.ts';
import { explainContainer } from '../../agent/containergc/words.ts';
import type { ImageGcPlan, ImageRemoval } from '../../agent/imagegc/facts.ts';
import { demandsOf } from '../../agent/nodepressure/demands.ts';
import type {
  Consumer,
  Demand,
  NodePressurePlan,
  PressureEviction,
  Reclaimed,
} from '../../agent/nodepressure/facts.ts';
import { planNodePressure } from '../../agent/nodepressure/plan.ts';
import { completed, observeSignals } from '../../agent/nodepressure/signals.ts';
import { explainNodeWarning, explainPressure } from '../../agent/nodepressure/words.ts';
import {
  isDiskSignal,
  type DiskSignal,
  type ReclaimResult,
  type SignalState,
  type ThresholdSignal,
} from '../../api/node-pressure.ts';
import { nodeRule } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import { judgeNamespace } from '../../controllers/eviction/plan.ts';
import { explainImage } from '../../agent/imagegc/words.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodePart } from '../../snapshot/plan-facts.ts';
import { listed, totalsOf, type PlanOptions, type UnitPlan } from './document.ts';
import { explainRefused, refusal, timesOf, type Place, type RefusedPod } from './localstorage.ts';

/** The signals of a node, and what has to be freed for them. */
interface NodePressure {
  readonly states: readonly SignalState[];
  /** Signals with a threshold, and without a current value. */
  readonly unknown: readonly ThresholdSignal[];
  readonly demands: readonly Demand[];
}

/** What the passes over containers and images remove for node pressure. */
export interface Reclaim {
  readonly containers: readonly ContainerRemoval[];
  readonly images: readonly ImageRemoval[];
  /** The plans that have them. */
  readonly containerPlan: ContainerGcPlan;
  readonly imagePlan: ImageGcPlan;
  readonly results: ReadonlyMap<DiskSignal, ReclaimResult>;
}

interface Pressed extends Place, NodePressure {
  readonly reclaim: Reclaim;
  /** Pods of the node are evicted for their limits: the others wait for what that frees. */
  readonly isBusy: boolean;
}

/** Compares what the kubelet measured with the thresholds. One reading shows no growth, and the thresholds of the kubelet are not known. */
export function pressureOn({ part, governance }: Place, options: PlanOptions): NodePressure {
  const rule = nodeRule(governance, 'nodePressure');
  const { states, unknown } =
    rule.kind === 'keep' ? { states: [], unknown: [] } : statesOf(part, rule.rule, options);
  return { states, unknown, demands: demandsOf({ signals: states, usage: part.usage }) };
}

/** Plans the agent's unit for node pressure: the images and containers that it would remove, the thresholds that it would warn about, and the pod that would be evicted. */
export function planPressure(place: Pressed, options: PlanOptions): UnitPlan {
  const { part, governance, unknown, reclaim } = place;
  const { name: node } = part;
  const plan = planOf(place, options);
  const { evictions, refused } = rechecked(plan.evictions, place);
  const at = { ...options, node };
  const { containers, containerPlan, images, imagePlan } = reclaim;
  const decisions = [
    ...listed(containers, (one) => explainContainer(one, containerPlan), at),
    ...listed(images, (one) => explainImage(one, imagePlan), { ...at, after: containers.length }),
    ...listed(evictions, (one) => explainPressure(one, plan), {
      ...at,
      after: containers.length + images.length,
    }),
    ...listed(plan.warnings, explainNodeWarning, at),
    ...listed(refused, explainRefused, at),
    ...listed(plan.kept, (one) => explainPressure(one, plan), at),
  ];
  if (nodeRule(governance, 'nodePressure').kind === 'keep') return { decisions, totals: undefined };
  const all = [...containers, ...images, ...evictions, ...plan.warnings, ...refused, ...plan.kept];
  const { bytes, warned } = summarize(all);
  const isUnknown = part.pods === undefined || unknown.length > 0;
  const totals = {
    ...totalsOf({ unit: 'nodepressure', node }, all),
    warned,
    bytes,
    ...(isUnknown && { state: 'Unknown' }),
  };
  const notes =
    part.usage !== undefined && unknown.length > 0
      ? [
          `Node ${node}: the kubelet's /stats/summary has no current value of ${unknown.join(', ')}: nothing is removed or evicted for it.`,
        ]
      : [];
  return { decisions, totals, notes };
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

/** Plans as after the reclaim; its effect is measured only where waiting periods are skipped. */
function planOf({ part, governance, states, reclaim }: Pressed, options: PlanOptions): NodePressurePlan {
  const { name: node, pods, usage, images = [] } = part;
  const times = timesOf(part, options);
  const reclaimed = new Map(
    states.flatMap((state): [DiskSignal, Reclaimed][] => {
      const { signal } = state.reading;
      const result = isDiskSignal(signal) ? reclaim.results.get(signal) : undefined;
      const atMs = options.assumeElapsed ? beforeMs(state) : times.now.getTime();
      return isDiskSignal(signal) && result !== undefined ? [[signal, { atMs, result }]] : [];
    }),
  );
  const consumers = images.map(({ id, tags, digests, sizeBytes }): Consumer => ({
    kind: 'image',
    name: tags[0] ?? digests[0] ?? id,
    amount: sizeBytes,
  }));
  const facts = { node, signals: states, pods, usage, reclaimed, consumers };
  return planNodePressure(facts, { governance, ...times });
}

interface Rechecked {
  /** One at most. */
  readonly evictions: readonly PressureEviction[];
  readonly refused: readonly RefusedPod[];
}

/** Applies the labels of namespaces and the pace of the controller. */
function rechecked(
  requested: readonly PressureEviction[],
  { namespaces, isBusy }: Pick<Pressed, 'namespaces' | 'isBusy'>,
): Rechecked {
  const evictions: PressureEviction[] = [];
  const refused: RefusedPod[] = [];
  for (const eviction of requested) {
    const denied = judgeNamespace(eviction.target.namespace, namespaces);
    if (denied === undefined && !isBusy && evictions.length === 0) evictions.push(eviction);
    else refused.push(refusal(eviction, denied ?? { reason: 'PacingLimit', pace: 'node' }, eviction.target));
  }
  return { evictions, refused };
}
