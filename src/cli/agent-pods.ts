import { podLookup, type PodLookup } from '../kube/node-pods.ts';
import { podSearch } from '../kube/node-pod-search.ts';
import type { KubeTransport } from '../kube/transport.ts';

/** A pod as what is left of it names it. */
interface PodRemains {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** Asks the API server whether a pod is gone: by its name, or among all pods of the node where only the UID is known. */
export function podAnswers(
  transport: Pick<KubeTransport, 'send' | 'stream'>,
  nodeName: string,
): (pod: PodRemains, signal: AbortSignal) => ReturnType<PodLookup> {
  const lookUp = podLookup(transport, nodeName);
  const search = podSearch(transport, nodeName);
  return ({ uid, namespace, name }, signal) =>
    namespace === undefined || name === undefined
      ? search(uid, signal)
      : lookUp({ uid, namespace, name }, signal);
}
