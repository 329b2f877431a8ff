import { readCollections, type Collection } from '../../kube/events/collected-events.ts';
import type { KubeConfigSource } from '../cli/config.ts';
import { usingCluster } from '../cli/connect.ts';
import type { Question } from './command.ts';

/** The namespace that kubectl would use. */
export const currentNamespace = (kube: KubeConfigSource): Promise<string> =>
  usingCluster(kube, ({ namespace = 'default' }) => Promise.resolve(namespace));

/** What the Events report about a pod that dustpan deleted, in one line; undefined = nothing, or they cannot be read. */
export async function collectedText(
  { namespace = 'default', name }: Extract<Question, { kind: 'pod' }>,
  kube: KubeConfigSource,
): Promise<string | undefined> {
  const { signal } = new AbortController();
  const collections = await usingCluster(kube, ({ transport }) =>
    // Events are optional: without them the answer is only shorter.
    readCollections(transport, namespace, signal).catch((): readonly Collection[] => []),
  );
  const sure = collections.find(({ names }) => names.includes(name));
  const likely = collections.find(({ more, owner }) => more > 0 && name.startsWith(`${owner.name}-`));
  if (sure !== undefined)
    return `pod ${namespace}/${name} is gone: dustpan deleted it at ${sure.at} (${sure.note})`;
  if (likely === undefined) return undefined;
  return `there is no pod ${namespace}/${name}, or not any more; dustpan deleted pods of ${likely.owner.kind} ${likely.owner.name} at ${likely.at}, maybe this one too (${likely.note})`;
}
