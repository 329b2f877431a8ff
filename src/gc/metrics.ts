import type { Registry } from 'prom-client';
import { isInvalid } from '../api/policy/policy.ts';
import type { Reason } from '../api/reasons.ts';
import { metricRows } from '../runtime/serving/metric-rows.ts';
import type { Decision, Unit } from './decision.ts';
import type { SumsByPolicy } from './summary.ts';

export type UnitMetrics = ReturnType<typeof unitMetrics>;

/** The metrics of all units. What only one unit has is a row beside that unit. */
export function unitMetrics(registry: Registry) {
  const { counter, gauge } = metricRows(registry);
  return {
    due: gauge(
      'due_objects',
      'Objects that the last plan of the unit would remove or evict, by reason and mode of the policy.',
      'unit',
      'reason',
      'mode',
    ),
    kept: gauge('kept_objects', 'Objects that the last plan of the unit keeps, by reason.', 'unit', 'reason'),
    removed: counter('removed_objects_total', 'Objects that the unit removed, by reason.', 'unit', 'reason'),
    skipped: counter(
      'skipped_objects_total',
      'Due objects that a live check right before the removal kept, by the reason to keep them.',
      'unit',
      'reason',
    ),
    failed: counter(
      'failed_objects_total',
      'Removals that failed, by the reason for them.',
      'unit',
      'reason',
    ),
    freedBytes: counter(
      'freed_bytes_total',
      'Bytes that the removals of the unit freed, measured if possible.',
      'unit',
    ),
    errors: counter(
      'unit_errors_total',
      'Failures of the unit other than those of a removal, by stage.',
      'unit',
      'stage',
    ),
  };
}

/** What a unit counts: every reason has its series from the start, and is set in each pass. */
export interface UnitReasons {
  /** Reasons to remove or to evict; none = the unit counts what it removes in rows of its own. */
  readonly due: readonly Reason[];
  readonly kept: readonly Reason[];
  /** Reasons of live checks; default: those to keep. */
  readonly skipped?: readonly Reason[];
  /** Where a pass can fail, besides in a removal. */
  readonly stages: readonly string[];
  /** The unit only requests evictions. */
  readonly removesNothing?: true;
}

export const modes = ['DryRun', 'Enforce'] as const;

/** Sets the series of a unit to 0: a series that begins with 1 never increased. */
export function startMetrics(metrics: UnitMetrics, unit: Unit, reasons: UnitReasons): void {
  showPlan(metrics, unit, reasons);
  for (const stage of reasons.stages) metrics.errors.inc({ unit, stage }, 0);
  if (reasons.removesNothing === true) return;
  for (const reason of reasons.due) {
    metrics.removed.inc({ unit, reason }, 0);
    metrics.failed.inc({ unit, reason }, 0);
  }
  for (const reason of reasons.skipped ?? reasons.kept) metrics.skipped.inc({ unit, reason }, 0);
  if (reasons.due.length > 0) metrics.freedBytes.inc({ unit }, 0);
}

type Shown = Pick<Decision, 'reason' | 'policy'>;

/** Shows a plan: due and kept objects by reason; without one, 0 for each. Reads each list once: one may make its decisions while it is read. */
export function showPlan(
  metrics: UnitMetrics,
  unit: Unit,
  reasons: Pick<UnitReasons, 'due' | 'kept'>,
  plan: { readonly due: Iterable<Shown>; readonly kept: Iterable<Shown> } = { due: [], kept: [] },
): void {
  const due = new Map<string, number>();
  for (const { reason, policy } of plan.due)
    if (policy !== undefined && !isInvalid(policy)) count(due, `${policy.mode} ${reason}`);
  const kept = new Map<string, number>();
  for (const { reason } of plan.kept) count(kept, reason);
  for (const reason of reasons.due)
    for (const mode of modes) metrics.due.set({ unit, reason, mode }, due.get(`${mode} ${reason}`) ?? 0);
  for (const reason of reasons.kept) metrics.kept.set({ unit, reason }, kept.get(reason) ?? 0);
}

/** Shows a plan by its sums: its decisions are not made again. */
export function showSums(
  metrics: UnitMetrics,
  unit: Unit,
  reasons: Pick<UnitReasons, 'due' | 'kept'>,
  sums: SumsByPolicy,
): void {
  const count = (reason: Reason, mode?: (typeof modes)[number]): number => {
    let total = 0;
    for (const [policy, { reasons: counts }] of sums)
      if (mode === undefined || (policy !== undefined && !isInvalid(policy) && policy.mode === mode))
        total += counts[reason] ?? 0;
    return total;
  };
  for (const reason of reasons.due)
    for (const mode of modes) metrics.due.set({ unit, reason, mode }, count(reason, mode));
  for (const reason of reasons.kept) metrics.kept.set({ unit, reason }, count(reason));
}

const count = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
