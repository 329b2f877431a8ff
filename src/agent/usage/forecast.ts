import { observeTrend, steadyGrowthPerMinute, type Trend } from '../../gc/growth.ts';
import { podClasses, type DiskUse, type MeasuredUsage, type PodClass, type UsageClass } from './facts.ts';

/** The namespaces that a report lists. */
export const maxNamespaces = 64;

/** Remembered between measurements. */
export interface UsageHistory {
  /** Keyed by disk and class, or by namespace and class. */
  readonly trends: ReadonlyMap<string, Trend>;
  /** Keyed by disk. */
  readonly scores: ReadonlyMap<string, Scores>;
}

export const noHistory: UsageHistory = { trends: new Map(), scores: new Map() };

interface Scores {
  /** Oldest first, not yet an hour old. */
  readonly predictions: readonly Prediction[];
  /** Oldest first, of the last day. */
  readonly errors: readonly { readonly atMs: number; readonly percent: number }[];
}

interface Prediction {
  readonly atMs: number;
  readonly usedBytes: number;
  readonly bytesPerHour: number;
  /** What dustpan had removed by then. */
  readonly freedBytes: number;
}

/** What grows on a node. */
export interface Grower {
  readonly what: Exclude<UsageClass, 'images-in-use' | 'images-unused'> | 'images';
  /** undefined = no pod's. */
  readonly namespace: string | undefined;
  readonly bytesPerHour: number;
}

/** Growth is that of the last 15 minutes; undefined = unknown, or it does not grow. */
export interface DiskForecast {
  readonly bytesPerHour: number | undefined;
  /** Seconds until no byte is available; undefined = not within a week, or unknown, or the forecasts of this disk are wrong. */
  readonly fullSeconds: number | undefined;
  /** The same, when everything collectable is removed by then; Infinity = collection keeps up with the growth. */
  readonly fullAfterCollectionSeconds: number | undefined;
  /** undefined = no forecast is an hour old. */
  readonly errorPercent: number | undefined;
  /** The fastest first. */
  readonly growers: readonly Grower[];
}

const hourMs = 60 * 60_000;
const predictEveryMs = 5 * 60_000;
const scoresLastMs = 24 * hourMs;
/** What 15 minutes tell about a later time means nothing: a busy node always grows a little. */
const horizonSeconds = 7 * 86_400;
/** A forecast that was wrong by more is not shown. */
const maxErrorPercent = 50;

/** Adds a measurement. Compares the forecasts of an hour ago with it. */
export function observeUsage(
  before: UsageHistory,
  measured: MeasuredUsage,
  freedBytes: number,
): UsageHistory {
  const atMs = measured.at.getTime();
  const sizes = [
    ...measured.disks.flatMap(({ name, usedBytes, classes }) => [
      [`${name}/used`, usedBytes] as const,
      ...[...classes].map(([one, bytes]) => [`${name}/${one}`, bytes] as const),
    ]),
    ...measured.namespaces
      .slice(0, maxNamespaces)
      .flatMap(({ name, classes }) =>
        podClasses.map((one) => [namespaceKey(name, one), classes[one]] as const),
      ),
  ];
  const trends = new Map(
    sizes.map(([key, bytes]) => [key, observeTrend(before.trends.get(key), { atMs, bytes })] as const),
  );
  const scores = new Map(
    measured.disks.map((disk) => {
      const bytesPerHour = perHour(trends.get(`${disk.name}/used`));
      return [
        disk.name,
        scored(before.scores.get(disk.name), { disk, atMs, bytesPerHour, freedBytes }),
      ] as const;
    }),
  );
  return { trends, scores };
}

const namespaceKey = (name: string, one: PodClass): string => `namespace/${name}/${one}`;

const perHour = (trend: Trend | undefined): number | undefined => {
  const perMinute = trend && steadyGrowthPerMinute(trend);
  return perMinute === undefined ? undefined : perMinute * 60;
};

interface Scoring {
  readonly disk: DiskUse;
  readonly atMs: number;
  readonly bytesPerHour: number | undefined;
  readonly freedBytes: number;
}

