/** Values of the kubelet's JSON: one of another type counts as missing. */
type Json = Readonly<Record<string, unknown>>;

const nothing: Json = Object.freeze({});

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const object = (value: unknown): Json => (isObject(value) ? value : nothing);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A number from 0 on. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Unix milliseconds. Go writes the zero time as the year 1: not measured. */
export function timeOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return ms > 0 ? ms : undefined;
}
