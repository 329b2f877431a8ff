import { asObject, asText } from '../codec/json.ts';
import { parseJson } from '../codec/status.ts';
import type { KubeTransport } from '../http/transport.ts';

export const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';

/** The policies as the API server has them now, and the time on its clock; undefined when it does not say. */
export interface LivePolicies {
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  readonly serverTime: Date | undefined;
}

/** Nobody writes thousands of policies; and what is read right before an act must not take long. */
const timeoutMs = 10_000;

/** Reads all policies, past every cache of ours. */
export async function readPolicies(
  transport: Pick<KubeTransport, 'send'>,
  signal: AbortSignal,
): Promise<LivePolicies> {
  const { body, headers } = await transport.send(
    { method: 'GET', path: policiesPath, timeoutMs, retries: 1 },
    signal,
  );
  const { items, metadata } = asObject(parseJson(body)) as { items?: unknown; metadata?: unknown };
  if (!Array.isArray(items)) throw new Error('reading policies: the answer is no list');
  if (asText(asObject(metadata)['continue']) !== '')
    throw new Error('reading policies: the answer is not the whole list');
  const sent = Date.parse(typeof headers['date'] === 'string' ? headers['date'] : '');
  return { objects: items.map(asObject), serverTime: Number.isNaN(sent) ? undefined : new Date(sent) };
}
