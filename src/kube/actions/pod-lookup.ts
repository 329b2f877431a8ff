import { asObject, asText, ownersFromJson } from '../codec/json.ts';
import { parseJson } from '../codec/status.ts';
import { podPath } from './live-pod.ts';
import { readAll } from '../cache/list-watch.ts';
import { acceptMetadata } from '../http/media-types.ts';
import { mirroredUid } from '../cache/mirror-pod.ts';
import { nodePodsResource } from '../cache/node-pods.ts';
import { controllerOf } from '../cache/owner-references.ts';
import { ApiError, type KubeResponse, type KubeTransport } from '../http/transport.ts';

/** A pod of the node as its containers, sandboxes and logs name it; `uid` is that of the static pod if it is one. */
interface PodRemains {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** `unknown`: the API server did not answer, so the pod must count as existing. */
type PodAnswer = 'gone' | 'exists' | 'unknown';

/** The agent waits for it right before it removes something. */
const timeoutMs = 10_000;

/** Asks the API server live whether a pod of the node still exists: by its name, or among all pods of the node if only the UID is known. */
export function podLookup(
  transport: Pick<KubeTransport, 'send' | 'stream'>,
  nodeName: string,
): (pod: PodRemains, signal: AbortSignal) => Promise<PodAnswer> {
  const podsOfNode = nodePodsResource(nodeName);

  async function byName(pod: NamedPod, signal: AbortSignal): Promise<PodAnswer> {
    const request = {
      method: 'GET',
      path: podPath(pod),
      accept: acceptMetadata,
      timeoutMs,
      retries: 1,
    } as const;
    const metadata = await metadataOf(transport.send(request, signal));
    if (metadata === undefined) return 'gone';
    if (asText(metadata['uid']) === '') return 'unknown';
    const mirrored = mirroredUid({
      annotations: asObject(metadata['annotations']),
      controller: controllerOf(ownersFromJson(metadata)),
      nodeName,
    });
    return metadata['uid'] === pod.uid || mirrored === pod.uid ? 'exists' : 'gone';
  }

  /** Reads the list pod by pod: the metadata of a hundred pods may be 140 MB. */
  async function byUid(wanted: string, signal: AbortSignal): Promise<PodAnswer> {
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

/** undefined = there is no such pod. Only the API server knows that: a proxy's 404 has no reason. */
async function metadataOf(response: Promise<KubeResponse>): Promise<JsonObject | undefined> {
  try {
    const { body } = await response;
    return asObject(asObject(parseJson(body))['metadata']);
  } catch (err) {
    if (err instanceof ApiError && err.reason === 'NotFound') return undefined;
    throw err;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

type NamedPod = PodRemains & { readonly namespace: string; readonly name: string };
