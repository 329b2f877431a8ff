import type { Reason } from '../../src/api/reasons.ts';

/** What a reason code says, in a person's words. */
export const meaning: Readonly<Record<Reason, string>> = {
  Terminated: 'over the threshold of finished pods; evicted and oldest go first',
  TerminatedInNamespace: "over the namespace's threshold of finished pods",
  Expired: 'finished longer ago than its time to live',
  OutOfService: 'terminating on a node marked out of service',
  Orphaned: 'its node does not exist, seen so through the quarantine and read live',
  Unscheduled: 'terminating and never bound to a node',
  NotTerminated: 'it runs, or is about to',
  UnderThreshold: 'finished, but within the thresholds',
  RuleOff: 'finished, but the policy has no rule for finished pods',
  TooYoung: 'its time to live is not up',
  KeepMarked: 'the label gc.dustpan.dev/keep on the pod, its namespace or its node',
  JobUncounted: 'its Job has not counted it yet',
  JobUnfinished: 'its Job is not finished',
  KeptForOwner: 'among the newest of its owner (keepPerOwner)',
  FinalizerHeld: 'already deleted, waits for its finalizers: reported, not deleted again',
  Quarantined: 'its node is missing, but not for long enough',
  NodeExists: 'its node answers after all',
  NodeUnknown: 'its node cannot be read',
  NodeRecovered: 'its node is back in service',
  Tripped: 'too many nodes are missing at once to believe it',
  PacingLimit: "over the policy's deletions a pass",
  NamespaceUnknown: 'its namespace is not known yet',
  NoPolicy: 'no policy speaks of it',
  InvalidPolicy: 'a policy that cannot be followed may govern it',
};
