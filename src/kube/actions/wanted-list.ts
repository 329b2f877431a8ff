import type { V1ConfigMap } from '@kubernetes/client-node';
import {
  formatWantedList,
  parseWantedList,
  wantedConfigMap,
  type WantedList,
  type WantedReading,
} from '../../api/wanted-images.ts';
import { errorLine } from '../../runtime/errors.ts';
import { asObject, asText, parseJson } from '../codec/json.ts';
import type { OnWire } from '../codec/wire.ts';
import { isMissing, unless, type KubeTransport } from '../http/transport.ts';

const key = 'images.json';
/** A pass over images waits for it. */
const timeoutMs = 10_000;

const pathIn = (namespace: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;

/** Reads the list that the controller has written; `namespace` undefined = that of the controller is not known. */
export async function readWantedList(
  transport: Pick<KubeTransport, 'send'>,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<WantedReading> {
  if (namespace === undefined) return 'the namespace of the controller, which lists them, is not known';
  const where = `ConfigMap ${namespace}/${wantedConfigMap}`;
  const path = `${pathIn(namespace)}/${wantedConfigMap}`;
  try {
    const response = await unless(
      isMissing,
      transport.send({ method: 'GET', path, timeoutMs, retries: 1 }, signal),
    );
    if (response === undefined) return `the controller has not written ${where}`;
    const { data } = asObject<V1ConfigMap>(parseJson(response.body));
    return parseWantedList(asText(asObject(data)[key])) ?? `${where} has no list that this version can read`;
  } catch (err) {
    signal.throwIfAborted();
    return `${where} cannot be read: ${errorLine(err)}`;
  }
}

/** Replaces the list. */
export async function writeWantedList(
  transport: Pick<KubeTransport, 'send'>,
  namespace: string,
  list: WantedList,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: wantedConfigMap, labels: { 'app.kubernetes.io/managed-by': 'dustpan' } },
    data: { [key]: formatWantedList(list) },
  } satisfies OnWire<V1ConfigMap>;
  const request = { query: { fieldManager: 'dustpan' }, body, timeoutMs };
  const path = pathIn(namespace);
  const replaced = await unless(
    isMissing,
    transport.send({ ...request, method: 'PUT', path: `${path}/${wantedConfigMap}` }, signal),
  );
  if (replaced === undefined) await transport.send({ ...request, method: 'POST', path }, signal);
}
