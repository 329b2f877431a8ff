import fc from 'fast-check';

/** What no value from outside may bring to a terminal or into a log line, lone surrogates too. */
export const raw = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]/u;

/** Clears the screen, forges a line, begins a sequence in one character, and turns the text around. */
export const hostile = 'a\u001b[2Jb\nERROR forged\u009b2Jc\u202egpj.exe\u2028d\u007f';

/** Texts full of such characters. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...Array.from(hostile),
        '\0',
        '\r',
        '\t',
        '\u0085',
        '\u2066',
        '\u200f',
        '\ud83d',
        '\ude80',
        '\\',
        '"',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));
