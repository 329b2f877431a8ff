import type { V1ObjectMeta, V1Pod, V1PodSpec, V1PodStatus } from '@kubernetes/client-node';
import {
  asObject,
  asText,
  numberFromJson,
  ownersFromJson,
  parseJson,
  textsFromJson,
  type Unchecked,
} from '../codec/json.ts';
import type { OwnerRef } from '../cache/objects.ts';
import { controllerOf, mirroredUid } from '../cache/owner-references.ts';
import { unlessMissing, type KubeTransport } from '../http/transport.ts';
import { actionTimeoutMs, podPath } from './pod-requests.ts';

/** The facts of a pod that are verified right before its eviction, read live from the API server. */
export interface LivePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly controller: OwnerRef | undefined;
  /** undefined = not bound to a node. */
  readonly nodeName: string | undefined;
  readonly phase: string;
  readonly isTerminating: boolean;
  readonly priority: number | undefined;
  /** The UID of the static pod that this pod mirrors. */
  readonly configHash: string | undefined;
}

export type PodName = Pick<LivePod, 'namespace' | 'name'>;

/** Reads a pod live, never from a cache. Returns undefined if it does not exist. */
export async function readPodLive(
  transport: Pick<KubeTransport, 'send'>,
  pod: PodName,
  signal: AbortSignal,
): Promise<LivePod | undefined> {
  try {
    const request = { method: 'GET', path: podPath(pod), timeoutMs: actionTimeoutMs, retries: 0 } as const;
    const response = await unlessMissing(transport.send(request, signal));
    return response && livePodOf(asObject(parseJson(response.body)));
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error('reading pod', { cause });
  }
}

function livePodOf(pod: Unchecked<V1Pod>): LivePod {
  const meta: Unchecked<V1ObjectMeta> = asObject(pod.metadata);
  const spec: Unchecked<V1PodSpec> = asObject(pod.spec);
  const { phase }: Unchecked<V1PodStatus> = asObject(pod.status);
  const controller = controllerOf(ownersFromJson(meta.ownerReferences));
  const nodeName = typeof spec.nodeName === 'string' ? spec.nodeName : undefined;
  const uid = asText(meta.uid);
  if (uid === '') throw new Error('the response is not a pod');
  return {
    namespace: asText(meta.namespace),
    name: asText(meta.name),
    uid,
    resourceVersion: asText(meta.resourceVersion),
    labels: textsFromJson(meta.labels),
    controller,
    nodeName,
    phase: asText(phase),
    isTerminating: asText(meta.deletionTimestamp) !== '',
    priority: numberFromJson(spec.priority),
    configHash: mirroredUid({ annotations: asObject(meta.annotations), controller, nodeName }),
  };
}
