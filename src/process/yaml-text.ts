import { dump } from 'js-yaml';
import { printable } from '../runtime/text/printable.ts';

/** js-yaml escapes all other invisible characters. */
const direction = /\p{Bidi_Control}/gu;

/** The value as YAML, in which invisible characters are escaped. */
export function yamlText(value: object): string {
  const text = dumped(value);
  return text.search(direction) === -1 ? text : withoutDirection(value);
}

const dumped = (value: unknown): string => dump(value, { lineWidth: -1, noRefs: true });

/** YAML has escapes only in double quotes. A NUL before the character makes js-yaml use them; then the NUL is removed. */
function withoutDirection(value: object): string {
  const marked: unknown = JSON.parse(JSON.stringify(value).replaceAll(direction, '\\u0000$&'));
  return dumped(marked).replaceAll(/\\0(\p{Bidi_Control})/gu, (_, character: string) => printable(character));
}
