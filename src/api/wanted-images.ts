import { isObject } from './json.ts';

type Labels = Readonly<Record<string, string>>;

/** An image that a workload needs although none of its pods may run now. */
export interface WantedImage {
  /** As in the pod template. */
  readonly image: string;
  /** One of the workloads, such as `CronJob batch/report`. */
  readonly workload: string;
  /** The labels of the nodes on which its pods can run; empty = of all. */
  readonly nodeSelector: Labels;
}

/** The images of the whole cluster, as the controller has listed them. */
export interface WantedList {
  readonly listedAtMs: number;
  readonly images: readonly WantedImage[];
  /** How many others the limits of the list leave out. */
  readonly omitted: number;
}

/** The list, or why it is not known, without a full stop. */
export type WantedReading = WantedList | string;

/** The images that workloads want on one node. */
export interface WantedImages {
  readonly images: readonly WantedImage[];
  /** Those that only nodes with other labels want. */
  readonly elsewhere: readonly WantedImage[];
  /** Why other images may be wanted too, without a full stop; undefined = none is. */
  readonly unknownBecause: string | undefined;
  /** No list was read yet, and for so long one may still come: until then each image may be wanted. undefined = none is awaited. */
  readonly awaitedForMs?: number | undefined;
}

/** The roles of the chart name it: a ConfigMap in the namespace of the controller and the agents. */
export const wantedConfigMap = 'dustpan-wanted-images';

/** The controller renews the list before it has this age, also if it has not changed. */
export const renewedAfterMs = 15 * 60_000;
/** Longer than two renewals, so that a restart of the controller and clocks that differ do no harm. */
const maxAgeMs = 3 * renewedAfterMs;

/** What the list means for a node. `labels` undefined = not known: then every image counts. */
export function wantedOn(reading: WantedReading, labels: Labels | undefined, now: Date): WantedImages {
  if (typeof reading === 'string') return { images: [], elsewhere: [], unknownBecause: reading };
  const { images, omitted, listedAtMs } = reading;
  const mayRun = runsOn(labels);
  const isStale = Math.abs(now.getTime() - listedAtMs) > maxAgeMs;
  const incomplete = omitted > 0 ? `the list has no room for ${omitted} more` : undefined;
  return {
    images: images.filter(mayRun),
    elsewhere: images.filter((one) => !mayRun(one)),
    unknownBecause: isStale
      ? 'their list is not of the last 45 minutes: the controller renews it every 15 minutes'
      : incomplete,
  };
}

const runsOn =
  (labels: Labels | undefined) =>
  ({ nodeSelector }: WantedImage): boolean =>
    labels === undefined || Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);

/** Whether a node with these labels wants no image besides these; other labels of a node change often, and mean nothing. */
export const hasAllFor = (labels: Labels | undefined, wanted: WantedImages | undefined): boolean =>
  wanted !== undefined && !wanted.elsewhere.some(runsOn(labels));

export const formatWantedList = (list: WantedList): string => JSON.stringify(list, undefined, 1);

/** undefined = the text is no list that this version can read. */
export const parseWantedList = (text: string): WantedList | undefined => wantedListOf(objectIn(text));

/** undefined = the object is no list that this version can read. */
export function wantedListOf({
  listedAtMs,
  images,
  omitted,
}: Readonly<Record<string, unknown>>): WantedList | undefined {
  const isList = Number.isSafeInteger(listedAtMs) && Number.isSafeInteger(omitted) && Array.isArray(images);
  return isList && images.every(isWantedImage)
    ? { listedAtMs: Number(listedAtMs), images, omitted: Number(omitted) }
    : undefined;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

const isWantedImage = (value: unknown): value is WantedImage =>
  isObject(value) &&
  typeof value['image'] === 'string' &&
  typeof value['workload'] === 'string' &&
  isObject(value['nodeSelector']) &&
  Object.values(value['nodeSelector']).every((one) => typeof one === 'string');
