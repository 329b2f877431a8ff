import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bounded, boundedUtf8, bounds, isCut } from '../../../src/runtime/bounds.ts';
import { durationHint, formatDuration, parseDuration } from '../../../src/runtime/text/duration.ts';
import { globMatcher } from '../../../src/runtime/text/glob.ts';
import { nearest } from '../../../src/runtime/text/nearest.ts';
import { printable, printableLines } from '../../../src/runtime/text/printable.ts';
import { parseQuantity, quantityText } from '../../../src/runtime/text/quantity.ts';
import { formatRfc3339, parseRfc3339 } from '../../../src/runtime/text/rfc3339.ts';
import { miswrittenDurations } from '../../contract/policies/bad-pods.ts';
import { hostileText, raw } from '../../hostile.ts';

describe('a duration', () => {
  test.each<readonly [string, number | undefined]>([
    ['1.5h', 5_400_000],
    ['0.4ms', 0],
    ['30m1h', 5_400_000],
    ['1w1d30m1h', 696_600_000],
    ['2562047h', 9_223_369_200_000],
    ...['', '-1s', '1.s', '1d1w', '1h1d', '1.5d', '2562048h', '9'.repeat(99) + 'h'].map(
      (refused) => [refused, undefined] as const,
    ),
  ])('%j is %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(Object.entries(miswrittenDurations))('%j becomes "%s"', (text, correction) => {
    expect(durationHint(text)).toBe(correction === '' ? '' : ` (write ${correction})`);
  });

  test.each([
    [0, '0s'],
    [61_500, '1m1.5s'],
    [172_799_000, '47h59m59s'],
    [172_800_000, '2d'],
    [608_400_000, '169h'],
  ])('of %d ms is written as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test('is parsed in its own format', () => {
    fc.assert(
      fc.property(fc.nat({ max: 9_000_000_000_000 }), (ms) => parseDuration(formatDuration(ms)) === ms),
    );
  });
});

describe('a quantity', () => {
  test.each<readonly [string, number | undefined]>([
    ['1E', 1e18],
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
    ...['', '1 Gi', 'Gi', '1K', '1.2.3', '.', '-', 'e3', '1e', '1e1.5', '0x10', '1'.repeat(65)].map(
      (refused) => [refused, undefined] as const,
    ),
  ])('%j is %j bytes', (text, bytes) => {
    expect(parseQuantity(text)).toBe(bytes);
  });

  test.each([
    [1023, 'binary', '1023'],
    [1.5 * 1024 ** 3, 'binary', '1536Mi'],
    [1024 ** 6, 'binary', '1Ei'],
    [1e9, 'binary', '1000000000'],
    [1500, 'decimal', '1500'],
  ] as const)('of %d bytes in %s form is %s', (bytes, form, text) => {
    expect(quantityText(bytes, form)).toBe(text);
  });

  test('is parsed in its own format', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom('binary', 'decimal'), (bytes, form) => {
        expect(parseQuantity(quantityText(bytes, form))).toBe(bytes);
      }),
    );
  });
});

test.each([
  ['2026-01-15T13:00:00+01:00', 1_768_478_400_000],
  ['2026-01-15t12:00:00.5z', 1_768_478_400_500],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-13-01T00:00:00Z', undefined],
  ['2026-01-15T25:00:00Z', undefined],
  ['now', undefined],
])('the time %s is %s', (text, ms) => {
  expect(parseRfc3339(text)).toBe(ms);
});

test('a time has a fraction only if it is not zero', () => {
  expect(formatRfc3339(new Date(1_768_478_400_000))).toBe('2026-01-15T12:00:00Z');
  expect(formatRfc3339(new Date(1_768_478_400_500))).toBe('2026-01-15T12:00:00.500Z');
});

