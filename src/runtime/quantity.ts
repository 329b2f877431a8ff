/** Powers of ten and of two behind the suffixes of a Kubernetes Quantity. */
const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** Longer than any sensible quantity; keeps the arithmetic below small. */
const maxLength = 64;
/** Upstream holds quantities in an int64 and pins what is larger to its end. */
const largest = 2n ** 63n - 1n;
const form = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i))?$/;

/** Bytes of a Kubernetes Quantity such as `10Gi`, `1.5G`, `128974848` or `1e3`, rounded away from zero as upstream; undefined for anything else. */
export function parseQuantity(text: string): number | undefined {
  const match = text.length <= maxLength ? form.exec(text) : null;
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = match[4] ?? '', , exponent = '0', suffix = ''] = match;
  const digits = BigInt(whole + fraction) << BigInt(binary[suffix] ?? 0);
  const value = scaleUp(digits, Number(exponent) + (decimal[suffix] ?? 0) - fraction.length);
  const bytes = Number(value < largest ? value : largest);
  return sign === '-' && bytes !== 0 ? -bytes : bytes;
}

/** value × 10^power, rounded up. */
function scaleUp(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (value + divisor - 1n) / divisor;
}
