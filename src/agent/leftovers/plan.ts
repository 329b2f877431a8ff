import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { LeftoversPolicy } from '../../api/policy/policy.ts';
import type { LeftoverKeepReason, LeftoverRemoveReason } from '../../api/reasons.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import type { Leftover, LeftoverKind } from '../../api/leftovers.ts';
import type { JudgedLeftover, KeptLeftover, LeftoverFacts, LeftoverRemoval, LeftoversPlan } from './facts.ts';
import { minimumAgeMs } from './find.ts';

interface Given {
  readonly governance: NodeGovernance;
  readonly now: Date;
  /** Counts each leftover as unchanged in two passes. */
  readonly assumeUnchanged?: boolean;
}

interface KeptBecause {
  readonly reason: LeftoverKeepReason;
  readonly times?: number;
  readonly eligibleAt?: Date;
}

/** Decides which leftovers are removed, in the order in which they were found. */
export function planLeftovers(facts: LeftoverFacts, given: Given): LeftoversPlan {
  const removals: LeftoverRemoval[] = [];
  const kept: KeptLeftover[] = [];
  const { policy } = given.governance;
  for (const leftover of facts.leftovers ?? []) {
    const { id, name, bytes } = leftover;
    const target: JudgedLeftover = { kind: 'Leftover', id, name, leftover };
    const decided = { unit: 'leftovers', target, policy, bytes } as const;
    const because = keptBecause(leftover, facts, given);
    if (because === undefined)
      removals.push({ ...decided, verdict: 'Remove', reason: reasons[leftover.kind], eligibleAt: undefined });
    else kept.push({ eligibleAt: undefined, ...because, ...decided, verdict: 'Keep' });
  }
  return { removals, kept };
}

/** The field of the policy for a kind. */
export const leftoverFields: Readonly<Record<LeftoverKind, keyof LeftoversPolicy>> = {
  Download: 'downloads',
  Lease: 'leases',
  Snapshot: 'snapshots',
  Content: 'snapshots',
};

const reasons: Readonly<Record<LeftoverKind, LeftoverRemoveReason>> = {
  Download: 'InterruptedDownload',
  Lease: 'UnusedLease',
  Snapshot: 'Unreferenced',
  Content: 'Unreferenced',
};

function keptBecause(
  leftover: Leftover,
  facts: LeftoverFacts,
  { governance, now, assumeUnchanged = false }: Given,
): KeptBecause | undefined {
  const { id, kind, sinceMs, obstacle, progress } = leftover;
  const governed = nodeRule(governance, 'leftovers');
  if (governed.kind === 'keep') return { reason: governed.reason };
  if (governed.rule[leftoverFields[kind]] === 'Report') return { reason: 'RuleOff' };
  if (obstacle !== undefined) return { reason: obstacle };
  if (sinceMs === undefined) return { reason: 'AgeUnknown' };
  if (progress === undefined) return { reason: 'ProgressUnknown' };
  if (isPerhapsYoung(sinceMs, facts, now)) return { reason: 'ClockUnsure' };
  if (!assumeUnchanged && facts.before.get(id) !== progress) return { reason: 'Quarantined' };
  return pausedAfter(facts.failedBefore?.get(id), now);
}

/** What was made before a jump of the clock looks older than it is. */
const isPerhapsYoung = (
  sinceMs: number,
  { clockUnsure = false, jumps = [] }: LeftoverFacts,
  now: Date,
): boolean => clockUnsure || now.getTime() - sinceMs < minimumAgeMs + ageErrorMs(sinceMs, jumps);

const pausedAfter = (failed: FailedBefore | undefined, now: Date): KeptBecause | undefined =>
  failed === undefined || failed.retryInMs <= 0
    ? undefined
    : {
        reason: 'RemovalFailed',
        times: failed.times,
        eligibleAt: new Date(now.getTime() + failed.retryInMs),
      };
