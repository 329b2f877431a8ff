import { expect, test } from 'vitest';
import { lintCrd } from '../../../scripts/generate/lint.mjs';
import { gcPolicyCrd, nodeGcReportCrd } from './crd.ts';

const crdOf = (field: object): object => {
  const openAPIV3Schema = { type: 'object', description: 'A thing.', properties: { spec: field } };
  return { spec: { versions: [{ storage: true, schema: { openAPIV3Schema } }] } };
};
const described = { description: 'A field.' };
const text = { ...described, type: 'string', maxLength: 5 };
const rule = { rule: 'true', message: 'must be so', reason: 'FieldValueInvalid' };

test.each([
  ['GCPolicy', gcPolicyCrd],
  ['NodeGCReport', nodeGcReportCrd],
  ['a bounded text', crdOf(text)],
  ['a time', crdOf({ ...described, type: 'string', format: 'date-time' })],
  ['a word', crdOf({ ...described, type: 'string', enum: ['A'] })],
  ['a rule', crdOf({ ...text, 'x-kubernetes-validations': [rule] })],
  [
    'an expression',
    crdOf({ ...text, 'x-kubernetes-validations': [{ ...rule, messageExpression: "'must be so' + self" }] }),
  ],
])('%s has no problem', (_name, crd) => {
  expect(lintCrd(crd)).toEqual([]);
});

test.each([
  ['spec: has no type', { ...described }],
  ['spec: has no description', { type: 'boolean' }],
  ['spec: has no maxLength', { ...described, type: 'string' }],
  ['spec: has no maximum', { ...described, type: 'integer', format: 'int32', minimum: 0 }],
  ['spec: has no minimum', { ...described, type: 'number', maximum: 1 }],
  ['spec: has no maxItems', { ...described, type: 'array', 'x-kubernetes-list-type': 'atomic', items: text }],
  ['spec: has no x-kubernetes-list-type', { ...described, type: 'array', maxItems: 1, items: text }],
  ['spec: has no maxProperties', { ...described, type: 'object', additionalProperties: text }],
  [
    'spec: additionalProperties: false is not structural',
    { ...described, type: 'object', additionalProperties: false },
  ],
  ['spec: $ref is not structural', { ...text, $ref: '#/x' }],
  ['spec: const is not structural', { ...text, const: 'x' }],
  ['spec: patternProperties is not structural', { ...described, type: 'object', patternProperties: {} }],
  ['spec.a: has no type', { ...described, type: 'object', properties: { a: described } }],
  [
    'spec[]: has no maxLength',
    {
      ...described,
      type: 'array',
      maxItems: 1,
      'x-kubernetes-list-type': 'set',
      items: { ...described, type: 'string' },
    },
  ],
  [
    'spec.*: has no description',
    { ...described, type: 'object', maxProperties: 1, additionalProperties: { type: 'boolean' } },
  ],
  [
    'spec: the message of rule true does not begin with \"must\"',
    { ...text, 'x-kubernetes-validations': [{ ...rule, message: 'is wrong' }] },
  ],
  [
    'spec: the messageExpression of rule true does not begin with its message',
    { ...text, 'x-kubernetes-validations': [{ ...rule, messageExpression: "'must be ' + self" }] },
  ],
  ['spec: has a pattern, whose message shows it bare: use a rule', { ...text, pattern: '^a$' }],
])('%s', (line, field) => {
  expect(lintCrd(crdOf(field))).toEqual([line]);
});
