import type { InvalidPolicy } from '../api/policy.ts';
import { formatRfc3339 } from '../runtime/rfc3339.ts';
import type { Told } from './plan-document.ts';

const endings: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });

/** `1st`, `14th`. */
export const ordinal = (place: number): string => `${place}${endings[ordinals.select(place)] ?? 'th'}`;

/** `1 pod`, `2 pods`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** What time a person reads. */
export const timeText = (ms: number): string => formatRfc3339(new Date(ms));

/** A sentence about what no field says. */
export const plainly = (detail: string): Told => ({ detail, field: null });

/** A policy that cannot be followed, and the first of what is wrong in it. */
export function invalidTold({ name, problems }: InvalidPolicy, governed: string): Told {
  const [problem = ''] = problems;
  return {
    detail: `GCPolicy ${name} may govern ${governed} but cannot be followed, so nothing is touched: ${problem.replace(/[.]?$/, '.')}`,
    field: problem.split(': ', 1)[0] ?? null,
  };
}
