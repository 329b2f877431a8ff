import { expect, test } from 'vitest';
import { decoded } from '../../../src/api/policy/decode.ts';
import type { Schema } from '../../../src/api/policy/schema.ts';
import { fitted } from '../../../src/api/report/fit.ts';

const duration: Schema = { type: 'string', format: 'duration' };
const quantity: Schema = { type: 'string', format: 'quantity' };
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });

test.each<readonly [what: string, value: unknown, Schema, expected: unknown]>([
  ['a duration', { age: '1m' }, object({ age: duration }), { ageMs: 60_000 }],
  ['a quantity', { pod: '1Ki' }, object({ pod: quantity }), { podBytes: 1024 }],
  ['a quantity that names its unit', { maxBytes: '1Ki' }, object({ maxBytes: quantity }), { maxBytes: 1024 }],
  ['the empty quantity', { pod: '' }, object({ pod: quantity }), { podBytes: undefined }],
  ['another text', { mode: '1m' }, object({ mode: { type: 'string' } }), { mode: '1m' }],
  [
    'the entries of a list',
    [{ ttl: '1s' }],
    { type: 'array', items: object({ ttl: duration }) },
    [{ ttlMs: 1000 }],
  ],
  ['a field without a schema', { other: '1m' }, object({}), { other: '1m' }],
])('decodes %s', (_, value, schema, expected) => {
  expect(decoded(value, schema)).toEqual(expected);
});

test.each<readonly [what: string, value: unknown, Schema, expected: unknown]>([
  ['a number that is not whole', 1.9, { type: 'integer', minimum: 0 }, 1],
  ['a number that is none', NaN, { type: 'integer' }, 0],
  ['a number beyond its bounds', -1, { type: 'integer', minimum: 0 }, 0],
  ['a number without whole bounds', 1.5, { type: 'number' }, 1.5],
  ['a truth', true, { type: 'boolean' }, true],
  ['a text without a bound', 'a\nb', { type: 'string' }, 'a\nb'],
  ['a list that is too long', [1, 2], { type: 'array', items: { type: 'integer' }, maxItems: 1 }, [1]],
  ['an unknown field', { a: 1, b: undefined }, object({ b: { type: 'integer' } }), {}],
])('fits %s', (_, value, schema, expected) => {
  expect(fitted(value, schema)).toStrictEqual(expected);
});
