const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalSuffixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Whole bytes as Kubernetes prints a Quantity: never a fraction, the largest suffix that goes, `1536Mi` or `1500M`; small ones without. */
export function quantityText(bytes: number, form: 'binary' | 'decimal' = 'binary'): string {
  const isBinary = form === 'binary' && Math.abs(bytes) >= 1024;
  const [step, suffixes] = isBinary ? [1024, binarySuffixes] : [1000, decimalSuffixes];
  let value = bytes;
  let power = 0;
  while (value !== 0 && value % step === 0 && power < suffixes.length - 1) {
    value /= step;
    power += 1;
  }
  return `${value}${suffixes[power] ?? ''}`;
}
