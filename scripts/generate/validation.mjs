import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { closedSchema, storedSchema } from './schema.mjs';
import { typesWithDefaults } from './types.mjs';

/** The validator of a policy's spec as a module: compiled here, so that no process loads ajv (docs/adr/0038). */
export async function validation(source, crd) {
  const { spec } = storedSchema(crd).properties;
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    useDefaults: true,
    code: { source: true, esm: true, lines: true },
  });
  const code = standalone.default(ajv, ajv.compile(closedSchema(spec)));
  return `// @ts-nocheck
// Made from ${source} by npm run generate. Do not edit.
import type { ValidateFunction } from 'ajv';
import type { Schema } from '../policy/schema.ts';

${await typesWithDefaults(spec, 'ValidSpec')}
${replaced(code, [
  ['"use strict";', ''],
  [
    /export const validate = (\w+);\s*export default \1;/,
    'export const validateSpec: ValidateFunction<ValidSpec> = $1;',
  ],
  [/^const (schema\d+) = .*$/m, '$&\nexport const specSchema: Schema = $1;'],
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
