import { expect, test } from 'vitest';
import { decoded } from '../../../src/api/policy/decode.ts';
import { fitted } from '../../../src/api/report/fit.ts';

/** The decoding of all other fields is shown by policy.test.ts, the bounds by those of the report. */
test('what a schema does not know remains in a policy, and is left out of a report', () => {
  expect(decoded({ other: '1m' }, { type: 'object', properties: {} })).toEqual({ other: '1m' });
  expect(fitted({ other: 1 }, { type: 'object', properties: {} })).toEqual({});
});

test('a text without a bound and a number without whole bounds are not cut', () => {
  expect(fitted('a\nb', { type: 'string' })).toBe('a\nb');
  expect(fitted(1.5, { type: 'number' })).toBe(1.5);
});
