import type { PodRef } from '../../api/pod-ref.ts';
import { isInvalid, type Policy } from '../../api/policy/policy.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Decision as Planned, Target, Unit, Verdict } from '../../gc/decision.ts';
import { explain, type ReasonCatalog } from '../../gc/reasons/entry.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';

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

/** One decision, as `plan -o json` prints it: fields are added, never renamed. */
export interface Decision {
  readonly unit: Unit;
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** null = no policy governs the object. An invalid one has no mode. */
  readonly policy: string | null;
  readonly mode: Policy['mode'] | null;
  /** From 1, by unit and node; null = it stays. */
  readonly order: number | null;
  readonly object: PodObject | NodeObject;
  readonly eligibleAt: string | null;
  readonly bytes: number | null;
  /** One sentence for a person. */
  readonly detail: string;
  /** What decided, with its value: a field of the policy, or a mark on an object; null = what was observed, or could not be. */
  readonly field: string | null;
  readonly markFailed?: boolean;
}

/** What the images of a node have to give, and what they can; for image GC alone (docs/adr/0012). */
export interface Summary {
  readonly unit: 'imagegc';
  readonly node: string;
  readonly state: string;
  readonly wantedBytes: number;
  /** Of the space step alone. */
  readonly plannedBytes: number;
  readonly usedPercent: number | null;
  readonly waiting: number;
}

/** How many a unit would remove and keep, in the cluster or on one node; null = nobody looked. */
export interface Totals {
  readonly unit: Unit;
  /** null = the cluster. */
  readonly node: string | null;
  readonly planned: number | null;
  readonly kept: number | null;
  /** Of those kept: how many wait for time alone. */
  readonly waiting: number | null;
  /** Limits of pods that stay or go of which so much is used that somebody is warned; localstorage alone. */
  readonly warned?: number;
  /** How many there are of each reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Of what would go, as far as sizes are known. */
  readonly bytes?: number;
  readonly state?: string;
  /** By policy: the percentage of missing nodes that stops its orphan rule. */
  readonly tripped?: Readonly<Record<string, number>>;
  /** Set when only the report of the node was read: what could go, as its agent counted it then. */
  readonly reportedAt?: string | null;
  readonly removable?: number;
  readonly removableBytes?: number;
}

/** A policy that can be followed, and how much would go by its word. */
export interface PolicyCount {
  readonly name: string;
  readonly mode: Policy['mode'];
  readonly planned: number;
}

export interface PlanDocument {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Plan';
  readonly generatedAt: string;
  readonly decisions: readonly Decision[];
  readonly summary: readonly Summary[];
  readonly totals: readonly Totals[];
  readonly policies: readonly PolicyCount[];
  /** What a person should know before believing it, one sentence each. */
  readonly notes: readonly string[];
}

/** What one unit decides. */
export interface UnitPlan {
  readonly decisions: readonly Decision[];
  /** undefined = no policy speaks of it. */
  readonly totals: Totals | undefined;
  readonly summary?: Summary | undefined;
}

/** How to plan. */
export interface PlanOptions {
  readonly now: Date;
  /** Lists what stays, too. */
  readonly kept: boolean;
  /** Takes quarantines as over, and gone pods as seen twice. */
  readonly assumeElapsed: boolean;
  /** Lists what is decided about these objects alone, what stays too; the rest is planned and counted all the same. */
  readonly asked?: Asked | undefined;
}

export type Asked = (object: PodObject | NodeObject) => boolean;

/** Whether a decision is listed. */
const isListed = (
  { kept, asked }: PlanOptions,
  { verdict, object }: Pick<Decision, 'verdict' | 'object'>,
): boolean => (asked === undefined ? kept || verdict !== 'Keep' : asked(object));

/** Lists the decisions of a unit, in one place, as the options ask for; those that are carried out are numbered. */
export function listed<E, R extends keyof E & Reason>(
  decisions: Iterable<Planned<Target, R, E[R]>>,
  catalog: ReasonCatalog<E>,
  { node, ...options }: PlanOptions & { readonly node: string | null },
): readonly Decision[] {
  const list: Decision[] = [];
  let order = 0;
  for (const one of decisions) {
    const isCarriedOut = one.verdict !== 'Keep' && one.verdict !== 'Warn';
    if (isCarriedOut) order += 1;
    const object = objectOf(one.target, node);
    if (!isListed(options, { verdict: one.verdict, object })) continue;
    const { detail, field = null } = explain(catalog, one);
    list.push({
      ...printed(one, object),
      order: isCarriedOut ? order : null,
      detail,
      field,
    });
  }
  return list;
}

function printed(
  { unit, verdict, reason, policy, eligibleAt, bytes, target }: Planned,
  object: Decision['object'],
): Omit<Decision, 'order' | 'detail' | 'field'> {
  return {
    ...{ unit, verdict, reason, ...governorOf(policy), object },
    eligibleAt: eligibleAt === undefined ? null : formatRfc3339(eligibleAt),
    bytes: bytes ?? null,
    ...(verdict === 'Delete' && target.kind === 'Pod' && { markFailed: target.markFailed === true }),
  };
}

/** An invalid policy has no mode. */
const governorOf = (policy: Planned['policy']): Pick<Decision, 'policy' | 'mode'> => ({
  policy: policy?.name ?? null,
  mode: policy === undefined || isInvalid(policy) ? null : policy.mode,
});

/** What a decision is about, as JSON has it. */
function objectOf(target: Target, node: string | null): PodObject | NodeObject {
  if (target.kind === 'Pod') {
    const { kind, namespace, name, uid } = target;
    return { kind, namespace, name, uid, node: target.node ?? node };
  }
  const pod = 'pod' in target ? podOf(target.pod) : {};
  if ('path' in target) return { kind: target.kind, path: target.path, node: node ?? '', ...pod };
  const name = 'name' in target && target.name !== undefined ? { name: target.name } : {};
  return { kind: target.kind, id: target.id, node: node ?? '', ...name, ...pod };
}

const podOf = (pod: PodRef | undefined): { readonly pod?: string } =>
  pod?.namespace === undefined || pod.name === undefined ? {} : { pod: `${pod.namespace}/${pod.name}` };