describe('a glob', () => {
  test.each([
    ['*', 'anything\nat all', true],
    ['[a]', '[a]', true],
    ['[a]', 'a', false],
    ['a.c', 'abc', false],
    // No character counts for two parts.
    ['ab*b', 'ab', false],
    ['*ab*b', 'ab', false],
    ['*a?*a?*', 'aab', false],
    ['*??*?', 'ab', false],
    // It would hang a matcher that backtracks.
    ['a*'.repeat(100) + 'b', 'a'.repeat(10_000), false],
  ])('%j matches %j: %s', (pattern, text, expected) => {
    expect(globMatcher(pattern)(text)).toBe(expected);
  });

  // With a question mark, a step for each character of both would need seconds.
  test.each(['a?', 'aa?a', '?'])('of %j a hundred times is compared with a long text in a moment', (part) => {
    const pattern = `*${part.repeat(100).slice(0, 200)}b*`;
    const begin = process.cpuUsage();
    expect(globMatcher(pattern)('a'.repeat(1_000_000))).toBe(false);
    expect(globMatcher(pattern)(`${'a'.repeat(1_000_000)}b`)).toBe(true);
    expect(process.cpuUsage(begin).user).toBeLessThan(2_000_000);
  });

  test.each([
    { patterns: 8, texts: 10 },
    { patterns: 200, texts: 300 },
  ])('matches like a regular expression, up to $patterns characters', ({ patterns, texts }) => {
    const unit = fc.constantFrom('a', 'a', 'a', 'b', '*', '?');
    const pattern = fc.string({ unit, maxLength: patterns, size: 'max' });
    const text = fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b'), maxLength: texts, size: 'max' });
    fc.assert(
      fc.property(pattern, text, (p, t) => {
        fc.pre(p.split('*').length < 6);
        const regexp = new RegExp(`^${p.replaceAll('*', '[^]*').replaceAll('?', '[^]')}$`);
        expect(globMatcher(p)(t)).toBe(regexp.test(t));
      }),
    );
  });
});

test.each([
  ['controler', 'controller'],
  ['paln', 'plan'],
  ['contrler', 'controller'],
  ['pxxn', undefined],
  ['nlap', undefined],
  ['CONT', 'controller'],
  ['co', undefined],
  ['', undefined],
])('of the commands, the nearest to %j is %s', (word, expected) => {
  expect(nearest(word, ['controller', 'agent', 'plan', 'nodes', 'node'])).toBe(expected);
});

describe('printable text', () => {
  test.each([
    { name: 'letters of any script, emoji and joiners', text: 'ñ 猫 👩‍🚀 …', expected: 'ñ 猫 👩‍🚀 …' },
    { name: 'a backslash', text: String.raw`C:\u001b`, expected: String.raw`C:\u001b` },
    { name: 'ESC', text: '\u001b[2J', expected: String.raw`\u001b[2J` },
    { name: 'a line feed', text: 'a\nb', expected: String.raw`a\nb` },
    { name: 'a lone low surrogate', text: '\ude80', expected: String.raw`\ude80` },
  ])('of $name', ({ text, expected }) => {
    expect(printable(text)).toBe(expected);
  });

  test('has no invisible character left, is not escaped twice, and keeps line feeds where lines are wanted', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(raw);
        expect(printable(shown)).toBe(shown);
        expect(printableLines(text)).toBe(text.split('\n').map(printable).join('\n'));
      }),
    );
  });

  test('of JSON in one line keeps its value', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (key, value) => {
        const json = JSON.stringify({ [`k${key}`]: value });
        expect(JSON.parse(printable(json))).toEqual(JSON.parse(json));
      }),
    );
  });
});

describe('a text beyond its bound', () => {
  test.each([1, 2, 4])('is cut between two characters of %d bytes, recognisably', (bytes) => {
    const fits = ({ 1: 'x', 2: 'ä', 4: '🙂' }[bytes] ?? '').repeat(Math.floor(253 / bytes));
    expect([bounded(fits, 253), isCut(fits)]).toEqual([fits, false]);
    const cut = bounded(`${fits}${fits.slice(0, 2)}`, 253);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(253);
    expect(cut).not.toContain('�');
    expect([cut.slice(0, 50), isCut(cut)]).toEqual([fits.slice(0, 50), true]);
  });

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
