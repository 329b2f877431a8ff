import { readCollections, type Collection } from '../../kube/events/collected-events.ts';
import type { KubeConfigSource } from '../cli/config.ts';
import { connect, type Connected } from '../cli/connect.ts';

/** The namespace that kubectl would look in. */
export function currentNamespace(kube: KubeConfigSource): Promise<string> {
  return withCluster(kube, ({ namespace = 'default' }) => Promise.resolve(namespace));
}

interface PodName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** What the Events tell of a pod that dustpan deleted, in one line; undefined = nothing, or they cannot be read. */
export async function collectedText(pod: PodName, kube: KubeConfigSource): Promise<string | undefined> {
  const { namespace = 'default', name } = pod;
  const { signal } = new AbortController();
  const collections = await withCluster(kube, ({ transport }) =>
    // They only add to an answer that stands by itself.
    readCollections(transport, namespace, signal).catch((): readonly Collection[] => []),
  );
  const sure = collections.find(({ names }) => names.includes(name));
  const likely = collections.find(({ more, owner }) => more > 0 && name.startsWith(`${owner.name}-`));
  if (sure !== undefined)
    return `pod ${namespace}/${name} is gone: dustpan deleted it at ${sure.at} (${sure.note})`;
  if (likely === undefined) return undefined;
  return `there is no pod ${namespace}/${name}, or not any more; dustpan deleted pods of ${likely.owner.kind} ${likely.owner.name} at ${likely.at}, maybe this one too (${likely.note})`;
}

async function withCluster<T>(kube: KubeConfigSource, ask: (cluster: Connected) => Promise<T>): Promise<T> {
  const cluster = await connect({ kube, kubeApiQps: 0, kubeApiBurst: 1 }, () => undefined);
  try {
    return await ask(cluster);
  } finally {
    cluster.close();
  }
}
