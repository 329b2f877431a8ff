import type { Page } from './encode.ts';
import { badRequest, Failure } from './failure.ts';
import type { Call } from './request.ts';
import { selectorOf } from './selectors.ts';

/** Returns a page of a list; all pages show the revision of the first. */
export function list(call: Call): Page {
  const { query, resource, store } = call;
  const collection = store.collection(resource);
  const token = query.get('continue') ?? '';
  const { revision, skip } = token === '' ? { revision: store.revision, skip: 0 } : decodeToken(token);
  const all = token === '' ? collection.sorted() : collection.snapshot(revision);
  if (all === undefined) throw expired();
  const matching = all.filter(selectorOf(call));
  const end = skip + limitOf(query);
  const hasMore = matching.length > end;
  if (hasMore && token === '') collection.remember(revision);
  return {
    items: matching.slice(skip, end),
    resourceVersion: String(revision),
    continueToken: hasMore ? encodeToken(revision, end) : '',
  };
}

/** Lists of any version are served from the watch cache, which does not page. */
function limitOf(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? 0);
  return limit > 0 && query.get('resourceVersion') !== '0' ? limit : Infinity;
}

const encodeToken = (revision: number, skip: number): string =>
  Buffer.from(`${revision}:${skip}`).toString('base64url');

function decodeToken(token: string): { readonly revision: number; readonly skip: number } {
  const [, revision, skip] = /^(\d+):(\d+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (revision === undefined) throw badRequest('invalid continue token: continue key is not valid');
  return { revision: Number(revision), skip: Number(skip) };
}

const expired = (): Failure =>
  new Failure(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter',
    { code: 410, reason: 'Expired' },
  );
