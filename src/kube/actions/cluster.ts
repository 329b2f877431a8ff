import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { V1DeleteOptions, V1Pod, V1PodCondition } from '@kubernetes/client-node';
import type { NodeFacts, PodFacts } from '../cache/objects.ts';
import { asObject, asText } from '../codec/json.ts';
import { parseJson } from '../codec/status.ts';
import { actTimeoutMs, podPath } from './live-pod.ts';
import { acceptCheapest, acceptMetadata } from '../http/media-types.ts';
import { nodeCodec } from '../cache/resources.ts';
import {
  ApiError,
  isConflict,
  isNotFound,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from '../http/transport.ts';
import type { OnWire } from '../codec/wire.ts';

/** The acts on the cluster that the units do, each one request, each with its precondition. */
export interface ClusterActions {
  /** Live, never from a cache; undefined when the API server says NotFound. */
  getNode(name: string, signal: AbortSignal): Promise<NodeFacts | undefined>;
  /**
   * DELETE with grace period 0 and the preconditions uid and resourceVersion.
   * `gone`: NotFound. `changed`: 409, the pod is not the one that was decided about any more.
   */
  deletePod(pod: PodRef, signal: AbortSignal): Promise<'deleted' | 'gone' | 'changed'>;
  /**
   * Patches status.phase to Failed with metadata.uid (and resourceVersion) in the patch; with `condition`, a DisruptionTarget condition too.
   * Both carry observedGeneration, as upstream's from 1.34 on; not for a pod without a generation, whose API server knows no such field.
   * Resolves with the new resourceVersion, or why there was nothing to patch.
   */
  markPodFailed(
    pod: CountedPodRef,
    condition: DisruptionTarget | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly resourceVersion: string } | 'gone' | 'changed'>;
}

export type PodRef = Pick<PodFacts, 'namespace' | 'name' | 'uid' | 'resourceVersion'>;
type CountedPodRef = PodRef & Pick<PodFacts, 'generation'>;

/** What PodGC writes on an orphan (pkg/controller/podgc/gc_controller.go, gcOrphaned). */
export interface DisruptionTarget {
  readonly reason: 'DeletionByPodGC';
  readonly message: string;
  readonly at: Date;
}

/** The acts as requests to an API server. */
export function clusterActions(transport: Pick<KubeTransport, 'send'>): ClusterActions {
  return {
    getNode: (name, signal) => getNode(transport, name, signal),
    deletePod: async (pod, signal) => {
      try {
        const answer = await unlessMoved(transport.send(deleteRequest(pod), signal));
        return typeof answer === 'string' ? answer : 'deleted';
      } catch (err) {
        // The connection broke after the first try, and the second found nothing: it was our delete that went through.
        if (err instanceof ApiError && err.resent && isNotFound(err)) return 'deleted';
        throw err;
      }
    },
    markPodFailed: async (pod, condition, signal) => {
      const answer = await unlessMoved(transport.send(markFailedRequest(pod, condition), signal));
      return typeof answer === 'string' ? answer : { resourceVersion: metadataOf(answer, 'resourceVersion') };
    },
  };
}

async function getNode(
  transport: Pick<KubeTransport, 'send'>,
  name: string,
  signal: AbortSignal,
): Promise<NodeFacts | undefined> {
  try {
    const { body } = await transport.send(
      {
        method: 'GET',
        path: `/api/v1/nodes/${encodeURIComponent(name)}`,
        timeoutMs: actTimeoutMs,
        retries: 0,
      },
      signal,
    );
    return nodeCodec().fromJson(parseJson(body));
  } catch (err) {
    // Only the API server's own word that there is no such node; a proxy's 404 is none.
    if (err instanceof ApiError && err.reason === 'NotFound') return undefined;
    throw err;
  }
}

/**
 * NotFound and Conflict are answers: the world has moved on since the decision. (A changed UID alone would be Invalid, but a namesake
 * has another resourceVersion too, and that is Conflict. So Invalid is an error, and no right to read pods is needed to tell.)
 */
async function unlessMoved(answer: Promise<KubeResponse>): Promise<KubeResponse | 'gone' | 'changed'> {
  try {
    return await answer;
  } catch (err) {
    if (isNotFound(err) && !(err instanceof ApiError && err.resent)) return 'gone';
    if (isConflict(err)) return 'changed';
    throw err;
  }
}

function deleteRequest(pod: PodRef): KubeRequest {
  const { uid, resourceVersion } = pod;
  return {
    method: 'DELETE',
    timeoutMs: actTimeoutMs,
    path: podPath(pod),
    accept: acceptCheapest,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid, resourceVersion },
    } satisfies OnWire<V1DeleteOptions>,
  };
}

function markFailedRequest(pod: CountedPodRef, condition: DisruptionTarget | undefined): KubeRequest {
  const { uid, resourceVersion, generation } = pod;
  const observed = generation > 0 ? { observedGeneration: generation } : {};
  const conditions =
    condition === undefined ? {} : { conditions: [{ ...disruptionTarget(condition), ...observed }] };
  return {
    method: 'PATCH',
    timeoutMs: actTimeoutMs,
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
  ...{ type: 'DisruptionTarget', status: 'True', reason, message },
  lastTransitionTime: metaTime(at),
});

function metadataOf({ body }: KubeResponse, field: 'uid' | 'resourceVersion'): string {
  return asText(asObject(asObject(parseJson(body))['metadata'])[field]);
}
