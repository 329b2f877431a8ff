/** A metav1.MicroTime: exactly six fractional digits, because the API server refuses the three of `toISOString()`. */
export const microTime = (at: Date): string => at.toISOString().replace('Z', '000Z');
