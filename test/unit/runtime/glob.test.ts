import fc from 'fast-check';
import { expect, test } from 'vitest';
import { globMatcher } from '../../../src/runtime/text/glob.ts';

test.each([
  ['*', 'anything\nat all'],
  ['[a]', '[a]'],
  ['a.c', 'a.c'],
])('%j matches %j', (pattern, text) => {
  expect(globMatcher(pattern)(text)).toBe(true);
});

test.each([
  ['a.c', 'abc'],
  ['[a]', 'a'],
])('%j does not match %j', (pattern, text) => {
  expect(globMatcher(pattern)(text)).toBe(false);
});

test('matches like a regular expression', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 10 });
  fc.assert(
    fc.property(pattern, text, (p, t) => {
      const regexp = new RegExp(`^${p.replaceAll('*', '[^]*').replaceAll('?', '[^]')}$`);
      expect(globMatcher(p)(t)).toBe(regexp.test(t));
    }),
  );
});

test('decides fast on a pattern that would hang a backtracking matcher', () => {
  expect(globMatcher('a*'.repeat(100) + 'b')('a'.repeat(10_000))).toBe(false);
});
