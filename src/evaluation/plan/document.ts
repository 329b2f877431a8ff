import type { SpaceUnit } from '../../agent/imagegc/facts.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import { isInvalid, type Policy } from '../../api/policy/policy.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Decision as Planned, Target, Unit, Verdict } from '../../gc/decision.ts';
import { summarize } from '../../gc/summary.ts';
import type { Why } from '../../gc/words.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';

interface PodObject {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string | null;
}

/** An object on a node, with an `id` or a `path`; or the node. */
interface NodeObject {
  readonly kind:
    | 'Node'
    | 'Image'
    | 'Container'
    | 'Sandbox'
    | 'LogDirectory'
    | 'LogLink'
    | 'LogFile'
    | 'PodDirectory'
    | 'PodCgroup'
    | 'Checkpoint'
    | 'Leftover';
  readonly id?: string;
  readonly path?: string;
  readonly node: string;
  /** The tag of an image, or the name of a container in its pod. */
  readonly name?: string;
  /** `namespace/name` of the pod it belongs to. */
  readonly pod?: string;
}

export type PlanObject = PodObject | NodeObject;

/** One decision, as `plan -o json` prints it: fields are added, never renamed. */
export interface Decision {
  readonly unit: Unit;
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** null = no policy governs the object. */
  readonly policy: string | null;
  /** null = no policy, or an invalid one. */
  readonly mode: Policy['mode'] | null;
  /** Position in the order of removal, from 1, by unit and node; null = it is kept. */
  readonly order: number | null;
  readonly object: PlanObject;
  readonly eligibleAt: string | null;
  readonly bytes: number | null;
  /** One sentence. */
  readonly detail: string;
  /** The field of the policy, or the label of an object, that decided, with its value; null = none did. */
  readonly field: string | null;
  readonly markFailed?: boolean;
}

/** The image file system of a node: how much image GC has to free, and how much it can (docs/adr/0012). */
export interface Summary {
  readonly unit: 'imagegc';
  readonly node: string;
  readonly state: string;
  /** Whose threshold is crossed: bytes, inodes or both; empty = nothing has to be freed. */
  readonly crossed: readonly SpaceUnit[];
  readonly wantedBytes: number;
  /** Of the space step alone. */
  readonly plannedBytes: number;
  readonly usedPercent: number | null;
  readonly wantedInodes: number;
  /** An estimate: the runtime reports no inodes per image. */
  readonly plannedInodes: number;
  readonly usedInodesPercent: number | null;
  readonly waiting: number;
}

/** How many objects a unit would remove and keep, in the cluster or on one node; null = not known. */
export interface Totals {
  readonly unit: Unit;
  /** null = the cluster. */
  readonly node: string | null;
  readonly planned: number | null;
  readonly kept: number | null;
  readonly waiting: number | null;
  /** How many warnings: about an object that is counted as planned or kept as well, or about a node; not podgc and imagegc. */
  readonly warned?: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** Bytes of the planned removals, as far as sizes are known. */
  readonly bytes?: number;
  readonly state?: string;
  /** By policy: the percentage of missing nodes that stops its orphan rule. */
  readonly tripped?: Readonly<Record<string, number>>;
  /** Set where only the report of the node was read: what its agent counted as removable then. */
  readonly reportedAt?: string | null;
  readonly removable?: number;
  readonly removableBytes?: number;
}

export interface PolicyCount {
  readonly name: string;
  readonly mode: Policy['mode'];
  readonly planned: number;
}

/** How the policies of `--policy` differ in effect from those in force. */
export interface Changes {
  readonly more: readonly Decision[];
  /** Removals that only the policies in force request: with the proposed ones these objects stay. */
  readonly less: readonly Decision[];
  /** Policies whose mode changes; null = there is none of this name. */
  readonly modes: readonly ModeChange[];
  readonly unknown: readonly Unknown[];
}

/** Objects of which it is not known whether a policy would remove them. */
export interface Unknown {
  /** `policies`: of all objects. */
  readonly what: 'policies' | 'pods' | 'nodes';
  /** null = not known. */
  readonly policy: string | null;
  /** The nodes that the policy governs and that were not read; null = all that it may govern, or not about nodes. */
  readonly nodes: readonly string[] | null;
  /** What to do to know them, without a full stop; null = the notes have it. */
  readonly remedy: string | null;
}

export interface ModeChange {
  readonly policy: string;
  readonly before: Policy['mode'] | null;
  readonly after: Policy['mode'] | null;
}

export interface PlanDocument {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Plan';
  readonly generatedAt: string;
  readonly decisions: readonly Decision[];
  readonly summary: readonly Summary[];
  readonly totals: readonly Totals[];
  readonly policies: readonly PolicyCount[];
  /** What the plan leaves open; empty = what it does not list is not removed. */
  readonly unknown: readonly Unknown[];
  /** The policies are not only those in force: some are those of --policy. */
  readonly proposed?: boolean;
  /** Compared with the policies in force; undefined = there are none to compare with. */
  readonly changes?: Changes;
  /** No controller acts now, so no pod is removed. */
  readonly idle?: true | undefined;
  /** Facts that limit the plan, one sentence each. */
  readonly notes: readonly string[];
}

