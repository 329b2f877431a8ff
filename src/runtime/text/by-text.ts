/** Compares texts by their UTF-16 units, so that every machine sorts alike. */
export const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
