import type { EventsV1Event } from '@kubernetes/client-node';
import { asObject, asObjects, asText, parseJson, type Unchecked } from '../codec/json.ts';
import { eventAnnotations as keys } from '../../api/event-refs.ts';
import { reportingControllers } from './recorder.ts';
import type { KubeTransport } from '../http/transport.ts';

/** An Event of the controller about pods that it deleted (`PodCollected`), or about one that it evicted (`Evicted`). */
export interface Collection {
  readonly verb: 'deleted' | 'evicted';
  /** The owner; for an evicted pod, the pod itself. */
  readonly owner: { readonly kind: string; readonly name: string };
  /** RFC 3339, of the occurrence whose pods are named: the first of a series. */
  readonly at: string;
  /** When the last of the further occurrences was counted, whose pods are not named; undefined = there are none. */
  readonly lastAt: string | undefined;
  readonly note: string;
  /** Of a deletion; undefined = not recorded. */
  readonly reason: string | undefined;
  readonly policy: string | undefined;
  readonly names: readonly string[];
  /** The number of further pods. Of an Event of an older controller, which has no annotations, any pod may be one. */
  readonly more: number;
}

/** Reads the Events of a namespace in which the controller reports deleted and evicted pods, latest first. Rejects as `send` does. */
export async function readCollections(
  transport: Pick<KubeTransport, 'send'>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly Collection[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const fieldSelector = `reportingController=${reportingControllers.controller}`;
  const { body } = await transport.send({ method: 'GET', path, query: { fieldSelector } }, signal);
  return asObjects(asObject(parseJson(body))['items'])
    .flatMap((event) => collectionOf(event) ?? [])
    .sort((a, b) => (a.at < b.at ? 1 : -1));
}

function collectionOf(event: Unchecked<EventsV1Event>): Collection | undefined {
  const { kind, name } = asObject(event.regarding);
  const { count, lastObservedTime } = asObject(event.series);
  const { annotations } = asObject(event.metadata);
  const owner = { kind: asText(kind), name: asText(name) };
  const at = asText(event.eventTime);
  const lastAt = typeof count === 'number' && count > 1 ? asText(lastObservedTime) || at : undefined;
  const annotation = (key: string): string | undefined => asText(asObject(annotations)[key]) || undefined;
  const recorded = {
    owner,
    at,
    lastAt,
    note: asText(event.note),
    reason: annotation(keys.reason),
    policy: annotation(keys.policy),
  };
  // The owner of an evicted pod has an Event too.
  if (event.reason === 'Evicted' && kind === 'Pod')
    return { verb: 'evicted', ...recorded, names: [owner.name], more: 0 };
  if (event.reason !== 'PodCollected') return undefined;
  const names = annotation(keys.names)?.split(',') ?? (kind === 'Pod' ? [owner.name] : []);
  return { verb: 'deleted', ...recorded, names, more: Number(annotation(keys.more) ?? 1) };
}
