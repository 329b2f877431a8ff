import type { NodeUnit } from '../api/node-pass.ts';
import type { Policy } from '../api/policy.ts';
import type { Reason } from '../api/reasons.ts';
import { formatRfc3339 } from '../runtime/rfc3339.ts';

export type Unit = 'podgc' | NodeUnit;
export type Verdict = 'Delete' | 'Remove' | 'Evict' | 'Warn' | 'Keep';

export interface PodObject {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string | null;
}

/** What lies on a node: it has an `id` or a `path`. */
export interface NodeObject {
  readonly kind: 'Image' | 'Container' | 'Sandbox' | 'LogDirectory' | 'LogLink' | 'LogFile';
  readonly id?: string;
  readonly path?: string;
  readonly node: string;
  /** A name people know it by: an image's tag, a container's name in its pod. */
  readonly name?: string;
  /** `namespace/name` of the pod it belongs to. */
  readonly pod?: string;
}

/** One decision, as `plan -o json` prints it (DESIGN.md 4): fields are added, never renamed. */
export interface Decision {
  readonly unit: Unit;
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** null = no policy governs the object. */
  readonly policy: string | null;
  readonly mode: Policy['mode'] | null;
  /** From 1, by unit and node; null = it stays. */
  readonly order: number | null;
  readonly object: PodObject | NodeObject;
  readonly eligibleAt: string | null;
  readonly bytes: number | null;
  /** One sentence for a person. */
  readonly detail: string;
  readonly markFailed?: boolean;
}

/** What a unit makes of the cluster or of one node. */
export interface Summary {
  readonly unit: Unit;
  /** null = the cluster. */
  readonly node: string | null;
  readonly state?: string;
  readonly wantedBytes?: number | null;
  readonly plannedBytes?: number | null;
  readonly usedPercent?: number | null;
  /** How many would go now, how many stay, and how many of these wait for time alone. */
  readonly planned: number | null;
  readonly kept: number | null;
  readonly waiting: number | null;
  /** How many there are of each reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** By policy: the percentage of missing nodes that stops its orphan rule. */
  readonly tripped?: Readonly<Record<string, number>>;
  /** Set when only the report of the node was read: what could go, as its agent counted it then. */
  readonly reportedAt?: string | null;
  readonly removable?: number;
  readonly removableBytes?: number;
}

export interface PlanDocument {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Plan';
  readonly generatedAt: string;
  readonly decisions: readonly Decision[];
  readonly summary: readonly Summary[];
  /** What a person should know before believing it, one sentence each. */
  readonly notes: readonly string[];
}

/** What one unit decides. */
export interface UnitPlan {
  readonly decisions: readonly Decision[];
  /** undefined = no policy speaks of it. */
  readonly summary: Summary | undefined;
}

/** How to plan. */
export interface PlanOptions {
  readonly now: Date;
  /** Lists what stays, too. */
  readonly kept: boolean;
  /** Takes quarantines as over, and gone pods as seen twice. */
  readonly assumeElapsed: boolean;
}

type Known = Pick<Decision, 'unit' | 'verdict' | 'reason' | 'object' | 'detail'>;

interface Rest {
  readonly policy: Pick<Policy, 'name' | 'mode'> | undefined;
  readonly order?: number | undefined;
  readonly eligibleAt?: Date | undefined;
  readonly bytes?: number | undefined;
}

/** A decision with every field that the document promises. */
export function decision(known: Known, { policy, order, eligibleAt, bytes }: Rest): Decision {
  return {
    unit: known.unit,
    verdict: known.verdict,
    reason: known.reason,
    policy: policy?.name ?? null,
    mode: policy?.mode ?? null,
    order: order ?? null,
    object: known.object,
    eligibleAt: eligibleAt === undefined ? null : formatRfc3339(eligibleAt),
    bytes: bytes ?? null,
    detail: known.detail,
  };
}

/** Counts by reason, and what waits for time. */
export class Counts {
  readonly reasons: Record<string, number> = {};
  kept = 0;
  waiting = 0;

  goes(reason: Reason): void {
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
  }

  stays(reason: Reason, isWaiting: boolean): void {
    this.goes(reason);
    this.kept += 1;
    this.waiting += Number(isWaiting);
  }
}
