import type { PodDeleteReason, PodKeepReason } from './reasons.ts';

/** What a reason tells a person. */
export interface ReasonMeaning {
  /** Why it goes or stays, one sentence; the same wherever it is explained. */
  readonly meaning: string;
  /** What would keep what goes, and what would let go what stays. */
  readonly change: string;
  /** What a person must know before believing or hastening the verdict. */
  readonly caution?: string;
}

export type ReasonMeanings<R extends string> = Readonly<Record<R, ReasonMeaning>>;

/** Ends the waiting for everything that a label keeps. */
export const unmarked =
  'The label gc.dustpan.dev/keep is taken off. A node or namespace with more than 64 KB of labels, and a pod on a node with more than 256 containers or volumes, counts as if it had the label.';

/** Ends what an invalid policy holds. */
export const corrected = 'The policy is corrected; its condition Accepted and its Event say what is wrong.';

const podMark = 'The label gc.dustpan.dev/keep: "true" on the pod, its namespace or its node keeps it.';

/** Of pods whose node is missing (DESIGN.md 8). */
const mayRun =
  'Its containers may still be running: a Node object that is deleted under a live kubelet comes back only when the kubelet restarts. The quarantine, and the live look at the node right before the delete, are all that stands between.';

/** Of podgc. */
export const podMeanings: ReasonMeanings<PodDeleteReason | PodKeepReason> = {
  Terminated: {
    meaning:
      'More finished pods can be deleted than the threshold allows; evicted ones are first, then the oldest.',
    change: `A higher pods.terminated.threshold. ${podMark}`,
  },
  TerminatedInNamespace: {
    meaning: 'In its namespace more finished pods can be deleted than the threshold of a namespace allows.',
    change: `A higher pods.terminated.perNamespaceThreshold, or a higher keepPerOwner if it is among the newest of an owner. ${podMark}`,
  },
  Expired: {
    meaning: 'It finished longer ago than its time to live.',
    change: `A longer ttl (pods.terminated.ttlByReason or ttlAfterFinished), or a higher keepPerOwner if it is among the newest of an owner. ${podMark}`,
  },
  OutOfService: {
    meaning: 'It is terminating on a node that is not ready and marked out of service.',
    change: `The node is ready again, or its taint node.kubernetes.io/out-of-service is taken off. ${podMark}`,
  },
  Orphaned: {
    meaning: 'Its node is gone, has been for the whole quarantine, and is so by a live look.',
    change: `The node comes back under its name, or a longer pods.orphaned.quarantine. ${podMark}`,
    caution: mayRun,
  },
  Unscheduled: {
    meaning: 'It is terminating and was never bound to a node.',
    change: `A policy without pods.unscheduledTerminating. ${podMark}`,
  },
  NotTerminated: {
    meaning: 'It runs, or is about to.',
    change: 'It finishes and a rule for finished pods takes it, or its node goes away.',
  },
  UnderThreshold: {
    meaning: 'It has finished, but is within the thresholds.',
    change:
      'More pods finish than the threshold allows and it is the next to go, or the policy gives it a ttl.',
  },
  RuleOff: {
    meaning: 'It has finished, but the policy has no rule for finished pods.',
    change: 'The policy gets pods.terminated.',
  },
  TooYoung: {
    meaning: 'It has finished, but its time to live is not up.',
    change:
      'Its ttl is up: pods.terminated.ttlByReason or ttlAfterFinished, from the end of its last container; from when the controller first saw it finished, where the clock of its node is wrong.',
  },
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the pod, its namespace or its node.',
    change: unmarked,
  },
  JobUncounted: {
    meaning: 'It has finished, but its Job has not counted it yet.',
    change: 'The Job controller counts it and takes off the finalizer batch.kubernetes.io/job-tracking.',
  },
  JobUnfinished: {
    meaning: 'It has finished, but its Job has not, and the policy protects the pods of such Jobs.',
    change: 'The Job gets the condition Complete or Failed, or pods.terminated.protectUnfinishedJobs is off.',
  },
  KeptForOwner: {
    meaning: 'It is among the newest finished pods of its owner.',
    change:
      'Newer pods of the owner finish, or a lower pods.terminated.keepPerOwner; the threshold takes it all the same.',
  },
  FinalizerHeld: {
    meaning: 'It was deleted before and waits for its finalizers; deleting it again changes nothing.',
    change: 'Whoever owns the finalizers takes them off; then it goes by itself.',
  },
  Quarantined: {
    meaning: 'Its node is missing, but not for long enough.',
    change:
      'The node is still missing when pods.orphaned.quarantine is over; a node that comes back starts it anew.',
    caution: mayRun,
  },
  NodeExists: {
    meaning: 'It was due as an orphan, but a live look found its node.',
    change: 'The node is missing again for a whole quarantine.',
  },
  NodeUnknown: {
    meaning: 'It was due, but its node could not be read live.',
    change: 'A later pass can read the node.',
  },
  NodeRecovered: {
    meaning: 'It was due, but a live look found its node ready or no longer marked out of service.',
    change: 'The node is not ready and marked out of service again.',
  },
  ClockUnsure: {
    meaning: 'Its age cannot be trusted: our clock and that of the API server differ.',
    change: 'The clocks agree again.',
  },
  Tripped: {
    meaning: 'Its node is missing, but so many are at once that the list of nodes is not believed.',
    change: 'Fewer nodes are missing than pods.safety.maxOrphanedNodesPercent; the rule resumes by itself.',
    caution: mayRun,
  },
  PacingLimit: {
    meaning: 'It may go, but the pass has used up the deletions that the policy allows.',
    change: 'A later pass gets to it, or a higher pods.safety.maxDeletesPerPass.',
  },
  NamespaceUnknown: {
    meaning: 'Its namespace, and with it the labels that decide, is not known yet.',
    change: 'The namespace is observed.',
  },
  NoPolicy: {
    meaning: 'No policy says anything about it.',
    change: 'A GCPolicy with spec.pods selects it.',
  },
  InvalidPolicy: {
    meaning: 'A policy that cannot be followed may govern it, so nothing of it is touched.',
    change: corrected,
  },
};
