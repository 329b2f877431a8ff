/** The smallest value that at least so many per cent of them do not exceed (nearest rank); NaN of none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? NaN;
}

/** One measured value and what it depends on. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/** How much y grows for each x, by least squares; NaN without two different x. */
export function slope(points: readonly Point[]): number {
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const covariance = mean(({ x, y }) => (x - meanX) * (y - meanY));
  const variance = mean(({ x }) => (x - meanX) ** 2);
  return variance === 0 ? NaN : covariance / variance;
}
