/** 0 for none. */
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

type MaybeKnown = readonly (number | undefined)[];

/** undefined = one of them is unknown. */
export const sumIfKnown = (numbers: MaybeKnown): number | undefined =>
  numbers.includes(undefined) ? undefined : sum(numbers.map((one = 0) => one));

/** The sum of those that are known; undefined = all are unknown. */
export function sumOfKnown(numbers: MaybeKnown): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : sum(known);
}
