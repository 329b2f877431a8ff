/** The factor of a suffix: a power of ten times a power of two. */
interface Scale {
  readonly tens: number;
  readonly twos: number;
}

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
/** Upstream stores quantities in an int64 and limits larger ones to its maximum. */
const largest = 2n ** 63n - 1n;
const form = /^([+-]?)(?=\.?\d)(\d*)\.?(\d*)([eE][+-]?\d{1,3}|[KMGTPE]i|[numkMGTPE]|)$/;

/** Bytes of a Kubernetes Quantity such as `10Gi`, `1.5G` or `1e3`, rounded away from zero like upstream; undefined for anything else. */
export function parseQuantity(text: string): number | undefined {
  const match = text.length <= maxLength ? form.exec(text) : null;
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  const { tens, twos } = scaleOf(suffix);
  const value = scaleUp(BigInt(whole + fraction) << BigInt(twos), tens - fraction.length);
  const bytes = Number(value < largest ? value : largest);
  return sign === '-' && bytes !== 0 ? -bytes : bytes;
}

function scaleOf(suffix: string): Scale {
  if (/\d$/.test(suffix)) return { tens: Number(suffix.slice(1)), twos: 0 };
  return { tens: decimal[suffix] ?? 0, twos: binary[suffix] ?? 0 };
}

/** value × 10^power, rounded up. */
function scaleUp(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (value + divisor - 1n) / divisor;
}

const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalSuffixes = ['k', 'M', 'G', 'T', 'P', 'E'];

/** Formats bytes as Kubernetes does: the largest suffix without a fraction, `1536Mi` or `1500M`; no suffix for small values. */
export function quantityText(bytes: number, form: 'binary' | 'decimal' = 'binary'): string {
  const isBinary = form === 'binary' && Math.abs(bytes) >= 1024;
  const [step, suffixes] = isBinary ? [1024, binarySuffixes] : [1000, decimalSuffixes];
  let value = bytes;
  let suffix = '';
  for (const larger of suffixes) {
    if (value === 0 || value % step !== 0) break;
    value /= step;
    suffix = larger;
  }
  return `${value}${suffix}`;
}
