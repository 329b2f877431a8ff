import { isFinished } from '../../api/pod-phase.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type { PodDeleteReason } from '../../api/reasons.ts';
import type { PodEvidence } from '../../gc/reasons/pod-evidence.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { Because, JudgedPod, PodDecision, PodDeletion } from './facts.ts';

/** A rule of a policy, or one step of it. */
interface DeleteRule<R extends PodDeleteReason = PodDeleteReason> {
  readonly reason: R;
  readonly policy: Policy;
  readonly evidenceOf: (pod: PodFacts) => PodEvidence[R];
}

/** The decisions of one rule to delete these pods. */
export const toDelete = <R extends PodDeleteReason>(
  pods: readonly PodFacts[],
  rule: DeleteRule<R>,
): readonly Deletion[] => pods.map((pod) => new Deletion(pod, rule));

/** The decision to delete a pod. It makes target and evidence when they are read: a backlog may have 100 000 pods. */
export class Deletion implements PodDeletion {
  readonly unit = 'podgc';
  readonly verdict = 'Delete';
  readonly pod: PodFacts;
  readonly #rule: DeleteRule;

  constructor(pod: PodFacts, rule: DeleteRule) {
    this.pod = pod;
    this.#rule = rule;
  }

  get target(): JudgedPod {
    return targetOf(this.pod);
  }

  get reason(): PodDeleteReason {
    return this.#rule.reason;
  }

  get policy(): Policy {
    return this.#rule.policy;
  }

  get evidence(): PodEvidence[PodDeleteReason] {
    return this.#rule.evidenceOf(this.pod);
  }

  get eligibleAt(): undefined {
    return undefined;
  }

  get bytes(): undefined {
    return undefined;
  }
}

/** The decision to keep a pod. */
export const toKeep = (
  pod: PodFacts,
  { reason, evidence, eligibleAtMs }: Because,
  policy: Policy | InvalidPolicy | undefined,
): PodDecision => ({
  unit: 'podgc',
  verdict: 'Keep',
  target: targetOf(pod),
  reason,
  policy,
  eligibleAt: eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs),
  bytes: undefined,
  evidence,
});

const targetOf = (pod: PodFacts): JudgedPod => ({
  kind: 'Pod',
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
  node: pod.nodeName,
  pod,
  markFailed: !isFinished(pod),
});
