import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { closedSchema, storedSchema } from './schema.mjs';
import { decodedTypes } from './types.mjs';

/**
 * The validator of a policy's spec as a module: compiled here, so that no process loads ajv (docs/adr/0038). It is one line, so that a new field
 * changes one.
 */
export async function validation(source, crd) {
  const { spec } = storedSchema(crd).properties;
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    useDefaults: true,
    // For decoding only: their patterns are checked.
    validateFormats: false,
    code: { source: true, esm: true },
  });
  const code = standalone.default(ajv, ajv.compile(closedSchema(spec)));
  return `// @ts-nocheck
// Made from ${source} by npm run generate. Do not edit.
import type { ValidateFunction } from 'ajv';
import { decoded } from '../policy/decode.ts';
import type { Schema } from '../policy/schema.ts';

/** A spec that the API server would accept, with its defaults. */
export type ValidSpec = object;

/** Decodes a valid spec. */
export const decodeSpec = (valid: ValidSpec): Spec => decoded(valid, specSchema);

${await decodedTypes(spec, 'Spec')}
${replaced(code, [
  ['"use strict";', ''],
  [
    /export const validate = (\w+);\s*export default \1;/,
    'export const validateSpec: ValidateFunction<ValidSpec> = $1;',
  ],
  [/^(.*\bconst (schema\d+) = .*)$/m, '$1\nexport const specSchema: Schema = $2;'],
  ['require("ajv/dist/runtime/ucs2length").default', '(text) => Array.from(text).length'],
])}`;
}

/** Replaces what ajv does not let us choose: the names of exports, and a `require` even in an ES module. */
function replaced(code, replacements) {
  return replacements.reduce((text, [from, to]) => {
    if (text.split(from).length === 1) throw new Error(`ajv no longer writes ${from}`);
    return text.replace(from, to);
  }, code);
}
