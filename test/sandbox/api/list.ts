import { SelectorIndex } from '../../../src/api/policy/selector-index.ts';
import { parseSelector } from '../../../src/api/policy/selector-text.ts';
import type { Page } from './format/encode.ts';
import { badRequest, Failure } from './failure.ts';
import { asObject, asText, type KubeObject } from './format/json.ts';
import type { Call } from './request.ts';

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

type Matcher = (object: KubeObject) => boolean;

/** Matches the namespace, the labelSelector and the fieldSelector of a list or watch. */
export function selectorOf({ query, namespace, resource }: Call): Matcher {
  const text = query.get('fieldSelector') ?? '';
  const terms = text === '' ? [] : text.split(',').map((term) => term.split('='));
  const { fields = () => ({}) } = resource.rules;
  const known = ['metadata.name', 'metadata.namespace', ...Object.keys(fields({}))];
  for (const [name = ''] of terms)
    if (!known.includes(name)) throw badRequest(`field label not supported: ${name}`);
  const isLabelled = labelsOf(query.get('labelSelector') ?? '');
  return (object) => {
    if (!isLabelled(object)) return false;
    if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
    if (terms.length === 0) return true;
    const { metadata } = object;
    const values = {
      'metadata.name': metadata.name,
      'metadata.namespace': metadata.namespace,
      ...fields(object),
    };
    return terms.every(([name = '', value]) => asText(asObject(values)[name]) === value);
  };
}

function labelsOf(text: string): Matcher {
  if (text === '') return () => true;
  const selector = parseSelector(text);
  if ('problem' in selector) throw badRequest(selector.problem);
  const index = new SelectorIndex([selector]);
  return ({ metadata: { labels = {} } }) => {
    const found = index.select(labels);
    return found.firstIn(found) === 0;
  };
}
