import { acceptMetadata } from '../http/media-types.ts';
import { isNotFound, unless, type KubeTransport } from '../http/transport.ts';

interface Patch {
  readonly type: 'merge-patch' | 'json-patch';
  readonly body: object;
}

/**
 * Patches the status of our own custom resource at `path`. Sends no resourceVersion, as each status field has one writer. `gone`: the object no
 * longer exists.
 */
export async function patchStatus(
  transport: Pick<KubeTransport, 'send'>,
  path: string,
  { type, body }: Patch,
  signal: AbortSignal,
): Promise<'patched' | 'gone'> {
  const request = {
    method: 'PATCH',
    path: `${path}/status`,
    query: { fieldManager: 'dustpan' },
    contentType: `application/${type}+json`,
    accept: acceptMetadata,
    body,
  } as const;
  return (await unless(isNotFound, transport.send(request, signal))) === undefined ? 'gone' : 'patched';
}
