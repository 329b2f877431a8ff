interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

export interface Trend {
  /** Oldest first, at least `spacingMs` apart, at most `maxSamples`. */
  readonly samples: readonly Sample[];
  readonly latest: Sample;
}

export const windowMs = 15 * 60_000;
/** Distance of two kept samples: the kubelet measures volumes every one to two minutes. */
const spacingMs = 60_000;
const maxSamples = windowMs / spacingMs;
/** A size that is unchanged for this long has not grown; before that, it may not have been measured again. */
const standstillMs = 150_000;
/** Over a shorter time one burst would count as a trend. */
const leastSpanMs = 50_000;
/** A sample that is this much older than the latest one means that the clock was set back. */
const setBackMs = 120_000;

/** Adds a sample to a trend. A sample that was not measured anew changes nothing. */
export function observeTrend(before: Trend | undefined, sample: Sample): Trend {
  if (before === undefined || sample.atMs < before.latest.atMs - setBackMs)
    return { samples: [], latest: sample };
  const { samples, latest } = before;
  if (sample.atMs <= latest.atMs) return before;
  if (sample.bytes === latest.bytes && sample.atMs - latest.atMs < standstillMs) return before;
  const last = samples.at(-1);
  const isApart = last === undefined || latest.atMs - last.atMs >= spacingMs;
  const kept = isApart ? [...samples, latest] : samples;
  return {
    samples: kept.filter(({ atMs }) => sample.atMs - atMs <= windowMs).slice(-maxSamples),
    latest: sample,
  };
}

/** Growth in bytes per minute by least squares over the last 15 min; undefined = not known yet, or not growing. */
export function growthPerMinute({ samples, latest }: Trend): number | undefined {
  const [first] = samples;
  if (first === undefined || latest.atMs - first.atMs < leastSpanMs) return undefined;
  const slope = slopeOf([...samples, latest]);
  const perMinute = Math.round(slope * 60_000);
  return perMinute > 0 ? perMinute : undefined;
}

/** Minimum number of measurements: with fewer, one burst looks like growth. */
const leastSteps = 3;

/** Growth in bytes per minute without the fastest and the slowest step between two samples, so that one burst is no growth; undefined = not known yet, or not growing. */
export function steadyGrowthPerMinute({ samples, latest }: Trend): number | undefined {
  const steps = samples.map((from, i) => {
    const to = samples[i + 1] ?? latest;
    return { ms: to.atMs - from.atMs, bytes: to.bytes - from.bytes };
  });
  if (steps.length < leastSteps) return undefined;
  const usual = steps.toSorted((a, b) => a.bytes / a.ms - b.bytes / b.ms).slice(1, -1);
  const sum = usual.reduce((total, one) => ({ ms: total.ms + one.ms, bytes: total.bytes + one.bytes }));
  const perMinute = Math.round((sum.bytes / sum.ms) * 60_000);
  return perMinute > 0 ? perMinute : undefined;
}

/** Time until the growth has filled what is left; undefined = not growing. */
export const secondsUntil = (left: number, perMinute: number | undefined): number | undefined =>
  perMinute === undefined ? undefined : Math.round((left / perMinute) * 60);

/** Computes relative to the first sample, so that large numbers cost no precision. */
function slopeOf(samples: readonly Sample[]): number {
  const [origin = { atMs: 0, bytes: 0 }] = samples;
  const points = samples.map(({ atMs, bytes }) => ({ x: atMs - origin.atMs, y: bytes - origin.bytes }));
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
}
