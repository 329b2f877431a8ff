import type { ImageDisk, NodePassReport } from '../../api/node-pass.ts';
import { attributeDisk, type Attributable, type DiskAttribution } from './attribution.ts';
import type { ImageGcFacts, ImageGcPlan } from './facts.ts';
import type { Enforced, ImageRule } from './governed.ts';
import { outcomeOf, type Acts, type DiskTrouble, type Outcome } from './outcome.ts';
import { keepAllImages, planImageGc } from './plan.ts';

/** What one pass has seen of the node. */
export interface Seen {
  readonly facts: ImageGcFacts;
  readonly disk: ImageDisk | undefined;
  readonly trouble: DiskTrouble | undefined;
  readonly now: Date;
}

/** A plan under a policy. */
export interface Decided {
  readonly rule: Enforced;
  readonly plan: ImageGcPlan;
  readonly seen: Seen;
}

/** A pass that has done what it could. */
export interface Done {
  readonly rule: ImageRule;
  readonly plan: ImageGcPlan;
  readonly seen: Seen;
  /** undefined = nothing was to be touched. */
  readonly acts: (Acts & { readonly disk: ImageDisk | undefined }) | undefined;
}

/** What the policies make of what was seen. */
export function planFor(rule: ImageRule, { facts, now }: Seen): ImageGcPlan {
  if (rule.kind === 'keep') return keepAllImages(facts, { reason: rule.reason, now });
  return planImageGc(facts, { policy: rule.imageGC, now });
}

/** How the pass ended; without a policy nothing can go wrong. */
export function outcomeFor({ rule, plan, seen, acts }: Done): Outcome {
  const policy = rule.kind === 'governed' ? rule.imageGC : undefined;
  const diskTrouble = policy === undefined ? undefined : seen.trouble;
  return outcomeOf({ plan, acts, disk: seen.disk, diskTrouble, maximumAgeMs: policy?.maximumAgeMs });
}

/** What holds the disk after the pass. */
export function attributionOf(
  { plan, seen, acts }: Done,
  known: Pick<Attributable, 'stats' | 'logBytes'>,
): DiskAttribution | undefined {
  const kept = plan.kept.filter(({ image }) => !removedBy(acts).has(image.id));
  return attributeDisk({ kept, disk: acts?.disk ?? seen.disk, ...known });
}

/** The ids of what went. */
export const removedBy = (acts: Acts | undefined): ReadonlySet<string> =>
  new Set(acts?.removed.map(({ image }) => image.id));

/** The report of a pass; trouble with the state file shows where there is no worse. */
export function reportOf(
  acts: Acts | undefined,
  outcome: Outcome,
  { at, stateTrouble }: { readonly at: Date; readonly stateTrouble: string | undefined },
): NodePassReport {
  return {
    ...{ unit: 'imagegc', at, result: outcome.result },
    removed: acts?.removed.length ?? 0,
    freedBytes: acts?.freedBytes ?? 0,
    errors: acts?.failed.length ?? 0,
    message: outcome.message ?? stateTrouble,
  };
}

/** The report of a pass that could not see the node. */
export const blindReport = (message: string, at: Date): NodePassReport => ({
  ...{ unit: 'imagegc', at, result: 'Failed', removed: 0, freedBytes: 0, errors: 0, message },
});
