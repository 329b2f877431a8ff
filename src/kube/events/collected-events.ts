import { asList, asObject, asText } from '../codec/json.ts';
import { reportingControllers } from './recorder.ts';
import type { KubeTransport } from '../http/transport.ts';

/** An Event `PodCollected`: pods that dustpan deleted. */
export interface Collection {
  readonly owner: { readonly kind: string; readonly name: string };
  /** RFC 3339, of the last one of a series. */
  readonly at: string;
  readonly note: string;
  /** The pods that the note names. */
  readonly names: readonly string[];
  /** How many more it only counts. */
  readonly more: number;
}

/** Reads the Events of a namespace in which the controller reports deleted pods, latest first; rejects as `send` does. */
export async function readCollections(
  transport: Pick<KubeTransport, 'send'>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly Collection[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const fieldSelector = `reason=PodCollected,reportingController=${reportingControllers.controller}`;
  const query = { fieldSelector };
  const { body } = await transport.send({ method: 'GET', path, query }, signal);
  const list: unknown = JSON.parse(body.toString());
  return asList(asObject(list)['items'])
    .map((item) => collectionOf(asObject(item)))
    .sort((a, b) => (a.at < b.at ? 1 : -1));
}

function collectionOf(event: Readonly<Record<string, unknown>>): Collection {
  const regarding = asObject(event['regarding']);
  const note = asText(event['note']);
  const series = asText(asObject(event['series'])['lastObservedTime']);
  const [, more = '0'] = / and (\d+) more$/.exec(note) ?? [];
  const names = note.slice(note.lastIndexOf(': ') + 2).replace(/ and \d+ more$/, '');
  return {
    owner: { kind: asText(regarding['kind']), name: asText(regarding['name']) },
    at: series === '' ? asText(event['eventTime']) : series,
    ...{ note, names: names.split(', '), more: Number(more) },
  };
}
