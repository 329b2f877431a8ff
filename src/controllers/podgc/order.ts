import type { PodFacts } from '../../kube/cache/objects.ts';
import { byText } from '../../runtime/text/by-text.ts';

/** The order in which pods are deleted: evicted first, then by creation (in seconds), name and namespace. As upstream's byEvictionAndCreationTimestamp; the namespace is ours. */
export const byDeletionOrder = (a: PodFacts, b: PodFacts): number =>
  Number(isEvicted(b)) - Number(isEvicted(a)) ||
  second(a) - second(b) ||
  byText(a.name, b.name) ||
  byText(a.namespace, b.namespace);

const isEvicted = (pod: PodFacts): boolean => pod.phase === 'Failed' && pod.reason === 'Evicted';

/** Of two pods the first in order never has the higher one. */
const rank = (pod: PodFacts): number => (isEvicted(pod) ? -Infinity : second(pod));

const second = (pod: PodFacts): number => Math.floor(pod.createdAtMs / 1000);

/** What is decided about finished pods before a threshold counts them. */
export interface DecidedBefore {
  /** Pods that cannot be deleted now; no threshold counts them. */
  readonly kept: SomePods;
  /** Pods that an earlier step of the rule deletes; the threshold does not count them. */
  readonly due: SomePods;
  /** Pods that the threshold counts and must not delete. */
  readonly isSpared?: (pod: PodFacts) => boolean;
}

type SomePods = Pick<ReadonlySet<PodFacts>, 'has' | 'size'>;

/** The finished pods that one threshold counts, in the order of deletion. Sorted when first needed: in most passes nothing is due. */
export class DeletionQueue {
  /** 0 or less = off. */
  readonly threshold: number;
  readonly counted: number;
  /** Number of `DecidedBefore.kept` among the pods. */
  readonly undeletable: number;
  /** Number of `DecidedBefore.due` among them. */
  readonly earlier: number;
  readonly #pods: readonly PodFacts[];
  #sorted: readonly PodFacts[] | undefined;
  #places: ReadonlyMap<PodFacts, number> | undefined;

  constructor(pods: readonly PodFacts[], threshold: number, before: DecidedBefore) {
    const deletable = without(pods, before.kept);
    const left = without(deletable, before.due);
    this.threshold = threshold;
    this.counted = left.length;
    this.undeletable = pods.length - deletable.length;
    this.earlier = deletable.length - left.length;
    const { isSpared } = before;
    this.#pods = isSpared === undefined ? left : left.filter((pod) => !isSpared(pod));
  }

  /** The pods that exceed the threshold, first in order. */
  surplus(): readonly PodFacts[] {
    const count = this.threshold > 0 ? Math.min(this.counted - this.threshold, this.#pods.length) : 0;
    if (count <= 0) return [];
    // Numbers are sorted in a tenth of the time of pods, and mostly few of 100 000 pods are surplus: only these are sorted.
    const ranks = new Float64Array(this.#pods.length);
    for (const [i, pod] of this.#pods.entries()) ranks[i] = rank(pod);
    const last = Number(ranks.sort()[count - 1]);
    return this.#pods
      .filter((pod) => rank(pod) <= last)
      .sort(byDeletionOrder)
      .slice(0, count);
  }

  /** Place from 1; 0 = no threshold counts the pod. */
  placeOf(pod: PodFacts): number {
    this.#places ??= new Map(this.#inOrder().map((one, i) => [one, i + 1]));
    return this.#places.get(pod) ?? 0;
  }

  #inOrder(): readonly PodFacts[] {
    return (this.#sorted ??= this.#pods.toSorted(byDeletionOrder));
  }
}

/** No copy where nothing is taken out: there may be 100 000 pods. */
const without = (pods: readonly PodFacts[], taken: SomePods): readonly PodFacts[] =>
  taken.size === 0 ? pods : pods.filter((pod) => !taken.has(pod));
