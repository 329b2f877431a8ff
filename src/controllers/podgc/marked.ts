import type { FailedBefore } from '../../gc/failures.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { PodDeletion } from './facts.ts';

interface Seen {
  readonly pods: ReadonlyMap<string, PodFacts>;
  /** By UID. */
  readonly failedBefore: ReadonlyMap<string, FailedBefore>;
}

interface Mark {
  readonly deletion: PodDeletion;
  /** The API server has confirmed the mark. */
  readonly isSure: boolean;
}

/** Remembers the pods that were marked as failed, or perhaps were, and are not deleted yet: a pod must not remain Failed on a node that has returned. */
export class MarkedPods {
  readonly #marks = new Map<string, Mark>();

  add(mark: Mark): void {
    this.#marks.set(mark.deletion.target.uid, mark);
  }

  remove({ target }: PodDeletion): void {
    this.#marks.delete(target.uid);
  }

  /**
   * The deletions that must be completed now. Forgets pods that no longer exist, and those that another change shows were never marked. A pod that
   * perhaps was may have failed by itself: only our condition proves the mark.
   */
  due({ pods, failedBefore }: Seen): readonly PodDeletion[] {
    const due: PodDeletion[] = [];
    for (const [uid, { deletion, isSure }] of this.#marks) {
      const pod = pods.get(uid);
      if (pod?.phase === 'Failed' && (isSure || pod.markedByPodGc)) {
        if ((failedBefore.get(uid)?.retryInMs ?? 0) <= 0) due.push(deletion);
      } else if (pod?.resourceVersion !== deletion.target.pod.resourceVersion) this.#marks.delete(uid);
    }
    return due;
  }
}
