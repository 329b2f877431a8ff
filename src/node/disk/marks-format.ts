import { isObject } from '../../api/json.ts';
import type { StateFormat } from './state-format.ts';

/** The highest bytes of a day that no later day has reached. */
export interface Peak {
  /** Whole days of watching before it. */
  readonly day: number;
  readonly bytes: number;
  /** The pod that used them; undefined = not recorded. */
  readonly pod?: string | undefined;
}

/** Oldest first, so the first is the highest. */
export type Peaks = readonly Peak[];

/** What a workload declares that a limit of local storage may have. */
export interface PartMarks {
  readonly kind: 'container' | 'sidecar' | 'volume';
  readonly name: string;
  /** Bytes; undefined = none. */
  readonly limit: number | undefined;
  /** Bytes; undefined = none. */
  readonly request: number | undefined;
  /** Of one pod: the writable layer and the logs together, or the files of the volume. Empty = never measured. */
  readonly peaks: Peaks;
}

export interface WorkloadMarks {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** `observedMs` when the last of its parts was measured first. */
  readonly sinceMs: number;
  /** Bytes, of a pod as a whole; undefined = none. */
  readonly limit: number | undefined;
  readonly request: number | undefined;
  /** Of one pod as a whole. */
  readonly peaks: Peaks;
  /** Those of its present pods, or of the last ones. */
  readonly parts: readonly PartMarks[];
  /** Number of parts beyond these. */
  readonly otherParts: number;
}

/** High-water marks of a node. Without wall clock: days are days of watching, so no clock can be wrong. */
export interface Marks {
  /** For how long the usage was measured since the first measurement. */
  readonly observedMs: number;
  readonly workloads: readonly WorkloadMarks[];
  /** Of pods whose workloads had no room. */
  readonly dropped: Peaks;
}

const version = 1;

/** Any deviation from the format means starting over: then the marks say how long they have watched. */
export const marksFormat: StateFormat<Marks> = {
  parse: (text) => {
    try {
      return { kind: 'read', state: readMarks(JSON.parse(text)) };
    } catch (err) {
      return { kind: 'startOver', reason: err instanceof Error ? err.message : String(err) };
    }
  },
  format: ({ observedMs, workloads, dropped }) =>
    `${JSON.stringify({
      version,
      observedMs,
      workloads: workloads.map(({ peaks, parts, ...one }) => ({
        ...one,
        peaks: peaks.map(rowOf),
        parts: parts.map((part) => ({ ...part, peaks: part.peaks.map(rowOf) })),
      })),
      dropped: dropped.map(rowOf),
    })}\n`,
};

const rowOf = ({ day, bytes, pod }: Peak): readonly (number | string)[] =>
  pod === undefined ? [day, bytes] : [day, bytes, pod];

function readMarks(json: unknown): Marks {
  const raw = objectAt(json, 'file');
  if (raw['version'] !== version) throw new Error(`version: this dustpan reads ${version}`);
  return {
    observedMs: numberAt(raw['observedMs'], 'observedMs'),
    workloads: listAt(raw['workloads'], 'workloads').map(readWorkload),
    dropped: readPeaks(raw['dropped'], 'dropped'),
  };
}

function readWorkload(json: unknown, i: number): WorkloadMarks {
  const path = `workloads[${i}]`;
  const raw = objectAt(json, path);
  return {
    namespace: textAt(raw['namespace'], `${path}.namespace`),
    kind: textAt(raw['kind'], `${path}.kind`),
    name: textAt(raw['name'], `${path}.name`),
    sinceMs: numberAt(raw['sinceMs'], `${path}.sinceMs`),
    ...readSizes(raw, path),
    parts: listAt(raw['parts'], `${path}.parts`).map((part, j) => readPart(part, `${path}.parts[${j}]`)),
    otherParts: numberAt(raw['otherParts'], `${path}.otherParts`),
  };
}

function readPart(json: unknown, path: string): PartMarks {
  const raw = objectAt(json, path);
  const { kind } = raw;
  if (kind !== 'container' && kind !== 'sidecar' && kind !== 'volume')
    throw new Error(`${path}.kind: must be container, sidecar or volume`);
  return { kind, name: textAt(raw['name'], `${path}.name`), ...readSizes(raw, path) };
}

const readSizes = (raw: Raw, path: string) => ({
  limit: optionalAt(raw['limit'], `${path}.limit`),
  request: optionalAt(raw['request'], `${path}.request`),
  peaks: readPeaks(raw['peaks'], `${path}.peaks`),
});

const readPeaks = (json: unknown, path: string): Peaks =>
  listAt(json, path).map((one) => {
    const [day, bytes, pod] = listAt(one, path);
    const peak = { day: numberAt(day, path), bytes: numberAt(bytes, path) };
    return pod === undefined ? peak : { ...peak, pod: textAt(pod, path) };
  });

type Raw = Readonly<Record<string, unknown>>;

function objectAt(json: unknown, path: string): Raw {
  if (!isObject(json)) throw new Error(`${path}: must be an object`);
  return json;
}

function listAt(json: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(json)) throw new Error(`${path}: must be a list`);
  return json;
}

function textAt(json: unknown, path: string): string {
  if (typeof json !== 'string') throw new Error(`${path}: must be a text`);
  return json;
}

function numberAt(json: unknown, path: string): number {
  if (!Number.isSafeInteger(json) || Number(json) < 0) throw new Error(`${path}: must be a whole number`);
  return Number(json);
}

/** A quantity: `1Ei`, as no limit, is larger than the numbers of which JSON keeps each digit. */
function optionalAt(json: unknown, path: string): number | undefined {
  if (json === undefined) return undefined;
  if (!Number.isInteger(json) || Number(json) < 0) throw new Error(`${path}: must be a whole number`);
  return Number(json);
}
