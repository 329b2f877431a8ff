import type { NodeFacts, PodFacts } from './objects.ts';

/** The acts on the cluster that the units do, each one request, each with its precondition. */
export interface ClusterActions {
  /** Live, never from a cache; undefined when the API server says NotFound. */
  getNode(name: string, signal: AbortSignal): Promise<NodeFacts | undefined>;
  /**
   * DELETE with grace period 0 and the preconditions uid and resourceVersion.
   * `gone`: NotFound. `changed`: 409, the pod is not the one that was decided about any more.
   */
  deletePod(pod: PodRef, signal: AbortSignal): Promise<'deleted' | 'gone' | 'changed'>;
  /**
   * Patches status.phase to Failed with metadata.uid (and resourceVersion) in the patch; with `condition`, a DisruptionTarget condition too.
   * Resolves with the new resourceVersion, or why there was nothing to patch.
   */
  markPodFailed(
    pod: PodRef,
    condition: DisruptionTarget | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly resourceVersion: string } | 'gone' | 'changed'>;
}

export type PodRef = Pick<PodFacts, 'namespace' | 'name' | 'uid' | 'resourceVersion'>;

/** upstream.md 1.7: what PodGC writes on an orphan. */
export interface DisruptionTarget {
  readonly reason: 'DeletionByPodGC';
  readonly message: string;
  readonly at: Date;
}
