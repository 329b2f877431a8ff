import type { NamespaceFacts } from '../cache/objects.ts';
import { namespaceCodec } from '../cache/resources.ts';
import { parseJson } from '../codec/json.ts';
import { unlessMissing, type KubeTransport } from '../http/transport.ts';
import { actionTimeoutMs } from './pod-requests.ts';

/** Reads a namespace live, never from a cache. Returns undefined if it does not exist. */
export async function readNamespaceLive(
  transport: Pick<KubeTransport, 'send'>,
  name: string,
  signal: AbortSignal,
): Promise<NamespaceFacts | undefined> {
  const path = `/api/v1/namespaces/${encodeURIComponent(name)}`;
  const request = { method: 'GET', path, timeoutMs: actionTimeoutMs, retries: 0 } as const;
  const response = await unlessMissing(transport.send(request, signal));
  return response && namespaceCodec().fromJson(parseJson(response.body));
}