export interface UnitPlan {
  readonly decisions: readonly Decision[];
  /** undefined = no policy has a rule for it. */
  readonly totals?: Totals | undefined;
  readonly summary?: Summary | undefined;
  /** Facts that limit it, one sentence each. */
  readonly notes?: readonly string[];
}

export interface PlanOptions {
  readonly now: Date;
  readonly kept: boolean;
  /** Treats quarantines as over, and pods that are gone as seen gone twice. */
  readonly assumeElapsed: boolean;
  /** Lists every decision about these objects and no other; all objects are planned and counted all the same. */
  readonly only?: ObjectFilter | undefined;
}

export type ObjectFilter = (object: PlanObject, verdict: Verdict) => boolean;

/** A decision, with its explanation on demand. */
export type Explained = readonly [decision: Planned, explain: () => Why];

export function* explained<D extends Planned>(
  decisions: Iterable<D>,
  explain: (decision: D) => Why,
): Generator<Explained> {
  for (const decision of decisions) yield [decision, () => explain(decision)];
}

const sumsOf: Readonly<Record<Unit, readonly ('warned' | 'bytes')[]>> = {
  podgc: [],
  eviction: [],
  imagegc: ['bytes'],
  containergc: ['warned', 'bytes'],
  localstorage: ['warned'],
  nodepressure: ['warned', 'bytes'],
  leftovers: ['bytes'],
};

/** The counts of totals. In the state Unknown, a count of 0 is not known. */
export function countsIn(
  state: string | undefined,
  { planned, kept, waiting, reasons }: ReturnType<typeof summarize>,
): Pick<Totals, 'planned' | 'kept' | 'waiting' | 'reasons'> {
  const known = (count: number): number | null => (state === 'Unknown' && count === 0 ? null : count);
  return { planned: known(planned), kept: known(kept), waiting: known(waiting), reasons };
}

/** The decisions of a unit in a place, and their totals. */
export function unitPlan(
  { unit, node, state }: Pick<Totals, 'unit' | 'node'> & { readonly state?: string | undefined },
  decided: Iterable<Explained>,
  options: PlanOptions,
): UnitPlan & { readonly totals: Totals } {
  const all = [...decided];
  const summary = summarize(all.map(([decision]) => decision));
  const more = Object.fromEntries(sumsOf[unit].map((sum) => [sum, summary[sum]]));
  return {
    decisions: listed(all, node, options),
    totals: { unit, node, ...countsIn(state, summary), ...more, ...(state !== undefined && { state }) },
  };
}

/** The decisions that the options select, in order; those that are carried out are numbered. */
function listed(
  decisions: readonly Explained[],
  node: string | null,
  { kept, only }: PlanOptions,
): readonly Decision[] {
  const list: Decision[] = [];
  let order = 0;
  for (const [decision, explain] of decisions) {
    const { verdict, target } = decision;
    const isDue = verdict !== 'Keep' && verdict !== 'Warn';
    if (isDue) order += 1;
    const object = objectOf(target, node);
    if (!(only?.(object, verdict) ?? (kept || verdict !== 'Keep'))) continue;
    const { detail, field = null } = explain();
    list.push({ ...printed(decision, object), order: isDue ? order : null, detail, field });
  }
  return list;
}

function printed(
  { unit, verdict, reason, policy, eligibleAt, bytes, target }: Planned,
  object: PlanObject,
): Omit<Decision, 'order' | 'detail' | 'field'> {
  return {
    unit,
    verdict,
    reason,
    policy: policy?.name ?? null,
    mode: policy === undefined || isInvalid(policy) ? null : policy.mode,
    object,
    eligibleAt: eligibleAt === undefined ? null : formatRfc3339(eligibleAt),
    bytes: bytes ?? null,
    ...(verdict === 'Delete' && target.kind === 'Pod' && { markFailed: target.markFailed === true }),
  };
}

function objectOf(target: Target, node: string | null): PlanObject {
  if (target.kind === 'Pod') {
    const { kind, namespace, name, uid } = target;
    return { kind, namespace, name, uid, node: target.node ?? node };
  }
  if (target.kind === 'Node') return { kind: target.kind, name: target.name, node: target.name };
  const pod = 'pod' in target ? podOf(target.pod) : {};
  if ('path' in target) return { kind: target.kind, path: target.path, node: node ?? '', ...pod };
  const name = 'name' in target && target.name !== undefined ? { name: target.name } : {};
  return { kind: target.kind, id: target.id, node: node ?? '', ...name, ...pod };
}

const podOf = (pod: PodRef | undefined): { readonly pod?: string } =>
  pod?.namespace === undefined || pod.name === undefined ? {} : { pod: `${pod.namespace}/${pod.name}` };
