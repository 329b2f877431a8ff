import { describe, expect, test } from 'vitest';
import { bounded, boundedUtf8, bounds, isCut } from '../../../src/runtime/bounds.ts';

test.each(['', 'web', 'x'.repeat(253), 'ä'.repeat(126), '🙂'.repeat(63)])(
  'keeps a short text: %s',
  (text) => {
    expect(bounded(text, 253)).toBe(text);
    expect(isCut(text)).toBe(false);
  },
);

describe('a text beyond its bound', () => {
  test.each(['x'.repeat(254), 'ä'.repeat(127), '🙂'.repeat(64), 'x'.repeat(1_400_000)])(
    'is cut between two characters, recognisably',
    (text) => {
      const cut = bounded(text, 253);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(253);
      expect(cut).not.toContain('�');
      expect(text.startsWith(cut.slice(0, 50))).toBe(true);
      expect(isCut(cut)).toBe(true);
    },
  );

  test('differs from every other cut text', () => {
    const long = 'x'.repeat(5_000);
    const others = [`${long}x`, `y${long}`, `${long}y`, `${long.slice(0, 3_000)}y${long.slice(3_001)}`];
    expect(new Set([long, ...others].map((text) => bounded(text, 253))).size).toBe(5);
    expect(bounded(long, 253)).toBe(bounded('x'.repeat(5_000), 253));
  });

  test('is the same when it is read from bytes', () => {
    for (const text of ['short', 'ä'.repeat(bounds.text)]) {
      const bytes = Buffer.from(`before${text}after`);
      expect(boundedUtf8(bytes, 6, bytes.length - 5)).toBe(bounded(text, bounds.text));
    }
  });
});
