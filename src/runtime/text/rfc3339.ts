const form = /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

const daysOfAnyMonth = 28;

/** Unix milliseconds of an RFC 3339 time; undefined for anything else, also for February 30. */
export function parseRfc3339(text: string): number | undefined {
  const [, year, month, day] = form.exec(text) ?? [];
  if (year === undefined) return undefined;
  if (Number(day) > daysOfAnyMonth && Number(day) > daysIn(Number(year), Number(month))) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** The time in UTC, without a fraction if it is zero. */
export const formatRfc3339 = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

/** The time as a metav1.Time, in the API server's form: whole seconds, in UTC. */
export const metaTime = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');
