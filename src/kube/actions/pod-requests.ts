import type { V1DeleteOptions } from '@kubernetes/client-node';
import type { OnWire } from '../codec/wire.ts';
import { acceptCheapest } from '../http/media-types.ts';
import type { KubeRequest } from '../http/transport.ts';

/** Deadline of one request about one pod. A shutdown waits for it, so it is shorter than the grace period of our pods. */
export const actionTimeoutMs = 15_000;

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export const podPath = ({ namespace, name }: PodName): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;

/** Deletes exactly the pod that was decided about. `resourceVersion` undefined = any version of it; `graceSeconds` undefined = the pod's own. */
export function deletePodRequest(
  pod: PodName & { readonly uid: string; readonly resourceVersion: string | undefined },
  graceSeconds: number | undefined,
): KubeRequest {
  const { uid, resourceVersion } = pod;
  return {
    method: 'DELETE',
    path: podPath(pod),
    timeoutMs: actionTimeoutMs,
    accept: acceptCheapest,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: resourceVersion === undefined ? { uid } : { uid, resourceVersion },
      ...gracePeriod(graceSeconds),
    } satisfies OnWire<V1DeleteOptions>,
  };
}

/** Leaves the field out where the pod's own grace period is to apply. */
export const gracePeriod = (
  gracePeriodSeconds: number | undefined,
): Pick<OnWire<V1DeleteOptions>, 'gracePeriodSeconds'> =>
  gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
