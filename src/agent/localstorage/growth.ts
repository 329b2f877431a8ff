/** A measured size. */
export interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** How one figure came to be what it is: a few samples of the past, and the latest. Never more than `maxSamples` are kept. */
export interface Trend {
  /** Oldest first, at least `spacingMs` apart. */
  readonly samples: readonly Sample[];
  readonly latest: Sample;
}

/** How far back growth is looked at. */
export const windowMs = 15 * 60_000;
/** Between two samples that are kept: the kubelet itself measures volumes every one to two minutes. */
const spacingMs = 60_000;
const maxSamples = windowMs / spacingMs;
/** A figure that has not moved for this long has truly not moved; before, it may just not have been measured again. */
const standstillMs = 150_000;
/** Less tells nothing: one burst would be taken for a trend. */
const leastSpanMs = 50_000;
/** A figure from so far in the past says that the clock was set back, not that it came late. */
const setBackMs = 120_000;

/** Takes one more look at a figure into its trend. What was not measured anew changes nothing. */
export function observeTrend(before: Trend | undefined, look: Sample): Trend {
  if (before === undefined || look.atMs < before.latest.atMs - setBackMs)
    return { samples: [], latest: look };
  const { samples, latest } = before;
  if (look.atMs <= latest.atMs) return before;
  if (look.bytes === latest.bytes && look.atMs - latest.atMs < standstillMs) return before;
  const last = samples.at(-1);
  const isApart = last === undefined || latest.atMs - last.atMs >= spacingMs;
  const kept = isApart ? [...samples, latest] : samples;
  return {
    samples: kept.filter(({ atMs }) => look.atMs - atMs <= windowMs).slice(-maxSamples),
    latest: look,
  };
}

/** Bytes a minute by least squares over the samples of the last 15 min; undefined = not known yet, or not growing. */
export function growthPerMinute({ samples, latest }: Trend): number | undefined {
  const [first] = samples;
  if (first === undefined || latest.atMs - first.atMs < leastSpanMs) return undefined;
  const slope = slopeOf([...samples, latest]);
  const perMinute = Math.round(slope * 60_000);
  return perMinute > 0 ? perMinute : undefined;
}

/** Relative to the first sample, so that large numbers cost no precision. */
function slopeOf(samples: readonly Sample[]): number {
  const [origin = { atMs: 0, bytes: 0 }] = samples;
  const points = samples.map(({ atMs, bytes }) => ({ x: atMs - origin.atMs, y: bytes - origin.bytes }));
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
}
