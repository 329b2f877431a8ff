import { isKeepMarked } from '../../api/policy/matching.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import type { DisruptionTarget } from '../../kube/actions/cluster.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';
import { isOutOfService } from './nodes.ts';

/** What a live read of a node returned: the node, its absence, or an error. */
export type LiveNode = { readonly node: NodeFacts | undefined } | 'unreadable';

/** Whether a deletion depends on a node, which is then read live right before. */
export const dependsOnNode = (reason: PodDeleteReason): boolean =>
  reason === 'Orphaned' || reason === 'OutOfService';

/** Decides by the live node whether the deletion still stands; a reason means: keep. */
export function recheckNode(reason: PodDeleteReason, live: LiveNode): PodKeepReason | undefined {
  if (!dependsOnNode(reason)) return undefined;
  if (live === 'unreadable') return 'NodeUnknown';
  if (reason === 'Orphaned') return live.node === undefined ? undefined : 'NodeExists';
  if (live.node === undefined) return 'NodeUnknown';
  if (isKeepMarked(live.node)) return 'KeepMarked';
  return isOutOfService(live.node) ? undefined : 'NodeRecovered';
}

/** The condition upstream writes on an orphan, and on nothing else (pkg/controller/podgc/gc_controller.go, markFailedAndDeletePodWithCondition). */
export const disruptionTarget = (reason: PodDeleteReason, at: Date): DisruptionTarget | undefined =>
  reason === 'Orphaned'
    ? { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists', at }
    : undefined;

/** When the API server throttles without saying for how long. */
const defaultPauseMs = 1_000;

/** How long to wait after a response 429: nothing happened. undefined: the error is another one. */
export const throttledForMs = (err: unknown): number | undefined =>
  statusOf(err) === 429 ? (retryAfterOf(err) ?? defaultPauseMs) : undefined;

// Structural, because a unit takes types alone from an adapter.
/** HTTP status of a response that refuses a request. */
export const statusOf = (err: unknown): number | undefined =>
  err instanceof Error && 'status' in err && typeof err.status === 'number' ? err.status : undefined;
const retryAfterOf = (err: unknown): number | undefined =>
  err instanceof Error && 'retryAfterMs' in err && typeof err.retryAfterMs === 'number'
    ? err.retryAfterMs
    : undefined;
