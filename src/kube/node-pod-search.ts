import { asList, asObject, asText } from './decode-json.ts';
import { parseJson } from './decode-status.ts';
import type { KubeTransport } from './transport.ts';
import { acceptMetadataList } from './media-types.ts';

/** Asked right before an act, which must not wait long. */
const timeoutMs = 10_000;
/** The annotations by which a mirror pod names the UID that its containers carry. */
const staticUids = ['kubernetes.io/config.hash', 'kubernetes.io/config.mirror'];

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
      return verdict(asObject(parseJson(body)), uid);
    } catch {
      signal.throwIfAborted();
      return 'unknown';
    }
  };
}

function verdict(
  { kind, items, metadata }: Readonly<Record<string, unknown>>,
  uid: string,
): 'gone' | 'exists' | 'unknown' {
  const isWhole = asText(kind).endsWith('List') && asText(asObject(metadata)['continue']) === '';
  if (!isWhole || !Array.isArray(items)) return 'unknown';
  return asList(items).some((item) => uidsOf(asObject(item)).includes(uid)) ? 'exists' : 'gone';
}

function uidsOf(pod: Readonly<Record<string, unknown>>): readonly unknown[] {
  const metadata = asObject(pod['metadata']);
  const annotations = asObject(metadata['annotations']);
  return [metadata['uid'], ...staticUids.map((name) => annotations[name])];
}
