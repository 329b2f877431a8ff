import type { V1DeleteOptions, V1Eviction } from '@kubernetes/client-node';
import { ConnectionError } from '../http/connection-errors.ts';
import { asObject } from '../codec/json.ts';
import { parseJson } from '../codec/status.ts';
import { actTimeoutMs, podPath, readPodLive, type LivePod, type PodName } from './live-pod.ts';
import { acceptMetadata } from '../http/media-types.ts';
import {
  ApiError,
  isConflict,
  isNotFound,
  isThrottled,
  type KubeRequest,
  type KubeTransport,
} from '../http/transport.ts';
import type { OnWire } from '../codec/wire.ts';

/**
 * What became of the wish to evict a pod.
 *
 * `changed`: the pod is another one by now (409). `blocked`: a disruption budget does not allow it now. `misconfigured`: no budget can be asked, as
 * several cover the pod. `terminating`: its namespace is being deleted, and the pod with it. `forbidden`: the right is missing, or an admission
 * policy says no. `throttled`: the API server asks for patience, nothing was looked at.
 */
export type EvictionOutcome =
  | { readonly kind: 'evicted' | 'gone' | 'changed' | 'terminating' }
  | { readonly kind: 'blocked'; readonly message: string; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'misconfigured' | 'forbidden'; readonly message: string }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined };

type Transport = Pick<KubeTransport, 'send'>;

/** Evictions, each one request with its precondition; whatever is no outcome is thrown. */
export interface PodEvictions {
  /** Live, never from a cache; undefined when the API server says NotFound. */
  readPodLive(pod: PodName, signal: AbortSignal): Promise<LivePod | undefined>;
  /** Whether this process has the right to create pods/eviction in the namespace. */
  mayEvict(namespace: string, signal: AbortSignal): Promise<boolean>;
  /** Asks the disruption budgets, by pods/eviction with the UID as precondition. `graceSeconds` undefined = the pod's own. */
  evictPod(
    pod: PodName & Pick<LivePod, 'uid'>,
    graceSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<EvictionOutcome>;
  /** Asks no budget: DELETE with UID and resourceVersion as preconditions. `graceSeconds` undefined = the pod's own. */
  deletePod(
    pod: PodName & Pick<LivePod, 'uid' | 'resourceVersion'>,
    graceSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<EvictionOutcome>;
}

/** Evictions over `transport`. */
export function podEvictions(transport: Transport): PodEvictions {
  return {
    readPodLive: (pod, signal) => readPodLive(transport, pod, signal),
    mayEvict: (namespace, signal) => mayEvict(transport, namespace, signal),
    evictPod: (pod, graceSeconds, signal) =>
      twice((again) => outcomeOf(transport.send(evictRequest(pod, graceSeconds), signal), again), signal),
    // A broken connection is tried again by the transport itself: a DELETE may be.
    deletePod: (pod, graceSeconds, signal) =>
      outcomeOf(deleted(transport, pod, { graceSeconds, signal }), false),
  };
}

async function mayEvict(transport: Transport, namespace: string, signal: AbortSignal): Promise<boolean> {
  const resourceAttributes = { namespace, verb: 'create', resource: 'pods', subresource: 'eviction' };
  const group = 'authorization.k8s.io/v1';
  const path = `/apis/${group}/selfsubjectaccessreviews`;
  const body = { apiVersion: group, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  try {
    const answer = await transport.send({ method: 'POST', path, timeoutMs: actTimeoutMs, body }, signal);
    return asObject(asObject(parseJson(answer.body))['status'])['allowed'] === true;
  } catch (cause) {
    throw new Error('checking the right to evict', { cause });
  }
}

interface Deletion {
  readonly graceSeconds: number | undefined;
  readonly signal: AbortSignal;
}

/** A pod that our first try has marked for deletion is not the one of the precondition any more: the second must not make that untold. */
async function deleted(
  transport: Transport,
  pod: PodName & Pick<LivePod, 'uid' | 'resourceVersion'>,
  { graceSeconds, signal }: Deletion,
): Promise<void> {
  try {
    await transport.send(deleteRequest(pod, graceSeconds), signal);
  } catch (err) {
    if (!(err instanceof ApiError && err.resent && isConflict(err))) throw err;
    const live = await readPodLive(transport, pod, signal);
    if (live?.uid === pod.uid && !live.isTerminating) throw err;
  }
}

/**
 * An eviction whose answer was lost is sent again: of a pod that is going by then it takes no budget and changes nothing
 * (and without the answer nobody would be told of it).
 */
async function twice<T>(attempt: (again: boolean) => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await attempt(false);
  } catch (err) {
    if (!(err instanceof ConnectionError) || err.untrusted || signal.aborted) throw err;
    return await attempt(true);
  }
}

/** `again`: the same was sent before, without an answer. */
async function outcomeOf(answer: Promise<unknown>, again: boolean): Promise<EvictionOutcome> {
  try {
    await answer;
    return { kind: 'evicted' };
  } catch (err) {
    const outcome = err instanceof ApiError ? refusedAs(err, again || err.resent) : undefined;
    if (outcome === undefined) throw err;
    return outcome;
  }
}

function refusedAs(err: ApiError, again: boolean): EvictionOutcome | undefined {
  const message = [err.message, ...err.explanations].filter((text) => text !== '').join(' ');
  // What was there a moment ago went by our first try.
  if (isNotFound(err)) return { kind: again ? 'evicted' : 'gone' };
  if (isConflict(err)) return { kind: 'changed' };
  if (isThrottled(err)) return throttledOrBlocked(err, message);
  if (err.status === 500 && err.message.includes(severalBudgets)) return { kind: 'misconfigured', message };
  if (err.status !== 403) return undefined;
  return err.causes.includes('NamespaceTerminating')
    ? { kind: 'terminating' }
    : { kind: 'forbidden', message };
}

/** The API server gives no reason and no cause for it. */
const severalBudgets = 'more than one PodDisruptionBudget';

function throttledOrBlocked(err: ApiError, message: string): EvictionOutcome {
  const { retryAfterMs } = err;
  return err.causes.includes('DisruptionBudget')
    ? { kind: 'blocked', message, retryAfterMs }
    : { kind: 'throttled', retryAfterMs };
}

function evictRequest(pod: PodName & Pick<LivePod, 'uid'>, graceSeconds: number | undefined): KubeRequest {
  const { namespace, name, uid } = pod;
  return {
    method: 'POST',
    path: `${podPath(pod)}/eviction`,
    timeoutMs: actTimeoutMs,
    // The resourceVersion would make each change of its status a conflict, and a conflict uses up the budget.
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid }, ...graceOf(graceSeconds) },
    } satisfies OnWire<V1Eviction>,
  };
}

function deleteRequest(
  pod: PodName & Pick<LivePod, 'uid' | 'resourceVersion'>,
  graceSeconds: number | undefined,
): KubeRequest {
  const { uid, resourceVersion } = pod;
  return {
    method: 'DELETE',
    path: podPath(pod),
    timeoutMs: actTimeoutMs,
    accept: acceptMetadata,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid, resourceVersion },
      ...graceOf(graceSeconds),
    } satisfies OnWire<V1DeleteOptions>,
  };
}

const graceOf = (
  gracePeriodSeconds: number | undefined,
): Pick<OnWire<V1DeleteOptions>, 'gracePeriodSeconds'> =>
  gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
