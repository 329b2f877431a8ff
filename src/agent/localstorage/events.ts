import type { StorageWarning } from '../../api/local-storage.ts';
import { usageClause } from '../../gc/reasons/storage-words.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sizeText } from '../../runtime/text/size-text.ts';

/** What exceeding a limit has for a consequence. */
interface Consequence {
  readonly evictAtPercent: number;
  /** Only in mode Enforce, and never a critical pod. */
  readonly evicts: boolean;
}

/** On the pod, once for each limit and level: how much is used, how fast that grows, and how long that goes on. */
export function localStorageHigh(warning: StorageWarning, consequence: Consequence): EventSpec {
  const { pod, excess, percent } = warning;
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', ...pod },
    type: 'Warning',
    reason: 'LocalStorageHigh',
    action: 'WatchLocalStorage',
    note: `${usageClause(excess)}. ${prospect(warning, consequence)}.`,
    // A higher level, or another limit, has its own figures to tell.
    occasion: `${excess.signal}/${excess.subject ?? ''}/${percent}`,
  };
}

function prospect(
  { growthBytesPerMinute, secondsLeft }: StorageWarning,
  { evictAtPercent, evicts }: Consequence,
): string {
  const limit = evictAtPercent === 100 ? 'the limit' : `${evictAtPercent} % of the limit`;
  if (secondsLeft === 0)
    return evicts ? `It exceeds ${limit}: its eviction is asked for` : `It exceeds ${limit}`;
  if (growthBytesPerMinute === undefined || secondsLeft === undefined)
    return evicts
      ? `No growth is seen so far; its eviction is asked for when it exceeds ${limit}`
      : 'No growth is seen so far';
  const then = evicts ? `exceeds ${limit}, and its eviction is asked for` : `exceeds ${limit}`;
  const left = formatDuration(rounded(secondsLeft) * 1000);
  return `It grows by ${sizeText(growthBytesPerMinute)} a minute: about ${left} are left until it ${then}`;
}

const minute = 60;
const hour = 60 * minute;

/** No more digits than an estimate is worth. */
function rounded(seconds: number): number {
  const step = seconds < 2 * minute ? 10 : seconds < 2 * hour ? minute : hour;
  return Math.max(step, Math.round(seconds / step) * step);
}
