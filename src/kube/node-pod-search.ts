import { asList, asObject, asText } from './decode-json.ts';
import { parseJson } from './decode-status.ts';
import type { KubeTransport } from './transport.ts';
import { acceptMetadataList } from './media-types.ts';
import { hasUid } from './mirror-pod.ts';

/** Asked right before an act, which must not wait long. */
const timeoutMs = 10_000;

/** Looks for a pod of which only the UID is known among all pods of a node, live; `unknown`: the API server did not say. */
export function podSearch(
  transport: Pick<KubeTransport, 'send'>,
  nodeName: string,
): (uid: string, signal: AbortSignal) => Promise<'gone' | 'exists' | 'unknown'> {
  return async (uid, signal) => {
    try {
      const { body } = await transport.send(
        {
          method: 'GET',
          path: '/api/v1/pods',
          query: { fieldSelector: `spec.nodeName=${nodeName}` },
          accept: acceptMetadataList,
          timeoutMs,
          retries: 1,
        },
        signal,
      );
      const list = asObject(parseJson(body));
      return verdict(list, (pod) => hasUid(pod, uid, nodeName));
    } catch {
      signal.throwIfAborted();
      return 'unknown';
    }
  };
}

function verdict(
  { kind, items, metadata }: Readonly<Record<string, unknown>>,
  isThePod: (metadata: Readonly<Record<string, unknown>>) => boolean,
): 'gone' | 'exists' | 'unknown' {
  const isWhole = asText(kind).endsWith('List') && asText(asObject(metadata)['continue']) === '';
  if (!isWhole || !Array.isArray(items)) return 'unknown';
  return asList(items).some((item) => isThePod(asObject(asObject(item)['metadata']))) ? 'exists' : 'gone';
}
