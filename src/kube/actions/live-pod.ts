import { asObject, asText, ownersFromJson, textsFromJson } from '../codec/json.ts';
import { parseJson } from '../codec/status.ts';
import { mirroredUid } from '../cache/mirror-pod.ts';
import type { OwnerRef } from '../cache/objects.ts';
import { controllerOf } from '../cache/owner-references.ts';
import { ApiError, type KubeTransport } from '../http/transport.ts';

/** What is asked of a pod right before it is evicted, as the API server has it now. */
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

/** The pod as it is now, past every cache of ours; undefined when the API server says NotFound. */
export async function readPodLive(
  transport: Pick<KubeTransport, 'send'>,
  pod: PodName,
  signal: AbortSignal,
): Promise<LivePod | undefined> {
  try {
    const request = { method: 'GET', path: podPath(pod), timeoutMs: actTimeoutMs, retries: 0 } as const;
    const { body } = await transport.send(request, signal);
    return livePodOf(asObject(parseJson(body)));
  } catch (cause) {
    // Only the API server's own word that there is no such pod; a proxy's 404 is none.
    if (cause instanceof ApiError && cause.reason === 'NotFound') return undefined;
    signal.throwIfAborted();
    throw new Error('reading pod', { cause });
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function livePodOf(pod: JsonObject): LivePod {
  const meta = asObject(pod['metadata']);
  const spec = asObject(pod['spec']);
  const { priority } = spec;
  const controller = controllerOf(ownersFromJson(meta));
  const nodeName = textOrNone(spec['nodeName']);
  const uid = asText(meta['uid']);
  if (uid === '') throw new Error('the answer is no pod');
  return {
    namespace: asText(meta['namespace']),
    name: asText(meta['name']),
    uid,
    resourceVersion: asText(meta['resourceVersion']),
    labels: textsFromJson(meta['labels']),
    ...{ controller, nodeName },
    phase: asText(asObject(pod['status'])['phase']),
    isTerminating: asText(meta['deletionTimestamp']) !== '',
    priority: typeof priority === 'number' ? priority : undefined,
    configHash: mirroredUid({ annotations: asObject(meta['annotations']), controller, nodeName }),
  };
}

const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Deadline of one request about one pod: waited for even at a shutdown, so shorter than the time a pod has for that. */
export const actTimeoutMs = 15_000;

/** The escaped path of a pod. */
export const podPath = ({ namespace, name }: PodName): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
