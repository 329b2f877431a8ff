import type { V1ObjectMeta, V1Pod } from '@kubernetes/client-node';
import { asObject, asText, ownersFromJson, parseJson, type Unchecked } from '../codec/json.ts';
import { podPath } from './pod-requests.ts';
import { readAll } from '../cache/list-watch.ts';
import { acceptMetadata } from '../http/media-types.ts';
import { nodePodsResource } from '../cache/node-pods.ts';
import { controllerOf, mirroredUid } from '../cache/owner-references.ts';
import { unlessMissing, type KubeTransport } from '../http/transport.ts';

/** A pod of the node as its containers, sandboxes and logs name it. A static pod has the UID of its manifest, not of its mirror. */
interface PodRemains {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** `unknown`: the API server did not respond, so the pod must count as existing. */
type PodState = 'gone' | 'exists' | 'unknown';

/** The agent waits for this right before a removal. */
const timeoutMs = 10_000;

/** Checks live whether a pod of the node still exists: by its name, or among all pods of the node if only the UID is known. */
export function podLookup(
  transport: Pick<KubeTransport, 'send' | 'stream'>,
  nodeName: string,
): (pod: PodRemains, signal: AbortSignal) => Promise<PodState> {
  const podsOfNode = nodePodsResource(nodeName);

  async function byName(pod: NamedPod, signal: AbortSignal): Promise<PodState> {
    const path = podPath(pod);
    const request = { method: 'GET', path, accept: acceptMetadata, timeoutMs, retries: 1 } as const;
    const response = await unlessMissing(transport.send(request, signal));
    if (response === undefined) return 'gone';
    const { metadata }: Unchecked<V1Pod> = asObject(parseJson(response.body));
    const { uid, annotations, ownerReferences }: Unchecked<V1ObjectMeta> = asObject(metadata);
    if (asText(uid) === '') return 'unknown';
    const controller = controllerOf(ownersFromJson(ownerReferences));
    const mirrored = mirroredUid({ annotations: asObject(annotations), controller, nodeName });
    return uid === pod.uid || mirrored === pod.uid ? 'exists' : 'gone';
  }

  /** Reads the list pod by pod: the metadata of a hundred pods may be 140 MB. */
  async function byUid(wanted: string, signal: AbortSignal): Promise<PodState> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const pods = await readAll(transport, podsOfNode, deadline);
    return pods.some(({ uid, configHash }) => uid === wanted || configHash === wanted) ? 'exists' : 'gone';
  }

  return async ({ uid, namespace, name }, signal) => {
    try {
      const isNamed = namespace !== undefined && name !== undefined;
      return isNamed ? await byName({ uid, namespace, name }, signal) : await byUid(uid, signal);
    } catch {
      signal.throwIfAborted();
      return 'unknown';
    }
  };
}

type NamedPod = PodRemains & { readonly namespace: string; readonly name: string };
