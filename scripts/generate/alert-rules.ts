import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

/** An alert of the chart. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
}

/** The alerts of the chart, in their order. */
export function alertRules(): readonly AlertRule[] {
  const text = readFileSync(new URL('../../helm/dustpan/files/rules.yaml', import.meta.url), 'utf8');
  const { groups } = load(text) as { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
