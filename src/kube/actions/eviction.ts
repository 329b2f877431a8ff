import type { V1Eviction } from '@kubernetes/client-node';
import { ConnectionError } from '../http/connection-errors.ts';
import type { LivePod, LiveReads } from './live-reads.ts';
import { actionTimeoutMs, deletePodRequest, gracePeriod, podPath, type PodName } from './pod-requests.ts';
import { ApiError, isConflict, isNotFound, type KubeRequest, type KubeTransport } from '../http/transport.ts';
import type { OnWire } from '../codec/wire.ts';

/**
 * The result of an eviction.
 *
 * `changed`: the pod has changed or was replaced (409). `blocked`: a disruption budget does not allow it now. `misconfigured`: the API server cannot
 * apply a budget, as several cover the pod. `terminating`: its namespace is being deleted, and the pod with it. `forbidden`: the right is missing, or
 * an admission policy denies it. `denied`: admission denies this request with another status, such as KubeVirt's webhook with 429. `throttled`: the
 * API server is busy and has not evaluated the request.
 */
export type EvictionOutcome =
  | { readonly kind: 'evicted' | 'gone' | 'changed' | 'terminating' }
  | {
      readonly kind: 'blocked' | 'denied';
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly kind: 'misconfigured' | 'forbidden'; readonly message: string }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined };

type Transport = Pick<KubeTransport, 'send'>;

/** Evictions, each one request with its precondition. Every other error is thrown. */
export interface PodEvictions {
  /** Respects disruption budgets: pods/eviction with the UID as precondition. `graceSeconds` undefined = the pod's own. */
  evictPod(
    pod: PodName & Pick<LivePod, 'uid'>,
    graceSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<EvictionOutcome>;
  /** Ignores disruption budgets: DELETE with UID and resourceVersion as preconditions. `graceSeconds` undefined = the pod's own. */
  deletePod(
    pod: PodName & Pick<LivePod, 'uid' | 'resourceVersion'>,
    graceSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<EvictionOutcome>;
}

export function podEvictions(transport: Transport, live: Pick<LiveReads, 'pod'>): PodEvictions {
  /** If the first attempt has marked the pod for deletion, the precondition of the second fails: that conflict is a success. */
  const remove = async (...[pod, graceSeconds, signal]: Parameters<PodEvictions['deletePod']>) => {
    try {
      await transport.send(deletePodRequest(pod, graceSeconds), signal);
    } catch (err) {
      if (!(err instanceof ApiError && err.resent && isConflict(err))) throw err;
      const found = await live.pod(pod, signal);
      if (found?.uid === pod.uid && !found.isTerminating) throw err;
    }
  };
  return {
    evictPod: (pod, graceSeconds, signal) =>
      twice((isRepeated) => outcomeOf(transport.send(evictRequest(pod, graceSeconds), signal), isRepeated)),
    // The transport itself repeats a DELETE after a broken connection.
    deletePod: (...deletion) => outcomeOf(remove(...deletion), false),
  };
}

/**
 * Repeats an eviction whose response was lost, so that the caller can report it. If the pod is terminating by then, the second request takes no
 * budget and changes nothing.
 */
async function twice<T>(attempt: (isRepeated: boolean) => Promise<T>): Promise<T> {
  try {
    return await attempt(false);
  } catch (err) {
    if (!(err instanceof ConnectionError) || err.untrusted) throw err;
    return await attempt(true);
  }
}

/** `isRepeated`: the same request was sent before, without a response. */
async function outcomeOf(response: Promise<unknown>, isRepeated: boolean): Promise<EvictionOutcome> {
  try {
    await response;
    return { kind: 'evicted' };
  } catch (err) {
    const outcome = err instanceof ApiError ? rejectedAs(err, isRepeated || err.resent) : undefined;
    if (outcome === undefined) throw err;
    return outcome;
  }
}

function rejectedAs(err: ApiError, isRepeated: boolean): EvictionOutcome | undefined {
  const message = [err.message, ...err.explanations].filter((text) => text !== '').join(' ');
  // The first attempt has evicted a pod that existed a moment ago.
  if (isNotFound(err)) return { kind: isRepeated ? 'evicted' : 'gone' };
  if (isConflict(err)) return { kind: 'changed' };
  if (err.status === 500 && err.message.includes(severalBudgets)) return { kind: 'misconfigured', message };
  if (err.causes.includes('NamespaceTerminating')) return { kind: 'terminating' };
  if (err.status === 403) return { kind: 'forbidden', message };
  return throttledOrDenied(err, message);
}

/** The API server sets neither a reason nor a cause for it. */
const severalBudgets = 'more than one PodDisruptionBudget';

/**
 * Priority and fairness responds with text (apiserver, pkg/server/filters/priority-and-fairness.go, tooManyRequests). Its headers and Retry-After
 * prove nothing: the API server sets them on the responses of a webhook too. A webhook may deny with any status, and with 400 if it names none
 * (apiserver, pkg/admission/plugin/webhook/errors/statuserror.go).
 */
function throttledOrDenied(
  { status, isStatus, causes, retryAfterMs }: ApiError,
  message: string,
): EvictionOutcome | undefined {
  if (status === 429 && !isStatus) return { kind: 'throttled', retryAfterMs };
  // 401 is about the user, not about the pod.
  if (!isStatus || status === 401 || status >= 500) return undefined;
  const kind = status === 429 && causes.includes('DisruptionBudget') ? 'blocked' : 'denied';
  return { kind, message, retryAfterMs };
}

function evictRequest(pod: PodName & Pick<LivePod, 'uid'>, graceSeconds: number | undefined): KubeRequest {
  const { namespace, name, uid } = pod;
  return {
    method: 'POST',
    path: `${podPath(pod)}/eviction`,
    timeoutMs: actionTimeoutMs,
    // With the resourceVersion each change of the status would be a conflict, and a conflict uses up the budget.
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid }, ...gracePeriod(graceSeconds) },
    } satisfies OnWire<V1Eviction>,
  };
}
