import type { PodFacts } from '../../kube/objects.ts';

/** The pods in the order they go: evicted first, then by creation, name, namespace (upstream.md 1.3; namespace is ours, for a stable order). */
export function inTurn(pods: readonly PodFacts[]): PodFacts[] {
  return firstInTurn(pods, pods.length);
}

/** The first `count` in that order. */
export function firstInTurn(pods: readonly PodFacts[], count: number): PodFacts[] {
  if (pods.length >= positions) return pods.toSorted(byTurn).slice(0, count);
  const keys = sortedKeys(pods);
  return settleTies(podsAt(keys, pods, count), keys).slice(0, count);
}

const isEvicted = (pod: PodFacts): boolean => pod.phase === 'Failed' && pod.reason === 'Evicted';

/** Beyond the largest creation time in seconds (2^33) by half: sets the not evicted behind the evicted. */
const notEvicted = 2 ** 33;
/** Room for the position of half a million pods below the key; both stay exact in a double (34 + 19 bits). */
const positions = 2 ** 19;

/**
 * One number a pod, its age and its position, in order: a comparison sort over strings takes most of the 100 ms that a plan of
 * 100 000 pods may take.
 */
function sortedKeys(pods: readonly PodFacts[]): Float64Array {
  const keys = new Float64Array(pods.length);
  pods.forEach((pod, at) => {
    keys[at] = ageKey(pod) * positions + at;
  });
  return keys.sort();
}

/** The pods of the first `count` keys, and all that tie with the last of them by age. None is left out, so that each stands where its key does. */
function podsAt(keys: Float64Array, pods: readonly PodFacts[], count: number): PodFacts[] {
  const end = keys.findIndex((key, i) => i >= count && !isTie(keys[i - 1], key));
  const first = end < 0 ? keys : keys.subarray(0, end);
  return Array.from(first, (key) => pods[key % positions]).filter((pod) => pod !== undefined);
}

/** Evicted first, then the oldest. */
const ageKey = (pod: PodFacts): number => second(pod) + (isEvicted(pod) ? 0 : notEvicted);

/** Puts each run of pods that only names can tell apart in order, in place. */
function settleTies(ranked: PodFacts[], keys: Float64Array): PodFacts[] {
  let start = 0;
  for (let end = 1; end <= ranked.length; end++) {
    if (end < ranked.length && isTie(keys[end - 1], keys[end])) continue;
    if (end - start > 1) {
      const tied = ranked.slice(start, end).sort(byTurn);
      for (const [i, pod] of tied.entries()) ranked[start + i] = pod;
    }
    start = end;
  }
  return ranked;
}

const second = (pod: PodFacts): number => Math.floor(pod.createdAtMs / 1000);
const isTie = (a = Infinity, b = Infinity): boolean =>
  Math.floor(a / positions) === Math.floor(b / positions);

export function byTurn(a: PodFacts, b: PodFacts): number {
  return (
    Number(isEvicted(b)) - Number(isEvicted(a)) ||
    second(a) - second(b) ||
    byText(a.name, b.name) ||
    byText(a.namespace, b.namespace)
  );
}

/** By code unit, as the API server's strings are compared; not by language. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
