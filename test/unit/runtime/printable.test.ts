import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable, printableLines } from '../../../src/runtime/text/printable.ts';
import { hostileText, raw } from '../../hostile.ts';

test.each([
  { name: 'letters of any script, emoji and joiners', text: 'ñ 猫 👩‍🚀 …', expected: 'ñ 猫 👩‍🚀 …' },
  { name: 'a backslash', text: String.raw`C:\u001b`, expected: String.raw`C:\u001b` },
  { name: 'ESC', text: '\u001b[2J', expected: String.raw`\u001b[2J` },
  { name: 'a line feed', text: 'a\nb', expected: String.raw`a\nb` },
  { name: 'the last of C1', text: '\u009f', expected: String.raw`\u009f` },
  { name: 'a lone low surrogate', text: '\ude80', expected: String.raw`\ude80` },
])('$name', ({ text, expected }) => {
  expect(printable(text)).toBe(expected);
});

describe('any text', () => {
  test('has no invisible character left, and is not escaped twice', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(raw);
        expect(printable(shown)).toBe(shown);
      }),
    );
  });

  test('as JSON in one line keeps its value', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (key, value) => {
        const json = JSON.stringify({ [`k${key}`]: value });
        expect(JSON.parse(printable(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  test('keeps only line feeds in `printableLines`', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(printableLines(text)).toBe(text.split('\n').map(printable).join('\n'));
      }),
    );
  });
});
