import { acceptMetadata } from '../http/media-types.ts';
import { isNotFound, type KubeTransport } from '../http/transport.ts';

/** Writes the status of our own custom resources. */
export interface StatusPatcher {
  /**
   * JSON merge patch of the status of the object at `path`: null removes a field, an absent field is unchanged, a list is replaced whole.
   * `gone`: the object no longer exists.
   */
  readonly patchStatus: (path: string, status: object, signal: AbortSignal) => Promise<'patched' | 'gone'>;
}

/** Sends no resourceVersion, as each status field has one writer. */
export function statusPatcher(transport: Pick<KubeTransport, 'send'>): StatusPatcher {
  return {
    patchStatus: async (path, status, signal) => {
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
    },
  };
}
