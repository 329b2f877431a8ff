import { isFinished } from '../../api/pod-phase.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type { PodDeleteReason } from '../../api/reasons.ts';
import type { PodEvidence } from '../../gc/reasons/pod-evidence.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { Because, JudgedPod, PodDecision, PodDeletion } from './facts.ts';

/** A rule of a policy, or one step of it. */
interface DeleteRule<R extends PodDeleteReason> {
  readonly reason: R;
  readonly policy: Policy;
  readonly evidenceOf: (pod: PodFacts) => PodEvidence[R];
}

/** The decisions of one rule to delete these pods. */
export const toDelete = <R extends PodDeleteReason>(
  pods: readonly PodFacts[],
  { reason, policy, evidenceOf }: DeleteRule<R>,
): readonly PodDeletion[] =>
  pods.map((pod) => ({
    ...{ unit: 'podgc', verdict: 'Delete', target: targetOf(pod), reason, policy },
    ...{ eligibleAt: undefined, bytes: undefined, evidence: evidenceOf(pod) },
  }));

/** The decision to keep a pod. */
export const toKeep = (
  pod: PodFacts,
  { reason, evidence, eligibleAtMs }: Because,
  policy: Policy | InvalidPolicy | undefined,
): PodDecision => ({
  ...{ unit: 'podgc', verdict: 'Keep', target: targetOf(pod), reason, policy, bytes: undefined, evidence },
  eligibleAt: eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs),
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
