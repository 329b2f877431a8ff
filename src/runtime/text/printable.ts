/** Control characters (C0, DEL, C1), line and paragraph separators, controls of the text direction, lone surrogates. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/** Escapes invisible characters as JSON does, so JSON in one line keeps its value. Idempotent: does not change printable text or backslashes. */
export const printable = (text: string): string => text.replaceAll(invisible, escapeOf);

/** Does the same, but keeps line feeds: for text whose lines dustpan has written. */
export const printableLines = (text: string): string =>
  text.replaceAll(invisible, (character) => (character === '\n' ? character : escapeOf(character)));

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeOf = (character: string): string =>
  short[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
