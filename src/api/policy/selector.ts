import type { LabelSelector } from './policy.ts';

/** Selects every object. */
export const everything: LabelSelector = { matchLabels: {}, matchExpressions: [] };

/** The label keys that decide whether a selector matches. */
export function selectorKeys({ matchLabels, matchExpressions }: LabelSelector): readonly string[] {
  return [...new Set([...Object.keys(matchLabels), ...matchExpressions.map((expression) => expression.key)])];
}

/** Whether a selector selects everything without a look at any label. */
export function selectsAll({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
