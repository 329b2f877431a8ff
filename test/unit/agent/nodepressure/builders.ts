import type {
  NodePressureFacts,
  NodePressurePlan,
  Reclaimed,
  SignalState,
  ReclaimResult,
  Relief,
} from '../../../../src/agent/nodepressure/facts.ts';
import { planNodePressure } from '../../../../src/agent/nodepressure/plan.ts';
import { observeSignals, type SignalHistory } from '../../../../src/agent/nodepressure/signals.ts';
import {
  diskSignals,
  parseAmount,
  thresholdSignals,
  type Amount,
  type DiskSignal,
  type SignalReading,
  type SignalThresholds,
  type ThresholdSignal,
} from '../../../../src/api/node-pressure.ts';
import type { NodePressurePolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { now } from '../../../builders.ts';
import { governedNode } from '../builders.ts';
import { maxAges } from '../../../../src/agent/localstorage/pods.ts';

const minuteMs = 60_000;

/** SignalThresholds in the kubelet's forms. */
export const thresholds = (texts: Partial<Record<ThresholdSignal, string>>): SignalThresholds =>
  new Map(
    thresholdSignals.flatMap((signal): (readonly [ThresholdSignal, Amount])[] => {
      const amount = parseAmount(texts[signal] ?? '');
      return amount === undefined ? [] : [[signal, amount]];
    }),
  );

export const pressurePolicy = (over: Partial<NodePressurePolicy> = {}): NodePressurePolicy => ({
  ...{ thresholds: thresholds({ 'nodefs.available': '15%' }), minimumReclaim: new Map() },
  ...{ gracePeriodMs: minuteMs, transitionPeriodMs: 5 * minuteMs, forecastMs: 60 * minuteMs },
  ...{ evictPods: true, ...over },
});

export const governedBy = (
  rule: NodePressurePolicy | undefined,
  mode: Policy['mode'] = 'Enforce',
): ReturnType<typeof governedNode> => governedNode({ nodePressure: rule }, { mode });

/** Of a disk of 1000, measured now. */
export const reading = (over: Partial<SignalReading> = {}): SignalReading => ({
  ...{ signal: 'nodefs.available', available: 500, capacity: 1000, measuredAtMs: now.getTime() },
  ...over,
});

export interface Step {
  /** Minutes after the first. */
  readonly minute: number;
  readonly available: number;
  readonly capacity?: number;
  readonly device?: number;
  /** Minutes after the first; default: `minute`. */
  readonly measured?: number;
}

/** Steps such as `0:140 1:249`, the minute and what is available; `1:140/950` of another capacity; `3:100@0` measured in another minute. */
export const steps = (text: string): readonly Step[] =>
  text.split(' ').map((step) => {
    const [minute = 0, available = 0, ...more] = step.split(/[:/@]/).map(Number);
    const [other] = more;
    if (other === undefined) return { minute, available };
    return step.includes('/')
      ? { minute, available, capacity: other }
      : { minute, available, measured: other };
  });

/** Observes the steps one after the other; the states of the last. */
export function statesAfter(
  steps: readonly Step[],
  rule: NodePressurePolicy = pressurePolicy(),
  kubelet: SignalThresholds = new Map(),
  signal: ThresholdSignal = 'nodefs.available',
): readonly SignalState[] {
  let history: SignalHistory = new Map();
  let states: readonly SignalState[] = [];
  for (const { minute, available, capacity = 1000, device, measured = minute } of steps) {
    const at = (minutes: number): number => now.getTime() + minutes * minuteMs;
    const readings = [reading({ signal, available, capacity, device, measuredAtMs: at(measured) })];
    const given = { rule, kubelet, now: new Date(at(minute)), maxAges };
    ({ history, states } = observeSignals(history, { signals: readings }, given));
  }
  return states;
}

/** A disk of 1000 of which 100 are available, crossed for two minutes. */
export const crossed = (over: Partial<SignalState> = {}): SignalState => ({
  reading: { signal: 'nodefs.available', available: 100, capacity: 1000, measuredAtMs: now.getTime() },
  ours: { value: 150, text: '15%', secondsLeft: 0 },
  kubelets: undefined,
  growthPerMinute: undefined,
  crossedSinceMs: now.getTime() - 2 * minuteMs,
  largestCapacity: over.reading?.capacity ?? 1000,
  isUnderPressure: true,
  wanted: 50,
  ...over,
});

/** The same of another signal. */
export const crossedOf = (signal: ThresholdSignal, over: Partial<SignalState> = {}): SignalState =>
  crossed({ reading: { ...crossed().reading, signal }, ...over });

/** Images and containers were removed a minute ago. */
export const reclaimed = reclaims({ 'nodefs.available': now.getTime() - minuteMs });

/** Reclaims that ended at these times. */
export function reclaims(
  times: Partial<Record<DiskSignal, number>>,
  result: ReclaimResult = 'Exhausted',
): NodePressureFacts['reclaimed'] {
  const known = diskSignals.flatMap((signal): [DiskSignal, Reclaimed][] => {
    const atMs = times[signal];
    return atMs === undefined ? [] : [[signal, { atMs, result }]];
  });
  return new Map(known);
}

/** A relief that is never enough. */
export const reliefOf = (over: Partial<Relief> = {}): Relief => ({
  ...{ signal: 'nodefs.available', threshold: '15%', wanted: 1_000, missing: () => Promise.resolve(1) },
  ...over,
});

export const planOf = (
  facts: Partial<NodePressureFacts>,
  rule: NodePressurePolicy | undefined = pressurePolicy(),
  governance = governedBy(rule),
): NodePressurePlan =>
  planNodePressure(
    {
      ...{ node: 'a', signals: [crossed()], pods: [], usage: undefined, reclaimed },
      ...{ consumers: [], ...facts },
    },
    { governance, now, maxAges },
  );

/** Every verdict on a pod in one line, evictions in the order of the rank first. */
export const verdicts = ({ evictions, kept }: NodePressurePlan): string[] =>
  [...evictions, ...kept].map(({ verdict, target, reason }) => `${verdict} ${target.name} ${reason}`);
