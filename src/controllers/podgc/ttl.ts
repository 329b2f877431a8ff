import { TTL_ANNOTATION } from '../../api/policy/matching.ts';
import type { TerminatedPolicy, TtlRule } from '../../api/policy/policy.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { parseDuration } from '../../runtime/text/duration.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import type { Ttl } from './facts.ts';

/** Whether the rule sets a ttl for any pod. */
export const hasTtl = (rule: TerminatedPolicy): boolean =>
  rule.ttlAfterFinishedMs !== undefined || rule.ttlByReason.length > 0 || rule.honorTTLAnnotation;

/**
 * Returns a function that finds the ttl of a finished pod: the first rule that matches wins over ttlAfterFinished, and a shorter annotation over
 * both, if the policy reads it. Without any of them it never expires.
 */
export function ttlFinder({
  ttlAfterFinishedMs = Infinity,
  ttlByReason,
  honorTTLAnnotation,
}: TerminatedPolicy): (pod: PodFacts) => Ttl {
  const general: Ttl = {
    field: 'pods.terminated.ttlAfterFinished',
    ttlMs: ttlAfterFinishedMs,
    rule: undefined,
    annotation: undefined,
  };
  const rules = ttlByReason.map((rule, i) => ({
    matches: ttlMatcher(rule),
    ttl: { field: `pods.terminated.ttlByReason[${i}].ttl`, ttlMs: rule.ttlMs, rule, annotation: undefined },
  }));
  const ttlOf = (pod: PodFacts): Ttl => rules.find(({ matches }) => matches(pod))?.ttl ?? general;
  return honorTTLAnnotation ? (pod) => annotatedTtl(ttlOf(pod), pod) : ttlOf;
}

/** The annotation may shorten a ttl, never lengthen it: a pod without a ttl has an infinite one. */
function annotatedTtl(ttl: Ttl, { ttlAnnotation: value }: PodFacts): Ttl {
  if (value === undefined) return ttl;
  const ttlMs = value.length > maxDurationLength ? undefined : parseDuration(value);
  if (ttlMs === undefined || ttlMs > maxDurationMs)
    return { ...ttl, annotation: { value, effect: 'no duration' } };
  if (ttlMs >= ttl.ttlMs) return { ...ttl, annotation: { value, effect: 'longer' } };
  const field = `metadata.annotations["${TTL_ANNOTATION}"]`;
  return { field, ttlMs, rule: undefined, annotation: { value, effect: 'sets' } };
}

/** The bounds of every duration in a policy (crds/). */
const maxDurationLength = 32;
const maxDurationMs = 87_600 * 3_600_000;

function ttlMatcher(rule: TtlRule): (pod: PodFacts) => boolean {
  const { phase, messagePattern } = rule;
  const matchesMessage = messagePattern === undefined ? undefined : globMatcher(messagePattern);
  return (pod) =>
    (phase === undefined || pod.phase === phase) &&
    matchesEnd(rule, pod) &&
    (matchesMessage === undefined || matchesMessage(pod.message));
}

/** Whether the reason of the pod matches, and any container the exit codes; or one container matches both. */
function matchesEnd({ reason, exitCodes }: TtlRule, pod: PodFacts): boolean {
  const isReasonOfPod = reason === undefined || podReason(pod) === reason;
  if (isReasonOfPod && exitCodes === undefined) return true;
  return pod.ends.some(
    (end) =>
      (isReasonOfPod || end.reason === reason) &&
      (exitCodes === undefined || exitCodes.includes(end.exitCode)),
  );
}

/**
 * The reason of a pod; Evicted where only the condition is left of what the kubelet wrote. With every such condition it writes a reason: Evicted,
 * Preempting, or Terminated when the node shuts down. An evicted pod is the likeliest one without.
 */
export const podReason = ({ reason, endedByKubelet }: PodFacts): string =>
  reason === '' && endedByKubelet ? 'Evicted' : reason;
