import { badRequest } from './failure.ts';
import { asObject, asText, type KubeObject } from './json.ts';
import type { Call } from './request.ts';

type Matcher = (object: KubeObject) => boolean;

/** Matches the namespace and the fieldSelector of a list or watch. dustpan sends no labelSelector. */
export function selectorOf({ query, namespace, resource }: Call): Matcher {
  const text = query.get('fieldSelector') ?? '';
  const terms = text === '' ? [] : text.split(',').map((term) => term.split('='));
  const { fields = () => ({}) } = resource.rules;
  const known = ['metadata.name', 'metadata.namespace', ...Object.keys(fields({}))];
  for (const [name = ''] of terms)
    if (!known.includes(name)) throw badRequest(`field label not supported: ${name}`);
  return (object) => {
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
