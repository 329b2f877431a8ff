import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQuantity } from '../../../src/runtime/text/quantity.ts';
import { quantityText } from '../../../src/runtime/text/quantity-text.ts';
import { sizeText } from '../../../src/runtime/text/size-text.ts';
import { property } from '../../property.ts';

test.each([
  [0, 'binary', '0'],
  [1023, 'binary', '1023'],
  [1000, 'binary', '1k'],
  [1024, 'binary', '1Ki'],
  [1536, 'binary', '1536'],
  [100 * 1024 ** 2, 'binary', '100Mi'],
  [1.5 * 1024 ** 3, 'binary', '1536Mi'],
  [1024 ** 6, 'binary', '1Ei'],
  [1e9, 'binary', '1000000000'],
  [1500, 'decimal', '1500'],
  [2e9, 'decimal', '2G'],
  [1024, 'decimal', '1024'],
] as const)('%d in %s form is %s', (bytes, form, text) => {
  expect(quantityText(bytes, form)).toBe(text);
});

test('what is written is read again', property, () => {
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
  [85 * 1024 ** 2, '85.0 MiB'],
  [130 * 1024 ** 2, '130 MiB'],
  [1023 * 1024 ** 2, '1023 MiB'],
  [5 * 1024 ** 4, '5.00 TiB'],
] as const)('%d bytes in a sentence are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
