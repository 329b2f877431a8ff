/** The JSON form of an API object of client-node: times are strings. */
export type OnWire<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? readonly OnWire<E>[]
    : T extends object
      ? { readonly [K in keyof T]: OnWire<T[K]> }
      : T;

/** A metav1.MicroTime: exactly six fractional digits, because the API server refuses the three of `toISOString()`. */
export const microTime = (at: Date): string => at.toISOString().replace('Z', '000Z');
