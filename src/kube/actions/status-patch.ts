import { acceptMetadata } from '../http/media-types.ts';
import { isNotFound, type KubeTransport } from '../http/transport.ts';

/**
 * Writes the status of our own custom resource at `path`, as a JSON merge patch: null removes a field, an absent field is unchanged, a list is
 * replaced whole. Sends no resourceVersion, as each status field has one writer. `gone`: the object no longer exists.
 */
export async function patchStatus(
  transport: Pick<KubeTransport, 'send'>,
  path: string,
  status: object,
  signal: AbortSignal,
): Promise<'patched' | 'gone'> {
  try {
    await transport.send(
      {
        method: 'PATCH',
        path: `${path}/status`,
        query: { fieldManager: 'dustpan' },
        contentType: 'application/merge-patch+json',
        accept: acceptMetadata,
        body: { status },
      },
      signal,
    );
    return 'patched';
  } catch (err) {
    if (isNotFound(err)) return 'gone';
    throw err;
  }
}
