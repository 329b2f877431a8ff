import type { NodePressurePlan, PressureEviction } from '../../agent/nodepressure/facts.ts';
import { planNodePressure } from '../../agent/nodepressure/plan.ts';
import { observeSignals } from '../../agent/nodepressure/signals.ts';
import { isDiskSignal, type DiskSignal, type SignalState } from '../../api/node-pressure.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import { judgeNamespace } from '../../controllers/eviction/plan.ts';
import { evictionReasons } from '../../gc/reasons/evictions.ts';
import { pressureReasons, pressureWarnings, type Consumer } from '../../gc/reasons/pressure.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodePart } from '../../snapshot/plan-facts.ts';
import { listed, totalsOf, type PlanOptions, type UnitPlan } from './document.ts';
import { refusal, timesOf, type Namespaces, type RefusedPod } from './localstorage.ts';

interface Place {
  readonly part: NodePart;
  readonly governance: NodeGovernance;
  readonly namespaces: Namespaces;
  /** Pods of the node are evicted for their limits: the others wait for what that frees. */
  readonly isBusy: boolean;
}

/**
 * Plans the agent's unit for node pressure: which thresholds it would warn about, and which pod would be evicted. One reading shows no growth, and
 * the thresholds of the kubelet are not known.
 */
export function planPressure(place: Place, options: PlanOptions): UnitPlan {
  const { part, governance } = place;
  const { name: node } = part;
  const rule = nodeRule(governance, 'nodePressure');
  const states = rule.kind === 'keep' ? [] : statesOf(part, rule.rule, options);
  const plan = planOf(place, states, options);
  const { evictions, refused } = rechecked(plan.evictions, place);
  const at = { ...options, node };
  const decisions = [
    ...listed(evictions, pressureReasons, at),
    ...listed(plan.warnings, pressureWarnings, at),
    ...listed(refused, evictionReasons, at),
    ...listed(plan.kept, pressureReasons, at),
  ];
  if (rule.kind === 'keep') return { decisions, totals: undefined };
  const all = [...evictions, ...plan.warnings, ...refused, ...plan.kept];
  const isUnknown = part.pods === undefined || states.length === 0;
  const totals = {
    ...totalsOf({ unit: 'nodepressure', node }, all),
    warned: summarize(all).warned,
    ...(isUnknown && { state: 'Unknown' }),
  };
  return { decisions, totals };
}

function statesOf(part: NodePart, rule: NodePressurePolicy, options: PlanOptions): readonly SignalState[] {
  const given = { rule, kubelet: new Map(), ...timesOf(part, options) };
  const { states } = observeSignals(new Map(), part.usage?.signals ?? [], given);
  if (!options.assumeElapsed) return states;
  // As if the grace period were over, and the removal of images and containers had not freed enough.
  return states.map((state) =>
    state.crossedSinceMs === undefined
      ? state
      : {
          ...state,
          crossedSinceMs: Math.min(relievedMs(state), given.now.getTime()) - rule.gracePeriodMs,
        },
  );
}

const relievedMs = ({ reading }: SignalState): number => reading.measuredAtMs - 1;

function planOf(
  { part, governance }: Place,
  states: readonly SignalState[],
  options: PlanOptions,
): NodePressurePlan {
  const { name: node, pods, usage, images = [] } = part;
  const relieved = new Map<DiskSignal, number>();
  for (const state of options.assumeElapsed ? states : [])
    if (isDiskSignal(state.reading.signal)) relieved.set(state.reading.signal, relievedMs(state));
  const consumers = images.map(({ id, tags, digests, sizeBytes }): Consumer => ({
    ...{ kind: 'image', name: tags[0] ?? digests[0] ?? id, amount: sizeBytes },
  }));
  const facts = { node, signals: states, pods, usage, relievedAtMs: relieved, consumers };
  return planNodePressure(facts, { governance, now: timesOf(part, options).now });
}

interface Rechecked {
  /** One at most. */
  readonly evictions: readonly PressureEviction[];
  readonly refused: readonly RefusedPod[];
}

/** Applies the labels of namespaces and the pace of the controller. */
function rechecked(
  requested: readonly PressureEviction[],
  { namespaces, isBusy }: Pick<Place, 'namespaces' | 'isBusy'>,
): Rechecked {
  const evictions: PressureEviction[] = [];
  const refused: RefusedPod[] = [];
  for (const eviction of requested) {
    const reason = judgeNamespace(namespaces?.get(eviction.target.namespace));
    if (reason === undefined && !isBusy && evictions.length === 0) evictions.push(eviction);
    else refused.push(refusal(eviction, reason ?? 'PacingLimit', eviction.evidence));
  }
  return { evictions, refused };
}
