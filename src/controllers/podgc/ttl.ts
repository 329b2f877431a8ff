import { TTL_ANNOTATION } from '../../api/policy/matching.ts';
import type { TerminatedPolicy } from '../../api/policy/policy.ts';
import { ttlRuleKey } from '../../api/policy/ttl-rules.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { parseDuration } from '../../runtime/text/duration.ts';
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
    key: ttlRuleKey(rule),
    ttl: { field: `pods.terminated.ttlByReason[${i}].ttl`, ttlMs: rule.ttlMs, rule, annotation: undefined },
  }));
  const ttlOf = (pod: PodFacts): Ttl => ttlAmong(rules, general, pod);
  return honorTTLAnnotation ? (pod) => annotatedTtl(ttlOf(pod), pod) : ttlOf;
}

/** The ttl of the first entry that matches. An entry that was unknown when the pod was read may match: then the longest ttl that is possible. */
function ttlAmong(
  rules: readonly { readonly key: string; readonly ttl: Ttl }[],
  general: Ttl,
  { ttlRules }: PodFacts,
): Ttl {
  let unknown: Ttl | undefined;
  const atLeast = (ttl: Ttl): Ttl => (unknown !== undefined && unknown.ttlMs > ttl.ttlMs ? unknown : ttl);
  for (const { key, ttl } of rules) {
    const matches = ttlRules.get(key);
    if (matches === true) return atLeast(ttl);
    if (matches === undefined) unknown = atLeast(ttl);
  }
  return atLeast(general);
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
