/** The facts of one pass of podgc under one policy, for its status: counts at its end. */
export interface PolicyPassReport {
  readonly at: Date;
  /** The generation of the policy that the pass applied. */
  readonly generation: number;
  /** Pods this policy governs. */
  readonly governed: number;
  /** Governed pods that have finished (every phase but Pending, Running and Unknown). */
  readonly terminated: number;
  /** Pods that the rules delete now, and that the pass has not removed. */
  readonly due: number;
  /** Pods that wait for a quarantine or a ttl. */
  readonly waiting: number;
  /** Pods that wait only for their finalizers. */
  readonly held: number;
  readonly deleted: number;
  /** Pods whose deletion failed in this pass, or in an earlier one and is not tried again yet. */
  readonly failed: number;
  /** Deletions by ttl that were cancelled because our clock and the API server's differ. */
  readonly clockUnsure: number;
  /** Deletions that were cancelled because the pod's namespace or node could not be confirmed live. */
  readonly unverified: number;
  /** The lists of owners that the rules need and that the pass did not have, by their plural: it kept the pods that need them. */
  readonly unknownOwners: readonly string[];
  /** Missing nodes that governed pods refer to. */
  readonly missingNodes: number;
  /** Set while the share of missing nodes is above safety.maxOrphanedNodesPercent. */
  readonly trippedPercent: number | undefined;
  /** undefined = the policy is in mode DryRun. */
  readonly hold: ReportedHold | undefined;
}

/** The rules of a policy that are in force in mode Enforce. */
export interface ReportedHold {
  /** `Policy.rulesId`. */
  readonly rulesId: string;
  /** Time of the first pass under them. */
  readonly since: Date;
  /** Set while a large deletion waits. */
  readonly held: { readonly due: number; readonly until: Date } | undefined;
}
