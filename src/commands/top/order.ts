/** The value by which a row is sorted: larger numbers first, then texts in their order; undefined = unknown, last. */
type SortValue = number | string | undefined;

/** How the rows of a kind are sorted, by the values of `--sort-by`. */
export type SortValues<F extends string, R> = Readonly<Record<F, (row: R) => SortValue>>;

/** Sorts by a field, then by name. */
export function sortedBy<F extends string, R extends { readonly name?: string | undefined }>(
  rows: readonly R[],
  values: SortValues<F, R>,
  field: string,
): readonly R[] {
  const valueOf = Object.entries<(row: R) => SortValue>(values).find(([name]) => name === field)?.[1];
  if (valueOf === undefined) throw new Error(`rows have no field ${field}`);
  return rows.toSorted((a, b) => byValue(valueOf(a), valueOf(b)) || byText(a.name ?? '', b.name ?? ''));
}

function byValue(a: SortValue, b: SortValue): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return typeof a === 'number' && typeof b === 'number' ? b - a : byText(String(a), String(b));
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Earlier times first. */
export const earlierFirst = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : -Date.parse(time);

/** The known times, the earliest first. */
export const timesOf = (times: readonly (string | undefined)[]): readonly string[] =>
  times.filter((time) => time !== undefined).toSorted((a, b) => Date.parse(a) - Date.parse(b));

/** undefined = one of them is unknown. */
export const sumOf = (numbers: readonly (number | undefined)[]): number | undefined =>
  numbers.reduce<number | undefined>(
    (all, one) => (all === undefined || one === undefined ? undefined : all + one),
    0,
  );
