import type { HoldRule, Policy } from '../../api/policy/policy.ts';
import { holdLeftMs, type HoldCounts } from '../../gc/hold.ts';
import { aboveText, holdText } from '../../gc/reasons/hold-words.ts';
import { formatDuration } from '../../runtime/text/duration.ts';

interface Removal extends HoldCounts {
  readonly due: number;
  /** undefined = nothing waits. */
  readonly leftMs: number | undefined;
  /** Whether it is known since when the rules are in force. */
  readonly isKnown: boolean;
  readonly now: Date;
  /** `delete 3 of 4 pods`. */
  readonly removal: string;
  readonly field: string;
}

/** A large removal that waits, or that would wait if its rules were new. */
export function holdNotes(
  policy: Policy,
  hold: HoldRule,
  { leftMs, isKnown, now, removal, field, ...numbers }: Removal,
): readonly string[] {
  if (leftMs !== undefined)
    return [`GCPolicy ${policy.name}: ${holdText(policy, removal, new Date(now.getTime() + leftMs))}`];
  if (isKnown || holdLeftMs(policy, hold, { ...numbers, inForceForMs: 0 }) === undefined) return [];
  const time = formatDuration(hold.forMs);
  return [
    `GCPolicy ${policy.name} would ${removal}: if its rules are new, dustpan waits ${time} before (${field}=${aboveText(hold.above)}).`,
  ];
}
