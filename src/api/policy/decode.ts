import { durationMs } from '../../runtime/text/duration.ts';
import { parseQuantity } from '../../runtime/text/quantity.ts';
import { isObject } from '../json.ts';
import { schemaOf, type Schema } from './schema.ts';

/** The name of a decoded field: a duration is in milliseconds, a time in Unix milliseconds, a quantity in bytes. */
export function decodedName(name: string, format: Schema['format']): string {
  if (format === 'duration' || format === 'time') return `${name}Ms`;
  return format === 'quantity' && !name.includes('Bytes') ? `${name}Bytes` : name;
}

/** Decodes the texts in a valid value by the formats of its schema. The empty quantity is undefined. */
export function decoded(value: unknown, schema: Schema): unknown {
  const { items, format } = schema;
  if (typeof value === 'string') {
    if (format === 'duration') return durationMs(value);
    if (format === 'time') return Date.parse(value);
    return format === 'quantity' ? parseQuantity(value) : value;
  }
  if (Array.isArray(value) && items !== undefined) return value.map((item: unknown) => decoded(item, items));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const known = schemaOf(schema, name);
      return known === undefined ? [name, field] : [decodedName(name, known.format), decoded(field, known)];
    }),
  );
}
