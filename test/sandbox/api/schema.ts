import { Ajv } from 'ajv';
import { closedSchema, storedSchema } from '../../../scripts/generate/schema.mjs';
import { checkSchema } from '../../../src/api/policy/schema.ts';
import { isObject } from './format/json.ts';

interface Checked {
  /** As the API server would store it: pruned, defaulted, metadata unchanged. */
  readonly object: unknown;
  /** One line each, `spec.mode: must be …`; empty = accepted. */
  readonly problems: readonly string[];
}

/** Validates objects against a CustomResourceDefinition like the API server. */
export function schemaChecker(crd: object): (object: unknown) => Checked {
  const schema = closedSchema(storedSchema(crd));
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    useDefaults: true,
    removeAdditional: true,
    // The formats only say how a text is decoded.
    validateFormats: false,
  });
  const validate = ajv.compile(schema);
  return (raw) => {
    const { value, problems } = checkSchema(raw, { schema, validate, path: '' });
    const metadata = isObject(raw) && 'metadata' in raw ? { metadata: raw['metadata'] } : {};
    return { object: isObject(value) ? { ...value, ...metadata } : value, problems };
  };
}
