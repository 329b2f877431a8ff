import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationHint, formatDuration, parseDuration } from '../../../src/runtime/text/duration.ts';
import { miswrittenDurations } from '../../contract/policies/bad-pods.ts';

describe('parseDuration', () => {
  test.each([
    ['1.5h', 5_400_000],
    ['1.001s', 1001],
    ['0.4ms', 0],
    ['30m1h', 5_400_000],
    ['1w1d30m1h', 696_600_000],
    ['2562047h', 9_223_369_200_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '-1s', '1.s', '1d1w', '1h1d', '1.5d', '2562048h', '9'.repeat(99) + 'h'])(
    '%j is refused',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});

test.each(Object.entries(miswrittenDurations))('%j becomes "%s"', (text, correction) => {
  expect(durationHint(text)).toBe(correction === '' ? '' : ` (write ${correction})`);
});

test.each([
  [0, '0s'],
  [1000, '1s'],
  [61_500, '1m1.5s'],
  [3_601_000, '1h1s'],
  [86_400_000, '24h'],
  [172_799_000, '47h59m59s'],
  [172_800_000, '2d'],
  [608_400_000, '169h'],
])('formatDuration: %d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('parses its own format', () => {
  fc.assert(
    fc.property(fc.nat({ max: 9_000_000_000_000 }), (ms) => parseDuration(formatDuration(ms)) === ms),
  );
});
