/** What one pass of podgc did under one policy: the facts its status is made of. */
export interface PolicyPassReport {
  readonly at: Date;
  /** Pods this policy governs. */
  readonly governed: number;
  /** Of those, finished ones (every phase but Pending, Running and Unknown). */
  readonly terminated: number;
  /** Pods the rules would delete now: acted upon in Enforce, only counted in DryRun. */
  readonly due: number;
  /** Pods that wait for time: quarantine or ttl. */
  readonly waiting: number;
  /** Pods that only wait for their finalizers. */
  readonly held: number;
  readonly deleted: number;
  readonly failed: number;
  /** Deletions by ttl that were called off, as our clock and that of the API server differ. */
  readonly clockUnsure: number;
  /** Node names that governed pods refer to and that do not exist. */
  readonly missingNodes: number;
  /** Set while the share of missing nodes is over safety.maxOrphanedNodesPercent. */
  readonly trippedPercent: number | undefined;
}
