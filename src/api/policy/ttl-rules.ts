import { globMatcher } from '../../runtime/text/glob.ts';
import type { TtlRule } from './policy.ts';

/** The matchers of an entry of `pods.terminated.ttlByReason`. */
export type TtlMatchers = Pick<TtlRule, 'phase' | 'reason' | 'exitCodes' | 'messagePattern'>;

/** The end of a finished pod, with every text as a whole. */
export interface PodEnd {
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  /** The ends of the containers that decide about the pod. */
  readonly ends: readonly { readonly reason: string; readonly exitCode: number }[];
}

/** No key of a label has a bracket. */
const keyPrefix = 'pods.terminated.ttlByReason[]=';

/**
 * Returns the name of an entry among the keys that are read of a pod (`podLabelKeys`). Pods are compared with the entries while they are read: the
 * cache has no memory for the texts of 100 000 pods, and a shortened text might match another entry.
 */
export const ttlRuleKey = ({ phase, reason, exitCodes, messagePattern }: TtlMatchers): string =>
  keyPrefix + JSON.stringify({ phase, reason, exitCodes, messagePattern });

/** Returns an entry as JSON; undefined = the key is not the name of one. */
export const ttlRuleJson = (key: string): string | undefined =>
  key.startsWith(keyPrefix) ? key.slice(keyPrefix.length) : undefined;

/** Whether a pod ended as an entry says. Every matcher must match: the reason the pod's, or with the exit code that of one container. */
export function ttlRuleMatcher({
  phase,
  reason,
  exitCodes,
  messagePattern,
}: TtlMatchers): (end: PodEnd) => boolean {
  const isReason = reason === undefined ? undefined : globMatcher(reason);
  const isMessage = messagePattern === undefined ? undefined : globMatcher(messagePattern);
  return (pod) => {
    if (phase !== undefined && pod.phase !== phase) return false;
    if (isMessage?.(pod.message) === false) return false;
    const isReasonOfPod = isReason === undefined || isReason(pod.reason);
    if (isReasonOfPod && exitCodes === undefined) return true;
    return pod.ends.some(
      (end) =>
        (isReasonOfPod || isReason(end.reason)) &&
        (exitCodes === undefined || exitCodes.includes(end.exitCode)),
    );
  };
}

/**
 * The reason of a pod; Evicted where only the condition is left of what the kubelet wrote. With every such condition it writes a reason: Evicted,
 * Preempting, or Terminated when the node shuts down. An evicted pod is the likeliest one without.
 */
export const podReason = ({
  reason,
  endedByKubelet,
}: {
  readonly reason: string;
  readonly endedByKubelet: boolean;
}): string => (reason === '' && endedByKubelet ? 'Evicted' : reason);
