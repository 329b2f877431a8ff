import { readAll } from './live-node.ts';
import { nodePodsResource } from './node-pods.ts';
import type { KubeTransport } from './transport.ts';

/** Asked right before an act, which must not wait long. */
const timeoutMs = 10_000;

/**
 * Looks for a pod of which only the UID is known among all pods of a node, live; `unknown`: the API server did not say. The list is read pod by
 * pod: the metadata of a hundred pods may be 140 MB.
 */
export function podSearch(
  transport: Pick<KubeTransport, 'stream'>,
  nodeName: string,
): (uid: string, signal: AbortSignal) => Promise<'gone' | 'exists' | 'unknown'> {
  const podsOfNode = nodePodsResource(nodeName);
  return async (wanted, signal) => {
    try {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const pods = await readAll(transport, podsOfNode, deadline);
      return pods.some(({ uid, configHash }) => uid === wanted || configHash === wanted) ? 'exists' : 'gone';
    } catch {
      signal.throwIfAborted();
      return 'unknown';
    }
  };
}
