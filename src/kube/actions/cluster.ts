import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { V1Pod, V1PodCondition } from '@kubernetes/client-node';
import type { PodFacts } from '../cache/objects.ts';
import { acceptMetadata } from '../http/media-types.ts';
import {
  ApiError,
  isConflict,
  isNotFound,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from '../http/transport.ts';
import type { OnWire } from '../codec/wire.ts';
import { actionTimeoutMs, deletePodRequest, podPath } from './pod-requests.ts';

/** The actions of the controller on the cluster. Each is one request with its precondition. */
export interface ClusterActions {
  /**
   * DELETE with grace period 0 and the preconditions uid and resourceVersion, if one is given.
   * `gone`: NotFound. `changed`: 409, the pod is no longer the one that was decided about.
   */
  deletePod(pod: DeletedPod, signal: AbortSignal): Promise<'deleted' | 'gone' | 'changed'>;
  /**
   * Patches status.phase to Failed with metadata.uid (and resourceVersion) in the patch; with `condition`, a DisruptionTarget condition too.
   * Both have observedGeneration, as upstream's since 1.34, except for a pod without a generation: its API server does not know the field.
   * `gone` and `changed`: there was nothing to patch.
   */
  markPodFailed(
    pod: MarkedPod,
    condition: DisruptionTarget | undefined,
    signal: AbortSignal,
  ): Promise<'marked' | 'gone' | 'changed'>;
}

export interface DeletedPod extends Pick<PodFacts, 'namespace' | 'name' | 'uid'> {
  /** undefined = any version of this pod. */
  readonly resourceVersion: string | undefined;
}

type MarkedPod = Pick<PodFacts, 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'generation'>;

/** The condition that PodGC writes on an orphan (pkg/controller/podgc/gc_controller.go, gcOrphaned). */
export interface DisruptionTarget {
  readonly reason: 'DeletionByPodGC';
  readonly message: string;
  readonly at: Date;
}

export function clusterActions(transport: Pick<KubeTransport, 'send'>): ClusterActions {
  return {
    deletePod: async (pod, signal) => {
      try {
        const response = await unlessMoved(transport.send(deletePodRequest(pod, 0), signal));
        return typeof response === 'string' ? response : 'deleted';
      } catch (err) {
        // The connection broke after the first attempt, and the second found nothing: the first one succeeded.
        if (isNotFound(err)) return 'deleted';
        throw err;
      }
    },
    markPodFailed: async (pod, condition, signal) => {
      const response = await unlessMoved(transport.send(markFailedRequest(pod, condition), signal));
      return typeof response === 'string' ? response : 'marked';
    },
  };
}

/**
 * Turns NotFound and Conflict into results: the pod has changed since the decision. (A changed UID alone would be Invalid, but a namesake also has
 * another resourceVersion, and that is Conflict. So Invalid is an error, and no right to read pods is needed.)
 */
async function unlessMoved(response: Promise<KubeResponse>): Promise<KubeResponse | 'gone' | 'changed'> {
  try {
    return await response;
  } catch (err) {
    if (isNotFound(err) && !(err instanceof ApiError && err.resent)) return 'gone';
    if (isConflict(err)) return 'changed';
    throw err;
  }
}

function markFailedRequest(pod: MarkedPod, condition: DisruptionTarget | undefined): KubeRequest {
  const { uid, resourceVersion, generation } = pod;
  const observed = generation > 0 ? { observedGeneration: generation } : {};
  const conditions =
    condition === undefined ? {} : { conditions: [{ ...disruptionTarget(condition), ...observed }] };
  return {
    method: 'PATCH',
    timeoutMs: actionTimeoutMs,
    path: `${podPath(pod)}/status`,
    query: { fieldManager: 'dustpan' },
    contentType: 'application/strategic-merge-patch+json',
    accept: acceptMetadata,
    body: {
      metadata: { uid, resourceVersion },
      status: { phase: 'Failed', ...observed, ...conditions },
    } satisfies OnWire<V1Pod>,
  };
}

const disruptionTarget = ({ reason, message, at }: DisruptionTarget): OnWire<V1PodCondition> => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason,
  message,
  lastTransitionTime: metaTime(at),
});
