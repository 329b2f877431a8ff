import { expect, test } from 'vitest';
import { amountOf, parseAmount } from '../../../src/api/node-pressure.ts';

test.each([
  ['15%', 150],
  ['0.5%', 5],
  ['99%', 990],
  ['500', 500],
  ['1Ki', 1024],
] as const)('%s of 1000 is %i', (text, expected) => {
  const amount = parseAmount(text);
  expect(amount && amountOf(amount, 1000)).toBe(expected);
});

test.each(['0%', '100%', 'x%', '0', 'much', ''])('%s is no threshold', (text) => {
  expect(parseAmount(text)).toBeUndefined();
});
