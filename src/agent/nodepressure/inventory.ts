import type { PressureInventory } from '../../api/report/node-signals.ts';
import type { PressureRequest } from '../../api/local-storage.ts';
import type { SignalReading, SignalState } from '../../api/node-pressure.ts';
import type { NodeRule } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import { explain } from '../../gc/reasons/entry.ts';
import { pressureWarnings } from '../../gc/reasons/pressure.ts';
import type { NodePressurePlan, PressureEviction } from './facts.ts';

/** The policy that a pass followed. */
export type Governed = Extract<NodeRule<NodePressurePolicy>, { kind: 'governed' }>;

export interface Decided {
  readonly governed: Governed;
  readonly plan: NodePressurePlan;
  /** Signals with a threshold. */
  readonly states: readonly SignalState[];
  readonly readings: readonly SignalReading[];
}

/** The part of the node's report about node pressure. Evictions are requested only in mode Enforce. */
export function inventoryOf({ governed: { policy }, plan, states, readings }: Decided): PressureInventory {
  const { uid, generation, mode } = policy;
  return {
    ...{ policy: { uid, generation }, states, readings },
    warnings: plan.warnings.map((warning) => explain(pressureWarnings, warning).detail),
    requests: mode === 'Enforce' ? requestsOf(plan, states) : [],
  };
}

const requestsOf = (
  { evictions }: NodePressurePlan,
  states: PressureInventory['states'],
): readonly PressureRequest[] =>
  evictions.flatMap((eviction) =>
    states
      .filter(({ reading }) => reading.signal === eviction.reason)
      .map((state) => requestOf(eviction, state)),
  );

function requestOf(
  { target: { namespace, name, uid }, reason, evidence }: PressureEviction,
  { reading, wanted }: SignalState,
): PressureRequest {
  const { used, request, shortage } = evidence;
  return {
    ...{ pod: { namespace, name, uid }, signal: reason, observedBytes: used, limitBytes: request },
    // Includes the minimum reclaim: the pressure lasts until it is reached.
    shortage: { available: shortage.available, threshold: shortage.available + wanted },
    ...{ subject: undefined, gracePeriodSeconds: undefined },
    observedAtMs: reading.measuredAtMs,
  };
}
