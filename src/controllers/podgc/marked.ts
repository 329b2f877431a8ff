import type { FailedBefore } from '../../gc/failures.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { PodDeletion } from './facts.ts';

interface Seen {
  readonly pods: ReadonlyMap<string, PodFacts>;
  /** By UID. */
  readonly failedBefore: ReadonlyMap<string, FailedBefore>;
}

/** Remembers the pods that were marked as failed, or perhaps were, and are not deleted yet: a pod must not remain Failed on a node that has returned. */
export class MarkedPods {
  readonly #deletions = new Map<string, PodDeletion>();

  add(deletion: PodDeletion): void {
    this.#deletions.set(deletion.target.uid, deletion);
  }

  remove({ target }: PodDeletion): void {
    this.#deletions.delete(target.uid);
  }

  /** The deletions that must be completed now. Forgets pods that no longer exist, and those that another change shows were never marked. */
  due({ pods, failedBefore }: Seen): readonly PodDeletion[] {
    const due: PodDeletion[] = [];
    for (const [uid, deletion] of this.#deletions) {
      const pod = pods.get(uid);
      if (pod?.phase === 'Failed') {
        if ((failedBefore.get(uid)?.retryInMs ?? 0) <= 0) due.push(deletion);
      } else if (pod?.resourceVersion !== deletion.target.pod.resourceVersion) this.#deletions.delete(uid);
    }
    return due;
  }
}
