import { expect, test } from 'vitest';
import { formatRfc3339, parseRfc3339 } from '../../../src/runtime/text/rfc3339.ts';

test.each([
  { text: '2026-01-15T13:00:00+01:00', ms: 1_768_478_400_000 },
  { text: '2026-01-15t12:00:00.5z', ms: 1_768_478_400_500 },
  { text: '2024-02-29T00:00:00Z', ms: Date.UTC(2024, 1, 29) },
  { text: '2026-02-29T00:00:00Z', ms: undefined },
  { text: '2026-13-01T00:00:00Z', ms: undefined },
  { text: '2026-01-15T25:00:00Z', ms: undefined },
  { text: 'now', ms: undefined },
])('$text', ({ text, ms }) => {
  expect(parseRfc3339(text)).toBe(ms);
});

test('formats a fraction only if it is not zero', () => {
  expect(formatRfc3339(new Date(1_768_478_400_000))).toBe('2026-01-15T12:00:00Z');
  expect(formatRfc3339(new Date(1_768_478_400_500))).toBe('2026-01-15T12:00:00.500Z');
});
