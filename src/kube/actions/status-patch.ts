import { acceptMetadata } from '../http/media-types.ts';
import { isNotFound, unless, type KubeTransport } from '../http/transport.ts';

type Transport = Pick<KubeTransport, 'send'>;

/**
 * Writes the status of our own custom resource at `path`, as a JSON merge patch: null removes a field, an absent field is unchanged, a list is
 * replaced whole. Sends no resourceVersion, as each status field has one writer. `gone`: the object no longer exists.
 */
export const patchStatus = (
  transport: Transport,
  path: string,
  status: object,
  signal: AbortSignal,
): Promise<'patched' | 'gone'> => send(transport, path, { type: 'merge-patch', body: { status } }, signal);

/**
 * Replaces the whole status of the custom resource at `path` that has this UID, and of no later one of its name: a write in flight must not reach an
 * object that was created anew. The API server ignores a UID in a merge patch of such a status, so this is a JSON patch that tests it. `gone`: the
 * object no longer exists. Rejects with 422 for another UID.
 */
export const replaceStatus = (
  transport: Transport,
  path: string,
  { uid, status }: { readonly uid: string; readonly status: object },
  signal: AbortSignal,
): Promise<'patched' | 'gone'> => {
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/status', value: status },
  ];
  return send(transport, path, { type: 'json-patch', body }, signal);
};

interface Patch {
  readonly type: 'merge-patch' | 'json-patch';
  readonly body: object;
}

async function send(
  transport: Transport,
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
