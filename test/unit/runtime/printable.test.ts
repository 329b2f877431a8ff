import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable, printableLines } from '../../../src/runtime/text/printable.ts';
import { hostileText, raw } from '../../hostile.ts';

test.each([
  { name: 'plain text', text: 'default/app-7f', expected: 'default/app-7f' },
  { name: 'letters of any script, emoji and joiners', text: 'ñ 猫 👩‍🚀 …', expected: 'ñ 猫 👩‍🚀 …' },
  { name: 'a backslash', text: String.raw`C:\u001b`, expected: String.raw`C:\u001b` },
  { name: 'a no-break space', text: 'a\u00a0b', expected: 'a\u00a0b' },
  { name: 'ESC', text: '\u001b[2J', expected: String.raw`\u001b[2J` },
  { name: 'a line feed', text: 'a\nb', expected: String.raw`a\nb` },
  { name: 'the first of C1', text: '\u0080', expected: String.raw`\u0080` },
  { name: 'the last of C1', text: '\u009f', expected: String.raw`\u009f` },
  { name: 'the Arabic letter mark', text: '\u061c', expected: String.raw`\u061c` },
  { name: 'the left-to-right mark', text: '\u200e', expected: String.raw`\u200e` },
  { name: 'a line separator', text: '\u2028', expected: String.raw`\u2028` },
  { name: 'embeddings', text: '\u202a\u202b\u202c', expected: String.raw`\u202a\u202b\u202c` },
  { name: 'isolates', text: '\u2066\u2067\u2068\u2069', expected: String.raw`\u2066\u2067\u2068\u2069` },
  { name: 'a lone high surrogate', text: '\ud83d!', expected: String.raw`\ud83d!` },
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
