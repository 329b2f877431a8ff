import { nearest } from '../runtime/text/nearest.ts';

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes the problem of a field that is not in `known`, with the most similar known name. */
export function unknownField(name: string, known: readonly string[]): string {
  const guess = nearest(name, known);
  return `is not a known field${guess === undefined ? '' : `, did you mean ${guess}?`}`;
}

/** Formats any value for a message: short and in one line. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'absent';
  if (typeof value === 'string') return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : 'an object';
}
