import { sum } from '../../runtime/sum.ts';
import { observeTrend, steadyGrowthPerMinute, windowMs, type Trend } from '../growth.ts';
import { keyOf } from './marks.ts';
import {
  podClasses,
  type DiskUse,
  type MeasuredUsage,
  type PodClass,
  type UsageClass,
  type VolumeUse,
} from './facts.ts';

export const maxNamespaces = 64;
/** Workloads whose growth is known. */
const maxGrowing = 64;
/** Volumes whose growth is known: more than the pods of a node of usual size have. */
const maxGrowingVolumes = 256;

export interface UsageHistory {
  /** Keyed by disk and what is measured, by namespace and class, by workload, or by volume. */
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

export interface Grower {
  readonly what: Exclude<UsageClass, 'imagesInUseBytes' | 'imagesUnusedBytes' | 'packedBytes'> | 'images';
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
/** Growth of 15 minutes predicts no later time: a busy node always grows a little. */
const horizonSeconds = 7 * 86_400;
/** A forecast that was wrong by more is not shown. */
const maxErrorPercent = 50;

/** Adds a measurement; what is unknown in it keeps its history for a while. Compares the forecasts of an hour ago with it. */
export function observeUsage(
  before: UsageHistory,
  measured: MeasuredUsage,
  freedBytes: number,
): UsageHistory {
  const atMs = measured.at.getTime();
  const sizes = [
    ...measured.disks.flatMap(sizesOf),
    ...measured.namespaces
      .slice(0, maxNamespaces)
      // The first measurement of a part is no growth.
      .flatMap(({ name, classes, partial }) =>
        podClasses
          .filter((one) => !partial.has(one))
          .map((one) => [namespaceKey(name, one), classes[one]] as const),
      ),
    ...measured.workloads
      .slice(0, maxGrowing)
      .flatMap((one) => (one.isPartial ? [] : [[workloadKey(one), one.bytes] as const])),
    ...(measured.volumes ?? [])
      .slice(0, maxGrowingVolumes)
      .map((one) => [volumeKey(one), one.usedBytes] as const),
  ];
  const trends = new Map([...before.trends].filter(([, { latest }]) => atMs - latest.atMs <= windowMs));
  for (const [key, bytes] of sizes) trends.set(key, observeTrend(before.trends.get(key), { atMs, bytes }));
  const scores = new Map(before.scores);
  for (const disk of measured.disks) {
    const bytesPerHour = perHour(trends.get(`${disk.name}/used`));
    scores.set(disk.name, scored(before.scores.get(disk.name), { disk, atMs, bytesPerHour, freedBytes }));
  }
  return { trends, scores };
}

/** Sizes of a disk, by their keys. Images count together: at the end of a pod they only become unused. */
function sizesOf({
  name,
  usedBytes,
  classes,
  collectableBytes,
}: DiskUse): readonly (readonly [string, number])[] {
  const { imagesInUseBytes: inUse, imagesUnusedBytes: unused, packedBytes = 0 } = classes;
  const known = [
    ['used', usedBytes],
    ['collectable', collectableBytes],
    ['images', inUse === undefined || unused === undefined ? undefined : inUse + unused + packedBytes],
    ...otherClasses.map((one) => [one, classes[one]] as const),
  ] as const;
  return known.flatMap(([what, bytes]) => (bytes === undefined ? [] : [[`${name}/${what}`, bytes] as const]));
}

/** Those of no pod and no image. */
const otherClasses = [
  'checkpointsBytes',
  'orphansBytes',
  'leftoversBytes',
  'namespacesBytes',
  'otherBytes',
] as const;

const namespaceKey = (name: string, one: PodClass): string => `namespace/${name}/${one}`;

const workloadKey = (one: Parameters<typeof keyOf>[0]): string => `workload/${keyOf(one)}`;

export const workloadGrowth = (
  one: Parameters<typeof keyOf>[0],
  { trends }: UsageHistory,
): number | undefined => perHour(trends.get(workloadKey(one)));

const volumeKey = ({ kind, namespace, pod, name }: VolumeUse): string =>
  `${kind}/${namespace}/${kind === 'pvc' ? '' : pod}/${name}`;

export function volumeForecast(
  volume: VolumeUse,
  { trends }: UsageHistory,
): Pick<DiskForecast, 'bytesPerHour' | 'fullSeconds'> {
  const bytesPerHour = perHour(trends.get(volumeKey(volume)));
  const { availableBytes = Infinity } = volume;
  const seconds = bytesPerHour === undefined ? Infinity : secondsUntil(availableBytes, bytesPerHour);
  return { bytesPerHour, fullSeconds: seconds <= horizonSeconds ? seconds : undefined };
}

const perHour = (trend: Trend | undefined): number | undefined => {
  const perMinute = trend && steadyGrowthPerMinute(trend);
  return perMinute === undefined ? undefined : perMinute * 60;
};

/** 0 = unknown, or it does not grow. */
const growthOf = (trends: UsageHistory['trends'], key: string): number => perHour(trends.get(key)) ?? 0;

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

/** New images that nothing uses are collected, too. */
function afterCollection(
  { name, availableBytes, collectableBytes }: DiskUse,
  bytesPerHour: number,
  trends: UsageHistory['trends'],
): number | undefined {
  if (collectableBytes === undefined) return undefined;
  const collected = Math.min(growthOf(trends, `${name}/images`), growthOf(trends, `${name}/collectable`));
  const lasting = bytesPerHour - collected;
  return lasting <= 0 ? Infinity : secondsUntil(availableBytes + collectableBytes, lasting);
}

/** Pods by their namespaces; what pods do not use, by its class. */
function growersOf(
  { name: disk, classes }: DiskUse,
  trends: UsageHistory['trends'],
  { namespaces }: MeasuredUsage,
): readonly Grower[] {
  const onDisk = podClasses.filter((field) => classes[field] !== undefined);
  const ofPods = namespaces.slice(0, maxNamespaces).flatMap(({ name }) =>
    onDisk.map((what) => ({
      what,
      namespace: name,
      bytesPerHour: growthOf(trends, namespaceKey(name, what)),
    })),
  );
  const others = (['images', ...otherClasses] as const).map((what) => ({
    what,
    namespace: undefined,
    bytesPerHour: growthOf(trends, `${disk}/${what}`),
  }));
  return [...ofPods, ...others]
    .filter(({ bytesPerHour }) => bytesPerHour > 0)
    .toSorted((a, b) => b.bytesPerHour - a.bytesPerHour);
}

export function namespaceGrowth(name: string, { trends }: UsageHistory): number | undefined {
  const total = sum(podClasses.map((one) => growthOf(trends, namespaceKey(name, one))));
  return total > 0 ? total : undefined;
}

function median(numbers: readonly number[]): number | undefined {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
