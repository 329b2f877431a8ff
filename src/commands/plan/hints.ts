import type { PlanDocument, PlanOptions } from './document.ts';

/** What the column WAIT counts, and how to see more of it: one sentence, or none when nothing waits. */
export function waitingHint(
  { totals }: PlanDocument,
  { kept, assumeElapsed }: Pick<PlanOptions, 'kept' | 'assumeElapsed'>,
): readonly string[] {
  const count = totals.reduce((sum, { waiting }) => sum + (waiting ?? 0), 0);
  if (count === 0) return [];
  const isQuarantined = totals.some(({ reasons }) => (reasons['Quarantined'] ?? 0) > 0);
  const subject = `Of those that stay ${count} only ${count === 1 ? 'waits' : 'wait'} for time (WAIT)`;
  const when = kept ? 'UNTIL tells when it is over' : '--kept lists them with their times';
  const flag = '--assume-quarantine-elapsed plans as if quarantines were over';
  return [`${subject}: ${when}${isQuarantined && !assumeElapsed ? `; ${flag}` : ''}.`];
}
