import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQuantity, quantityText } from '../../../src/runtime/text/quantity.ts';
import { compactQuantityText, sizeText } from '../../../src/runtime/text/size-text.ts';

test.each([
  ['1k', 1000],
  ['1G', 1e9],
  ['1E', 1e18],
  ['1Ki', 1024],
  ['1Ei', 2 ** 60],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['0.1Ki', 103],
  ['.5k', 500],
  ['1.5e3', 1500],
  ['15e-1', 2],
  ['100m', 1],
  ['1n', 1],
  ['+5', 5],
  ['-5Ki', -5120],
  ['9223372036854775808', 2 ** 63],
  ['1e999', 2 ** 63],
])('%s is %d bytes', (text, bytes) => {
  expect(parseQuantity(text)).toBe(bytes);
});

test.each(['', '1 Gi', 'Gi', '1K', '1GB', '1.2.3', '.', '-', 'e3', '1e', '1e1.5', '0x10', '1'.repeat(65)])(
  '%j is refused',
  (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  },
);

test.each([
  [1023, 'binary', '1023'],
  [100 * 1024 ** 2, 'binary', '100Mi'],
  [1.5 * 1024 ** 3, 'binary', '1536Mi'],
  [1024 ** 6, 'binary', '1Ei'],
  [1e9, 'binary', '1000000000'],
  [1500, 'decimal', '1500'],
] as const)('%d in %s form is %s', (bytes, form, text) => {
  expect(quantityText(bytes, form)).toBe(text);
});

test('parses its own text', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.constantFrom('binary', 'decimal'), (bytes, form) => {
      expect(parseQuantity(quantityText(bytes, form))).toBe(bytes);
    }),
  );
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.50 KiB'],
  [130 * 1024 ** 2, '130 MiB'],
  [5 * 1024 ** 4, '5.00 TiB'],
] as const)('%d bytes in a sentence are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test.each([
  [1023, '1023'],
  [1.5 * 2 ** 30, '1.5Gi'],
  [133.3 * 2 ** 30, '133Gi'],
  [1000.6 * 2 ** 20, '1000Mi'],
])('%d bytes are %s in a table', (bytes, text) => {
  expect(compactQuantityText(bytes)).toBe(text);
});
