import type { PressureRequest } from '../local-storage.ts';
import type { SignalReading, SignalState, ThresholdSignal } from '../node-pressure.ts';

/** The result of the last pass of nodepressure, for the report. */
export interface PressureInventory {
  /** The policy of that pass. */
  readonly policy: { readonly uid: string; readonly generation: number };
  /** Signals with a threshold. */
  readonly states: readonly SignalState[];
  /** Signals with a threshold of the policy, and without a current value. */
  readonly unknown: readonly ThresholdSignal[];
  /** All signals that were measured lately. */
  readonly readings: readonly SignalReading[];
  /** One sentence for each signal that is short, or will be soon. */
  readonly warnings: readonly string[];
  /** Ordered by rank; only in mode Enforce. */
  readonly requests: readonly PressureRequest[];
}
