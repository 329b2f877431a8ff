import { exceeds, exceedsLimit, type LimitUsage, type StoragePod } from '../../api/local-storage.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { LimitWarning, LocalStoragePlan, PodReading, StorageWarning } from './facts.ts';
import { growthPerMinute, observeTrend, secondsUntil, windowMs, type Trend } from '../growth.ts';
import { byFullness } from './limits.ts';
import { identityOf } from './pods.ts';

interface LimitHistory {
  readonly podUid: string;
  readonly trend: Trend;
  /** When each level of warnAtPercent was first seen exceeded. */
  readonly exceededSince: ReadonlyMap<number, number>;
}

/** Keyed by pod, signal and subject; only watched limits, at most `maxWatched`. */
export type StorageHistory = ReadonlyMap<string, LimitHistory>;

interface Observed {
  readonly history: StorageHistory;
  /** All active warnings, nearest to its limit first. */
  readonly warnings: readonly StorageWarning[];
  readonly raised: readonly StorageWarning[];
}

interface Pass {
  readonly plan: Pick<LocalStoragePlan, 'readings' | 'warnings'>;
  readonly pods: readonly StoragePod[];
  readonly policy: LocalStoragePolicy;
  readonly now: Date;
}

/** Part of the lowest level from which a limit is watched, so that its growth is known when the level is reached. */
const watchedPart = 0.5;
const maxWatched = 1024;

/** Updates the history with one pass: forgets deleted pods, raises each level once, and again after usage fell below it. */
export function observeStorage(before: StorageHistory, pass: Pass): Observed {
  const history = new Map([...unmeasured(before, pass), ...watched(before, pass)]);
  const warnings = pass.plan.warnings
    .map((warning) => withHistory(warning, history.get(key(warning.target.uid, warning.target.excess)), pass))
    .toSorted((a, b) => byFullness(a.excess, b.excess));
  const isNew = ({ pod, excess, percent }: StorageWarning): boolean => {
    const name = key(pod.uid, excess);
    // A warning that cannot be remembered would be raised again in every pass.
    return history.has(name) && before.get(name)?.exceededSince.has(percent) !== true;
  };
  return { history, warnings, raised: warnings.filter(isNew) };
}

function watched(before: StorageHistory, pass: Pass): (readonly [string, LimitHistory])[] {
  const [lowest] = pass.policy.warnAtPercent;
  if (lowest === undefined) return [];
  return pass.plan.readings
    .filter(({ reading }) => exceeds(reading.usedBytes, reading.limit.bytes, lowest * watchedPart))
    .toSorted((a, b) => byFullness(a.reading, b.reading))
    .slice(0, maxWatched)
    .map((one) => [keyOf(one), observed(before.get(keyOf(one)), one, pass)]);
}

function observed(
  before: LimitHistory | undefined,
  { pod, reading }: PodReading,
  { policy, now }: Pass,
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

/** Limits that this pass has no measurement of: one missing measurement does not erase the history. */
function unmeasured(before: StorageHistory, { plan, pods, now }: Pass): (readonly [string, LimitHistory])[] {
  const read = new Set(plan.readings.map(keyOf));
  const bound = new Set(pods.map(({ uid }) => uid));
  return [...before].filter(
    ([name, { podUid, trend }]) =>
      !read.has(name) && bound.has(podUid) && now.getTime() - trend.latest.atMs <= windowMs,
  );
}

function withHistory(
  { target }: LimitWarning,
  known: LimitHistory | undefined,
  { now }: Pass,
): StorageWarning {
  const { excess: reading, percent } = target;
  const { signal, subject, usedBytes, limit, isDefault, evictAtPercent } = reading;
  const growthBytesPerMinute = known && growthPerMinute(known.trend);
  return {
    pod: identityOf(target),
    excess: { signal, subject, usedBytes, limit, isDefault, evictAtPercent },
    percent,
    growthBytesPerMinute,
    secondsLeft: secondsLeft(reading, growthBytesPerMinute),
    sinceMs: known?.exceededSince.get(percent) ?? now.getTime(),
  };
}

/** Time until the pod exceeds the usage at which the policy evicts; 0 = it does already. */
function secondsLeft(reading: LimitUsage, growth: number | undefined): number | undefined {
  if (exceedsLimit(reading)) return 0;
  const { usedBytes, limit, evictAtPercent = 100 } = reading;
  return secondsUntil((limit.bytes * evictAtPercent) / 100 - usedBytes, growth);
}

const keyOf = ({ pod, reading }: PodReading): string => key(pod.uid, reading);

const key = (podUid: string, { signal, subject = '' }: Pick<LimitUsage, 'signal' | 'subject'>): string =>
  `${podUid}/${signal}/${subject}`;
