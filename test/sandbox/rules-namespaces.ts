import { asObject, asText, type KubeObject } from './json.ts';
import { plainRules } from './rules-plain.ts';
import type { Rules } from './rules.ts';

/** Namespaces carry their name as a label, and linger, Terminating, until a controller that the sandbox does not have empties them. */
export const namespaceRules: Rules = {
  ...plainRules({ generation: false }),
  admit: (object, old) => ({ object: old === undefined ? newNamespace(object) : object, causes: [] }),
  fields: (namespace) => ({ 'status.phase': asText(asObject(namespace['status'])['phase']) }),
};

function newNamespace(namespace: KubeObject): KubeObject {
  const { metadata } = namespace;
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  return {
    ...namespace,
    metadata: { ...metadata, labels },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}
