import type { PodFacts } from '../../kube/cache/objects.ts';

/** The order in which pods are deleted: evicted first, then by creation (in seconds), name and namespace. As upstream's byEvictionAndCreationTimestamp; the namespace is ours. */
export const byDeletionOrder = (a: PodFacts, b: PodFacts): number =>
  Number(isEvicted(b)) - Number(isEvicted(a)) ||
  second(a) - second(b) ||
  byText(a.name, b.name) ||
  byText(a.namespace, b.namespace);

const isEvicted = (pod: PodFacts): boolean => pod.phase === 'Failed' && pod.reason === 'Evicted';

const second = (pod: PodFacts): number => Math.floor(pod.createdAtMs / 1000);

/** Compares by code unit, as the API server compares strings; not by language. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The finished pods that one threshold counts. */
interface Counts {
  /** 0 = off. */
  readonly threshold: number;
  readonly counted: number;
  /** Pods that cannot be deleted now; no threshold counts them. */
  readonly held: number;
  /** Pods that an earlier step of the rule deletes; this threshold does not count them. */
  readonly earlier: number;
}

/** The pods that one threshold applies to, in the order of deletion. Sorted when first needed: in most passes nothing is due. */
export class Line implements Counts {
  readonly threshold: number;
  readonly counted: number;
  readonly held: number;
  readonly earlier: number;
  readonly #pods: readonly PodFacts[];
  #sorted: readonly PodFacts[] | undefined;
  #places: ReadonlyMap<PodFacts, number> | undefined;

  /** `pods`: the pods that may be deleted; `counts` may include others. */
  constructor(pods: readonly PodFacts[], counts: Counts) {
    this.#pods = pods;
    this.threshold = counts.threshold;
    this.counted = counts.counted;
    this.held = counts.held;
    this.earlier = counts.earlier;
  }

  /** The pods that exceed the threshold, first in order; a threshold of 0 or less is off. */
  surplus(): readonly PodFacts[] {
    const count = this.threshold > 0 ? this.counted - this.threshold : 0;
    return count > 0 ? this.#inOrder().slice(0, count) : [];
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
