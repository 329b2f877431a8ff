import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { knownSeries, selectorsOf, unknownIn } from './queries.ts';

interface RuleFile {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}

const text = readFileSync(join(process.cwd(), 'helm/dustpan/files/rules.yaml'), 'utf8');
const rules = (load(text) as RuleFile).groups.flatMap((group) => group.rules);
const known = await knownSeries();

test.each(rules)('$alert uses only existing series', ({ expr }) => {
  expect(selectorsOf(expr)).not.toEqual([]);
  expect(unknownIn(expr, known)).toEqual([]);
});

test.each(rules)('$alert has a severity, a summary and a description', (rule) => {
  expect(['info', 'warning', 'critical']).toContain(rule.labels['severity']);
  expect(Object.keys(rule.annotations)).toEqual(['summary', 'description']);
  for (const line of Object.values(rule.annotations)) expect(line).toMatch(/^\S.{20,}\S$/);
  expect(rule.annotations['summary']).not.toMatch(/\.$/);
  expect(rule.annotations['description']).toMatch(/\.$/);
});

test('no alert sends its reader to a node: there is no dustpan outside of the pod', () => {
  expect(text).not.toContain('--cri-socket');
  const full = rules.find(({ alert }) => alert === 'DustpanImageDiskStaysFull');
  expect(full?.annotations['description']).toContain('`dustpan why image NAME --node={{ $labels.node }}`');
});

test('every alert has a unique name', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

describe('unknown series are found in a query', () => {
  test.each([
    { query: 'dustpan_no_such_total', unknown: ['dustpan_no_such_total'] },
    { query: 'sum by (job) (rate(dustpan_no_such_total{job="x"}[5m]))', unknown: ['dustpan_no_such_total'] },
    { query: 'dustpan_build_info{colour="red"}', unknown: ['dustpan_build_info{colour}'] },
    { query: 'dustpan_loop_pass_duration_seconds', unknown: ['dustpan_loop_pass_duration_seconds'] },
    {
      query:
        'histogram_quantile(0.9, sum by (le, exported_namespace) (rate(dustpan_loop_pass_duration_seconds_bucket[5m])))',
      unknown: [],
    },
    { query: 'up{job="x"} unless on (exported_node) kube_pod_info', unknown: ['kube_pod_info'] },
  ])('$query', ({ query, unknown }) => {
    expect(unknownIn(query, known)).toEqual(unknown);
  });
});
