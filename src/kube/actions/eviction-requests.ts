import { evictionSignals, type EvictionRequest, type EvictionSignal } from '../../api/local-storage.ts';
import { bounded, bounds } from '../../runtime/bounds.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asList, asObject, asText } from '../codec/json.ts';

/** As in crds/: more was not written by an agent of ours. */
const maxRequests = 32;

const none: readonly EvictionRequest[] = Object.freeze([]);

/** The requests of a report that can be read whole, the same array as `before` when they say the same. */
export function evictionRequestsOf(
  json: unknown,
  before: readonly EvictionRequest[] | undefined,
): readonly EvictionRequest[] {
  const requests = asList(json)
    .slice(0, maxRequests)
    .flatMap((item) => requestOf(asObject(item)) ?? []);
  if (requests.length === 0) return none;
  return before !== undefined && JSON.stringify(before) === JSON.stringify(requests) ? before : requests;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** undefined when any part is missing or nonsense: then nobody is evicted for it. */
function requestOf(json: JsonObject): EvictionRequest | undefined {
  const signal = signalOf(json['signal']);
  const pod = podOf(asObject(json['pod']));
  const observedAtMs = parseRfc3339(asText(json['observedTime']));
  const [observedBytes, limitBytes] = [countOf(json['observedBytes']), countOf(json['limitBytes'])];
  if (signal === undefined || pod === undefined || observedAtMs === undefined) return undefined;
  if (observedBytes === undefined || limitBytes === undefined) return undefined;
  const subject = bounded(asText(json['subject']), bounds.name);
  return {
    ...{ pod, signal, observedBytes, limitBytes, observedAtMs },
    subject: subject === '' ? undefined : subject,
    gracePeriodSeconds: countOf(json['gracePeriodSeconds']),
  };
}

const signalOf = (value: unknown): EvictionSignal | undefined => evictionSignals.find((one) => one === value);

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

function podOf(json: JsonObject): EvictionRequest['pod'] | undefined {
  const pod = { namespace: asText(json['namespace']), name: asText(json['name']), uid: asText(json['uid']) };
  const isWhole =
    isText(pod.namespace, bounds.name) && isText(pod.name, bounds.name) && isText(pod.uid, bounds.uid);
  return isWhole ? pod : undefined;
}

const isText = (text: string, maxLength: number): boolean => text !== '' && text.length <= maxLength;