function scored(
  { predictions, errors }: Scores = { predictions: [], errors: [] },
  { disk: { usedBytes }, atMs, bytesPerHour, freedBytes }: Scoring,
): Scores {
  const isDue = (one: Prediction): boolean => atMs - one.atMs >= hourMs;
  // A removal changes what a forecast without one predicts.
  const judged = predictions.filter((one) => isDue(one) && one.freedBytes === freedBytes);
  const open = predictions.filter((one) => !isDue(one) && one.atMs <= atMs);
  const last = open.at(-1);
  const isNext = last === undefined || atMs - last.atMs >= predictEveryMs;
  return {
    predictions:
      isNext && bytesPerHour !== undefined ? [...open, { atMs, usedBytes, bytesPerHour, freedBytes }] : open,
    errors: [
      ...errors.filter((one) => Math.abs(atMs - one.atMs) <= scoresLastMs),
      ...judged.map((one) => ({ atMs, percent: errorPercent(one, { atMs, usedBytes }) })),
    ],
  };
}

/** In percent of the larger growth: 50 = one of them is twice the other. */
function errorPercent(one: Prediction, { atMs, usedBytes }: Pick<Prediction, 'atMs' | 'usedBytes'>): number {
  const predicted = (one.bytesPerHour * (atMs - one.atMs)) / hourMs;
  const grown = usedBytes - one.usedBytes;
  return Math.min(100, (100 * Math.abs(predicted - grown)) / Math.max(predicted, grown));
}

/** When a disk is full. */
export function forecastOf(
  disk: DiskUse,
  { trends, scores }: UsageHistory,
  measured: MeasuredUsage,
): DiskForecast {
  const bytesPerHour = perHour(trends.get(`${disk.name}/used`));
  const error = median(scores.get(disk.name)?.errors.map(({ percent }) => percent) ?? []);
  const fullSeconds = bytesPerHour === undefined ? Infinity : secondsUntil(disk.availableBytes, bytesPerHour);
  const isShown = fullSeconds <= horizonSeconds && (error === undefined || error <= maxErrorPercent);
  return {
    bytesPerHour,
    fullSeconds: isShown ? fullSeconds : undefined,
    fullAfterCollectionSeconds:
      isShown && bytesPerHour !== undefined ? afterCollection(disk, bytesPerHour, trends) : undefined,
    errorPercent: error,
    growers: bytesPerHour === undefined ? [] : growersOf(disk, trends, measured),
  };
}

const secondsUntil = (bytes: number, bytesPerHour: number): number => (3600 * bytes) / bytesPerHour;

/** New unused images are collected, too. */
function afterCollection(
  { name, availableBytes, collectableBytes }: DiskUse,
  bytesPerHour: number,
  trends: UsageHistory['trends'],
): number | undefined {
  if (collectableBytes === undefined) return undefined;
  const lasting = bytesPerHour - (perHour(trends.get(`${name}/images-unused`)) ?? 0);
  return lasting <= 0 ? Infinity : secondsUntil(availableBytes + collectableBytes, lasting);
}

/** Pods by their namespaces; what pods do not use, by its class. */
function growersOf(
  { name: disk, classes }: DiskUse,
  trends: UsageHistory['trends'],
  { namespaces }: MeasuredUsage,
): readonly Grower[] {
  const onDisk = podClasses.filter((one) => classes.has(one));
  const ofPods = namespaces.slice(0, maxNamespaces).flatMap(({ name }) =>
    onDisk.map((what) => ({
      what,
      namespace: name,
      bytesPerHour: perHour(trends.get(namespaceKey(name, what))) ?? 0,
    })),
  );
  const of = (one: UsageClass): number => perHour(trends.get(`${disk}/${one}`)) ?? 0;
  const others = [
    { what: 'images', namespace: undefined, bytesPerHour: of('images-in-use') + of('images-unused') },
    { what: 'orphans', namespace: undefined, bytesPerHour: of('orphans') },
    { what: 'other', namespace: undefined, bytesPerHour: of('other') },
  ] as const;
  return [...ofPods, ...others]
    .filter(({ bytesPerHour }) => bytesPerHour > 0)
    .toSorted((a, b) => b.bytesPerHour - a.bytesPerHour);
}

/** Growth of all pods of a namespace. */
export function namespaceGrowth(name: string, { trends }: UsageHistory): number | undefined {
  const grown = podClasses.map((one) => perHour(trends.get(namespaceKey(name, one))) ?? 0);
  const total = grown.reduce((all, one) => all + one, 0);
  return total > 0 ? total : undefined;
}

function median(numbers: readonly number[]): number | undefined {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
