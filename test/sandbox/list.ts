import { keyOf } from './collection.ts';
import type { Page } from './encode.ts';
import { badRequest, Failure } from './failure.ts';
import { isObject, type KubeObject } from './json.ts';
import { checkListOptions, limitOf, revisionOf, tooLarge } from './list-options.ts';
import type { RequestInfo } from './request-info.ts';
import { selectorOf, type Matcher } from './selectors.ts';
import type { World } from './world.ts';

/** Where a list begins: `start` is the first key it may hold. */
interface Position {
  readonly revision: number;
  readonly start: string;
}

/** A page of a list, all pages at the revision of the first. */
export function list(world: World, info: RequestInfo): Page {
  const { query, resource } = info;
  checkListOptions({ watch: false, query });
  const matches = selectorOf(query, resource.rules);
  const limit = effectiveLimit(query);
  const position = positionOf(world, query);
  const objects = world.store.collection(resource).at(position.revision);
  if (objects === undefined) throw expired(query, position);
  const rest = objects.filter((object) => isListed(object, info, position.start));
  return cut(rest, { position, limit, matches });
}

function isListed({ metadata }: KubeObject, { namespace }: RequestInfo, start: string): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  return start === '' || keyOf(metadata.namespace, metadata.name) >= start;
}

/** Lists of any version come from the watch cache, which does not page. */
function effectiveLimit(query: URLSearchParams): number {
  const limit = limitOf(query.get('limit'));
  const anyVersion = query.get('resourceVersion') === '0' && !query.has('continue');
  return limit === 0 || anyVersion ? Infinity : limit;
}

function positionOf({ store }: World, query: URLSearchParams): Position {
  const version = revisionOf(query.get('resourceVersion'));
  const token = query.get('continue') ?? '';
  if (token !== '') return continuePosition(token, version, store.revision);
  if (version > store.revision) throw tooLarge(version, store.revision);
  return { revision: isExact(query, version) ? version : store.revision, start: '' };
}

/** Asked for; and of old, what a limited list of a certain version means. */
function isExact(query: URLSearchParams, version: number): boolean {
  const match = query.get('resourceVersionMatch') ?? '';
  return match === 'Exact' || (match === '' && version > 0 && query.has('limit'));
}

function continuePosition(token: string, version: number, current: number): Position {
  if (version !== 0) throw badRequest('specifying resource version is not allowed when using continue');
  const { rv, start } = decodeToken(token);
  // -1: the client knowingly goes on with an expired list, in the present.
  return { revision: rv < 0 ? current : rv, start };
}

interface Cut {
  readonly position: Position;
  readonly limit: number;
  readonly matches: Matcher | undefined;
}

function cut(objects: readonly KubeObject[], { position, limit, matches }: Cut): Page {
  const matching = matches === undefined ? objects : objects.filter(matches);
  const items = limit === Infinity ? matching : matching.slice(0, limit);
  const last = items.at(-1)?.metadata;
  const more = matching.length > items.length && last !== undefined;
  return {
    items,
    resourceVersion: String(position.revision),
    continueToken: more ? encodeToken(position.revision, `${keyOf(last.namespace, last.name)}\0`) : '',
    remainingItemCount: more && matches === undefined ? matching.length - items.length : undefined,
  };
}

const tokenVersion = 'meta.k8s.io/v1';

function encodeToken(rv: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv, start })).toString('base64url');
}

function decodeToken(token: string): { readonly rv: number; readonly start: string } {
  const { v, rv, start } = parsedToken(Buffer.from(token, 'base64url').toString());
  if (v === tokenVersion && typeof rv === 'number' && typeof start === 'string') return { rv, start };
  throw badRequest(
    'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion',
  );
}

function parsedToken(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch (err) {
    throw badRequest(`invalid continue token: continue key is not valid: ${String(err)}`);
  }
}

const tooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the' +
  ' continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects' +
  ' that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

function expired(query: URLSearchParams, { start }: Position): Failure {
  const facts = { code: 410, reason: 'Expired' };
  if (!query.has('continue'))
    return new Failure('The resourceVersion for the provided list is too old.', facts);
  return new Failure(tooOld, { ...facts, metadata: { continue: encodeToken(-1, start) } });
}
