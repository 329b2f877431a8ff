const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes in the kubelet's form, with one decimal: `1.5 GiB`. */
export function shortSizeText(bytes: number): string {
  const power = powerOf(bytes);
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${units[power] ?? ''}`;
}

/** Bytes in the form of a Kubernetes Quantity, with one decimal: `1.5Gi`. */
export const shortQuantityText = (bytes: number): string =>
  shortSizeText(bytes).replace(' ', '').replace('B', '');

/** Bytes in the form of a Kubernetes Quantity, in at most six characters: `1.5Gi`, `133Gi`. */
export function compactQuantityText(bytes: number): string {
  const value = bytes / 1024 ** powerOf(bytes);
  return value < 99.95 ? shortQuantityText(bytes) : shortQuantityText(bytes).replace(/\.\d/, '');
}

/** Bytes in kubectl's binary units, with three digits: `1.50 GiB`. */
export function sizeText(bytes: number): string {
  const power = powerOf(bytes);
  const value = bytes / 1024 ** power;
  const digits = Math.abs(value) >= 1000 ? 4 : 3;
  return `${power === 0 ? Math.round(value) : value.toPrecision(digits)} ${units[power] ?? ''}`;
}

const powerOf = (bytes: number): number =>
  Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10));
