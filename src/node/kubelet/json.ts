/** A number from 0 on. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Unix milliseconds. Go writes the zero time as the year 1: not measured. */
export function timeOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return ms > 0 ? ms : undefined;
}
