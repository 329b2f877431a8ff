import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { isObject } from '../json.ts';
import { schemaOf, type Schema } from '../policy/schema.ts';

/**
 * The opposite of `fitted`, for a value that another version, or a person in a file, has written. What the schema refuses is absent: a field, an
 * entry of a list, and an object without a required field.
 */
export function readable(value: unknown, schema: Schema): unknown {
  const { type, items, maxItems } = schema;
  if (type === 'object') return isObject(value) ? readableFields(value, schema) : undefined;
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type === 'integer') return isInteger(value, schema) ? value : undefined;
  if (type === 'string') return isText(value, schema) ? value : undefined;
  if (!Array.isArray(value) || items === undefined) return undefined;
  return value.flatMap((item: unknown) => readable(item, items) ?? []).slice(0, maxItems);
}

function readableFields(object: Readonly<Record<string, unknown>>, schema: Schema): object | undefined {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    const known = schemaOf(schema, name);
    const field = known && readable(value, known);
    if (field !== undefined) read[name] = field;
  }
  return schema.required?.every((name) => name in read) === false ? undefined : read;
}

const isInteger = (value: unknown, { minimum = -Infinity, maximum = Infinity }: Schema): boolean =>
  Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;

/** The API server counts characters; a character may have two units of a string. */
function isText(value: unknown, schema: Schema): boolean {
  const { minLength = 0, maxLength = Infinity, enum: words } = schema;
  if (typeof value !== 'string' || value.length < minLength) return false;
  if (value.length > maxLength && Array.from(value).length > maxLength) return false;
  return words?.includes(value) !== false && hasForm(value, schema);
}

/** The pattern of times matches February 30, which the API server refuses. */
const hasForm = (text: string, { format, pattern }: Schema): boolean =>
  format === 'date-time'
    ? parseRfc3339(text) !== undefined
    : pattern === undefined || new RegExp(pattern).test(text);
