import { printable } from '../../runtime/text/printable.ts';
import { isObject } from '../json.ts';
import { schemaOf, type Schema } from '../policy/schema.ts';

/**
 * Cuts every value to the bounds of its schema: the API server refuses a report with one value beyond them. Texts become one printable line, numbers
 * whole; lists lose their last entries. What is undefined has no field.
 */
export function fitted(value: unknown, schema: Schema): unknown {
  const { type, items, maxItems, maxLength } = schema;
  if (typeof value === 'string') return maxLength === undefined ? value : cut(value, maxLength);
  if (typeof value === 'number') return type === 'integer' ? whole(value, schema) : value;
  if (Array.isArray(value) && items !== undefined)
    return value.slice(0, maxItems).map((item: unknown) => fitted(item, items));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const known = schemaOf(schema, name);
      return field === undefined || known === undefined ? [] : [[name, fitted(field, known)] as const];
    }),
  );
}

function whole(
  value: number,
  { minimum = -Infinity, maximum = Infinity }: Pick<Schema, 'minimum' | 'maximum'>,
) {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.trunc(value), minimum), maximum);
}

/** Returns one printable line of at most `max` characters; a longer text ends in an ellipsis. */
function cut(text: string, max: number): string {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim());
  if (line.length <= max) return line;
  // Cuts between characters, so that none is halved.
  const characters = Array.from(line.slice(0, 2 * max));
  return characters.length <= max && line.length <= 2 * max
    ? characters.join('')
    : `${characters.slice(0, max - 1).join('')}…`;
}
