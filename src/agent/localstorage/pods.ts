import type { StoragePod } from '../../api/local-storage.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { isNamed } from '../../api/policy/matching.ts';
import { isNodeUnknown, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { NodesPolicy } from '../../api/policy/policy.ts';
import type { NodeKeepReason } from '../../api/reasons.ts';
import type { PodTarget } from '../../gc/decision.ts';
import type { NodePassReport } from '../../gc/pass.ts';

export interface JudgedPod extends PodTarget {
  readonly pod: StoragePod;
}

export const judgedPod = (pod: StoragePod): JudgedPod => {
  const { namespace, name, uid } = pod;
  return { kind: 'Pod', namespace, name, uid, node: undefined, pod };
};

/** Requests wait for nothing and free no known size. */
export const untimed = { eligibleAt: undefined, bytes: undefined } as const;

type PodIdentity = Pick<PodTarget, 'namespace' | 'name' | 'uid'>;

/** The pod as reports and logs name it. */
export const identityOf = ({ namespace, name, uid }: PodIdentity): PodIdentity => ({ namespace, name, uid });

/** Why a pod is kept whatever it uses. */
export type PodProtection =
  | { readonly reason: 'KeepMarked'; readonly on: 'pod' | 'node' }
  | { readonly reason: 'NamespaceExcluded' | 'Finished' | 'Terminating' }
  | { readonly reason: Exclude<NodeKeepReason, 'KeepMarked' | 'RuleOff'> };

export const keptByNode = (reason: NodeKeepReason): PodProtection | { readonly reason: 'RuleOff' } =>
  reason === 'KeepMarked' ? { reason, on: 'node' } : { reason };

/** Why this pod is not evicted, whatever it uses; undefined = only its usage decides, and whether it is critical. */
export function protectedBecause(
  { isOptedOut, namespace, phase, deletionAtMs }: StoragePod,
  { excludeNamespaces }: NodesPolicy,
): PodProtection | undefined {
  if (isOptedOut) return { reason: 'KeepMarked', on: 'pod' };
  if (isNamed(excludeNamespaces, namespace)) return { reason: 'NamespaceExcluded' };
  if (isFinished({ phase })) return { reason: 'Finished' };
  return deletionAtMs === undefined ? undefined : { reason: 'Terminating' };
}

export interface MaxAges {
  /** Of the signals of the node. */
  readonly signalMs: number;
  /** Of the usage of pods. */
  readonly usageMs: number;
}

/** The kubelet measures file systems every 10 to 60 s, and the volumes of pods every one to two minutes. */
export const maxAges: MaxAges = { signalMs: 2 * 60_000, usageMs: 5 * 60_000 };

/** For measurements whose ages are unknown. */
export const anyAge: MaxAges = { signalMs: Infinity, usageMs: Infinity };

/** Whether a measurement is young enough to decide. Absolute: after the clock was set back, measurements are in the future. */
export const isFresh = (measuredAtMs: number, now: Date, maxAgeMs: number): boolean =>
  Math.abs(now.getTime() - measuredAtMs) <= maxAgeMs;

/** What a unit reported last: that the policy has no rule for it, that this is not known, or its work. A node that never had the rule reports nothing. */
export type UnitState = 'off' | 'unknown' | 'working';

export const podsUnknown = 'the pods of the node are not known';

interface Rest {
  /** Off: the unit forgets everything. */
  readonly state: 'off' | 'unknown';
  /** What the unit reports, once; undefined = it has done so. */
  readonly report: Pick<NodePassReport, 'result' | 'message'> | undefined;
}

/** What a unit does that is not governed. */
export function restOf(last: UnitState, governance: NodeGovernance): Rest {
  const state = isNodeUnknown(governance) ? 'unknown' : 'off';
  if (last === 'off' || last === state) return { state, report: undefined };
  return state === 'off'
    ? { state, report: { result: 'Idle', message: undefined } }
    : { state, report: { result: 'Unknown', message: 'the node or the policies are not known' } };
}
