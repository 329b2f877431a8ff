/**
 * What a terminal or a reader would obey instead of show: control characters (C0, DEL, C1), line and paragraph separators, controls of the
 * text direction. A surrogate without its other half is shown differently everywhere.
 */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/**
 * Makes invisible characters visible in one line of text. The escapes are those of JSON, so JSON in one line keeps its value. Idempotent:
 * a backslash stays as it is, and what was printable already does not change.
 */
export const printable = (text: string): string => text.replaceAll(invisible, escapeOf);

/** Does the same to each line of a text whose lines are ours. */
export const printableLines = (text: string): string =>
  text.replaceAll(invisible, (character) => (character === '\n' ? character : escapeOf(character)));

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeOf = (character: string): string =>
  short[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
