import { SelectorIndex } from '../../../src/api/policy/selector-index.ts';
import { parseSelector } from '../../../src/api/policy/selector-text.ts';
import { badRequest } from './failure.ts';
import { asObject, asText, type KubeObject } from './json.ts';
import type { Call } from './request.ts';

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
