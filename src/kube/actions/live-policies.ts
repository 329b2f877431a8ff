import { asObject, asObjects, asText, parseJson } from '../codec/json.ts';
import type { KubeTransport } from '../http/transport.ts';

export const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';

/** All policies, read live, and the time of the API server's clock; undefined if it sends no date. */
export interface LivePolicies {
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  readonly serverTime: Date | undefined;
}

/** The caller waits for this right before an action. */
const timeoutMs = 10_000;

/** Reads all policies live, never from a cache. */
export async function readPolicies(
  transport: Pick<KubeTransport, 'send'>,
  signal: AbortSignal,
): Promise<LivePolicies> {
  const request = { method: 'GET', path: policiesPath, timeoutMs, retries: 1 } as const;
  const { body, headers } = await transport.send(request, signal);
  const list = asObject(parseJson(body));
  if (!Array.isArray(list['items'])) throw new Error('reading policies: the response is not a list');
  if (asText(asObject(list['metadata'])['continue']) !== '')
    throw new Error('reading policies: the response is not the whole list');
  const sent = Date.parse(asText(headers['date']));
  return { objects: asObjects(list['items']), serverTime: Number.isNaN(sent) ? undefined : new Date(sent) };
}
