import { storedSchema, walk } from './schema.mjs';

const forbidden = [
  '$ref',
  'const',
  'patternProperties',
  'definitions',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'uniqueItems',
  'x-kubernetes-preserve-unknown-fields',
];

/** A line for every violation: a CRD's schema must be structural, bounded and documented. */
export function lintCrd(crd) {
  return [...walk(storedSchema(crd))].flatMap(({ schema, path }) =>
    complaints(schema, path).map((complaint) => `${path === '' ? '(root)' : path}: ${complaint}`),
  );
}

function complaints(schema, path) {
  const found = forbidden
    .filter((keyword) => keyword in schema)
    .map((keyword) => `${keyword} is not structural`);
  if (schema.type === undefined) found.push('has no type');
  // The API server describes metadata itself and rejects a description there.
  if (schema.description === undefined && path !== 'metadata') found.push('has no description');
  if (schema.pattern !== undefined && !path.startsWith('status.'))
    found.push('has a pattern, whose message shows it bare: use a rule');
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    if (!/^must /.test(rule.message ?? ''))
      found.push(`the message of rule ${rule.rule} does not begin with "must"`);
    if (!(rule.messageExpression ?? `'${rule.message}'`).startsWith(`'${rule.message}'`))
      found.push(`the messageExpression of rule ${rule.rule} does not begin with its message`);
    if (rule.reason !== 'FieldValueInvalid') found.push(`rule ${rule.rule} has no reason FieldValueInvalid`);
  }
  return [...found, ...(boundsOf[schema.type]?.(schema) ?? [])];
}

const missing = (schema, ...keywords) =>
  keywords.filter((keyword) => !(keyword in schema)).map((keyword) => `has no ${keyword}`);

const boundsOf = {
  integer: (schema) => missing(schema, 'minimum', 'maximum', 'format'),
  number: (schema) => missing(schema, 'minimum', 'maximum'),
  string: (schema) =>
    schema.enum !== undefined || schema.format === 'date-time' ? [] : missing(schema, 'maxLength'),
  array: (schema) => missing(schema, 'items', 'maxItems', 'x-kubernetes-list-type'),
  object: ({ additionalProperties, ...schema }) => {
    if (additionalProperties === undefined) return [];
    if (typeof additionalProperties !== 'object')
      return [`additionalProperties: ${additionalProperties} is not structural`];
    return missing(schema, 'maxProperties');
  },
};
