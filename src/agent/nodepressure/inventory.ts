import type { PressureInventory } from '../../api/report/node-signals.ts';
import type { PressureRequest, StoragePod } from '../../api/local-storage.ts';
import type { SignalReading, SignalState, ThresholdSignal } from '../../api/node-pressure.ts';
import type { NodeRule } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import { identityOf } from '../../gc/pod-evictions.ts';
import type { NodePressurePlan, PressureEviction } from './facts.ts';
import { explainNodeWarning } from './words.ts';

/** The policy that a pass followed. */
export type Governed = Extract<NodeRule<NodePressurePolicy>, { kind: 'governed' }>;

export interface Decided {
  readonly governed: Governed;
  readonly plan: NodePressurePlan;
  /** undefined = not known. */
  readonly pods: readonly StoragePod[] | undefined;
  /** Signals with a threshold. */
  readonly states: readonly SignalState[];
  /** Signals with a threshold of the policy, and without a current value. */
  readonly unknown: readonly ThresholdSignal[];
  readonly readings: readonly SignalReading[];
}

/** The part of the node's report about node pressure. Evictions are requested only in mode Enforce. */
export function inventoryOf({
  governed: { policy },
  plan,
  states,
  unknown,
  readings,
}: Decided): PressureInventory {
  const { uid, generation, mode } = policy;
  return {
    policy: { uid, generation },
    states,
    unknown,
    readings,
    warnings: plan.warnings.map((warning) => explainNodeWarning(warning).detail),
    requests: mode === 'Enforce' ? plan.evictions.map(requestOf) : [],
  };
}

function requestOf({ target, reason }: PressureEviction): PressureRequest {
  const { shortage, used, request, largest, measuredAtMs } = target;
  const { available, wanted } = shortage;
  return {
    pod: identityOf(target),
    signal: reason,
    subject: undefined,
    observedBytes: used,
    limitBytes: request,
    // The pressure lasts until the minimum reclaim is reached, too.
    shortage: { available, threshold: available + wanted },
    largest,
    observedAtMs: measuredAtMs,
    gracePeriodSeconds: undefined,
  };
}
