import { podRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import { secondsText, usageClause } from './words.ts';
import type { StorageWarning } from './facts.ts';

interface Consequence {
  /** The UID of the pod on its node: of a static pod the one that its mirror names, because kubectl describe searches Events by it. */
  readonly uid: string;
  /** Only in mode Enforce, and never a critical pod, nor below the limit one whose owner refuses. */
  readonly evicts: boolean;
}

/** Warning on the pod, once for each limit and level: usage, growth, and the time left. */
export function localStorageHigh(warning: StorageWarning, consequence: Consequence): EventSpec {
  const { pod, excess, percent } = warning;
  return {
    regarding: podRef({ ...pod, uid: consequence.uid }),
    type: 'Warning',
    reason: 'LocalStorageHigh',
    action: 'WatchLocalStorage',
    note: `${usageClause(excess)}. ${prospect(warning, consequence)}.`,
    // Each limit and level is a warning of its own.
    occasion: `${excess.signal}/${excess.subject ?? ''}/${percent}`,
  };
}

function prospect(
  { excess: { evictAtPercent = 100 }, growthBytesPerMinute, secondsLeft }: StorageWarning,
  { evicts }: Consequence,
): string {
  const limit = evictAtPercent === 100 ? 'the limit' : `${evictAtPercent} % of the limit`;
  if (secondsLeft === 0)
    return evicts ? `It exceeds ${limit}, so the agent requests its eviction` : `It exceeds ${limit}`;
  if (growthBytesPerMinute === undefined || secondsLeft === undefined)
    return evicts
      ? `No growth observed so far; the agent requests its eviction when it exceeds ${limit}`
      : 'No growth observed so far';
  const then = evicts ? `exceeds ${limit} and the agent requests its eviction` : `exceeds ${limit}`;
  return `It grows by ${sizeText(growthBytesPerMinute)} a minute: about ${secondsText(secondsLeft)} are left until it ${then}`;
}
