import {
  exceeds,
  fullness,
  type LimitReading,
  type StoragePod,
  type StorageWarning,
} from '../../api/local-storage.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { LimitWarning, LocalStoragePlan, PodReading } from './facts.ts';
import { growthPerMinute, observeTrend, windowMs, type Trend } from './growth.ts';

/** What is remembered of one limit of one pod. */
interface LimitHistory {
  readonly podUid: string;
  readonly trend: Trend;
  /** Since when each level of warnAtPercent is exceeded. */
  readonly exceededSince: ReadonlyMap<number, number>;
}

/** By pod, signal and subject; of limits alone that are worth watching, and never of more than `maxWatched`. */
export type StorageHistory = ReadonlyMap<string, LimitHistory>;

interface Observed {
  readonly history: StorageHistory;
  /** All that are active, nearest to its limit first. */
  readonly warnings: readonly StorageWarning[];
  /** Those of them whose level is a new one. */
  readonly raised: readonly StorageWarning[];
}

/** What one look has to say. */
interface Look {
  readonly plan: Pick<LocalStoragePlan, 'readings' | 'warnings'>;
  readonly pods: readonly StoragePod[];
  readonly policy: LocalStoragePolicy;
  readonly now: Date;
}

/** A limit is watched from this part of the lowest level on, so that its growth is known when the level is reached. */
const watchedPart = 0.5;
const maxWatched = 1024;

/** Folds one look at all pods into the memory: pods that are gone are forgotten, a level is told once and again after usage fell below it. */
export function observeStorage(before: StorageHistory, look: Look): Observed {
  const history = new Map([...absent(before, look), ...watched(before, look)]);
  const warnings = look.plan.warnings
    .map((warning) =>
      withHistory(warning, history.get(key(warning.target.uid, warning.evidence.excess)), look),
    )
    .toSorted(byFullness);
  const isNew = ({ pod, excess, percent }: StorageWarning): boolean => {
    const name = key(pod.uid, excess);
    // What cannot be remembered would be told again in every pass.
    return history.has(name) && before.get(name)?.exceededSince.has(percent) !== true;
  };
  return { history, warnings, raised: warnings.filter(isNew) };
}

function watched(before: StorageHistory, look: Look): (readonly [string, LimitHistory])[] {
  const [lowest] = look.policy.warnAtPercent;
  if (lowest === undefined) return [];
  return look.plan.readings
    .filter(({ reading }) => exceeds(reading.usedBytes, reading.limit.bytes, lowest * watchedPart))
    .toSorted((a, b) => descending(fill(a.reading), fill(b.reading)))
    .slice(0, maxWatched)
    .map((one) => [keyOf(one), observed(before.get(keyOf(one)), one, look)]);
}

function observed(
  before: LimitHistory | undefined,
  { pod, reading }: PodReading,
  { policy, now }: Look,
): LimitHistory {
  const nowMs = now.getTime();
  const { usedBytes, limit, measuredAtMs } = reading;
  return {
    podUid: pod.uid,
    trend: observeTrend(before?.trend, { atMs: measuredAtMs, bytes: usedBytes }),
    exceededSince: new Map(
      policy.warnAtPercent
        .filter((level) => exceeds(usedBytes, limit.bytes, level))
        .map((level) => [level, before?.exceededSince.get(level) ?? nowMs]),
    ),
  };
}

/** What this look says nothing about is not forgotten at once: a figure may be missing once. */
function absent(before: StorageHistory, { plan, pods, now }: Look): (readonly [string, LimitHistory])[] {
  const read = new Set(plan.readings.map(keyOf));
  const here = new Set(pods.map(({ uid }) => uid));
  return [...before].filter(
    ([name, { podUid, trend }]) =>
      !read.has(name) && here.has(podUid) && now.getTime() - trend.latest.atMs <= windowMs,
  );
}

function withHistory(
  { target: { namespace, name, uid }, evidence: { excess: reading, percent } }: LimitWarning,
  known: LimitHistory | undefined,
  { policy, now }: Look,
): StorageWarning {
  const { signal, subject, usedBytes, limit, isDefault } = reading;
  const growthBytesPerMinute = known && growthPerMinute(known.trend);
  return {
    pod: { namespace, name, uid },
    excess: { signal, subject, usedBytes, limit, isDefault },
    percent,
    growthBytesPerMinute,
    secondsLeft: secondsLeft(reading, growthBytesPerMinute, policy.evictAtPercent),
    sinceMs: known?.exceededSince.get(percent) ?? now.getTime(),
  };
}

/** Until the pod exceeds what the policy evicts at; 0 = it does. */
function secondsLeft(
  { usedBytes, limit }: LimitReading,
  growth: number | undefined,
  evictAtPercent: number,
): number | undefined {
  if (exceeds(usedBytes, limit.bytes, evictAtPercent)) return 0;
  if (growth === undefined) return undefined;
  return Math.round((((limit.bytes * evictAtPercent) / 100 - usedBytes) / growth) * 60);
}

const keyOf = ({ pod, reading }: PodReading): string => key(pod.uid, reading);

const key = (podUid: string, { signal, subject = '' }: Pick<LimitReading, 'signal' | 'subject'>): string =>
  `${podUid}/${signal}/${subject}`;

const fill = ({ usedBytes, limit }: Pick<LimitReading, 'usedBytes' | 'limit'>): number =>
  fullness(usedBytes, limit.bytes);
const byFullness = (a: StorageWarning, b: StorageWarning): number =>
  descending(fill(a.excess), fill(b.excess));
/** Infinity less itself is no number. */
const descending = (a: number, b: number): number => (a === b ? 0 : b - a);
