import { errorLine } from '../errors.ts';

const maxDepth = 6;
const secretKey =
  /^(authorization|(bearer)?token|password|passwd|secret|credentials?|client-?key(-?data)?)$/i;
const secretText = /\b(Bearer\s+)\S+|\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/** The fields of one line as plain JSON values: errors as one line, API objects as references, secrets redacted. */
export function plainFields(fields: object): Record<string, unknown> {
  return plainObject(fields, 0);
}

function withoutSecrets(text: string): string {
  // A fast test: hardly any text contains the beginning of a token.
  if (!text.includes('Bearer') && !text.includes('eyJ')) return text;
  return text.replaceAll(secretText, '$1[redacted]');
}

function plainObject(object: object, depth: number): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) {
    plain[key] = secretKey.test(key) && value !== undefined ? '[redacted]' : plainValue(value, depth + 1);
  }
  return plain;
}

function plainValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || value === null) return value;
  return typeof value === 'object' ? plainReference(value, depth) : undefined;
}

function plainReference(value: object, depth: number): unknown {
  if (value instanceof Error) return withoutSecrets(errorLine(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  // Also ends a cycle.
  if (depth > maxDepth) return '[too deep]';
  if (value instanceof Set) return plainValue([...value.values()], depth);
  if (value instanceof Map) return plainObject(Object.fromEntries<unknown>(value.entries()), depth);
  if (Array.isArray(value)) return value.map((item: unknown) => plainValue(item, depth + 1));
  return apiReference(value) ?? plainObject(value, depth);
}

/** Reduces a pod or node to its identity. */
function apiReference(value: object): object | undefined {
  if (!('name' in value) || typeof value.name !== 'string') return undefined;
  const { name } = value;
  const namespace = 'namespace' in value ? value.namespace : undefined;
  const uid = 'uid' in value ? value.uid : undefined;
  if (typeof namespace !== 'string' && typeof uid !== 'string') return undefined;
  return { kind: 'kind' in value ? value.kind : undefined, namespace, name };
}
