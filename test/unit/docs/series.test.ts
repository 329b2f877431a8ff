import { expect, test } from 'vitest';
import { alertRules } from '../../../scripts/generate/alert-rules.ts';
import { components, metricsOf, type MetricFacts } from '../../../scripts/generate/metrics-list.ts';
import { textOf } from './pages.ts';

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

/** Names and labels of the series that Prometheus stores for both components. */
async function knownSeries(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const known = new Map<string, Set<string>>();
  for (const component of components)
    for (const metric of await metricsOf(component))
      for (const [name, labels] of seriesOf(metric))
        known.set(name, new Set([...(known.get(name) ?? []), ...labels]));
  return known;
}

function seriesOf({ name, type, labels }: MetricFacts): readonly (readonly [string, readonly string[]])[] {
  const own = [...labels.keys()];
  if (type !== 'histogram') return [[name, own]];
  return [
    [`${name}_bucket`, [...own, 'le']],
    [`${name}_sum`, own],
    [`${name}_count`, own],
  ];
}

/** Labels that a scrape adds: those of the target, and `exported_` ones of the metric on a conflict. */
const targetLabels = ['job', 'instance', 'node', 'namespace', 'exported_namespace', 'exported_pod'];
/** Series of Prometheus itself and of kube-state-metrics. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  up: [],
  kube_node_info: ['os_image'],
  kube_node_spec_unschedulable: [],
};

interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** The metrics in a query, each with the labels of its selector. */
function selectorsOf(query: string): readonly Selector[] {
  const found = query.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+|up)\b(?!\s*\()(?:\{([^}]*)\})?/g);
  const words = new Set(['group_left', 'group_right', 'label_values']);
  const grouped = new Set(
    [...query.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(/\s*,\s*/),
    ),
  );
  return [...found]
    .filter(([, name = '']) => !words.has(name) && !grouped.has(name))
    .map(([, metric = '', inside = '']) => ({
      metric,
      labels: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label),
    }));
}

/** Metrics and labels in a query that do not exist. */
function unknownIn(query: string, known: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return selectorsOf(query).flatMap(({ metric, labels }) => {
    const own = known.get(metric) ?? foreign[metric];
    if (own === undefined) return [metric];
    const existing = new Set([...own, ...targetLabels]);
    return labels.filter((label) => !existing.has(label)).map((label) => `${metric}{${label}}`);
  });
}

const text = textOf('helm/dustpan/files/dashboard.json');
const { panels, templating } = JSON.parse(text) as Dashboard;
const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const known = await knownSeries();

test.each(alertRules())('the rule $alert uses only existing series', ({ expr }) => {
  expect(selectorsOf(expr)).not.toEqual([]);
  expect(unknownIn(expr, known)).toEqual([]);
});

test.each(queries)('$title: $legendFormat uses only existing series', ({ expr, legendFormat }) => {
  expect(selectorsOf(expr)).not.toEqual([]);
  expect(unknownIn(expr, known)).toEqual([]);
  const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
  expect(grouped.filter((label) => label !== 'le').toSorted()).toEqual(shown.toSorted());
});

test('defines the variables of all queries', () => {
  const names = templating.list.map(({ name }) => name);
  expect(names).toEqual(['datasource', 'namespace', 'node']);
  const used = [...text.matchAll(/\$\{?(\w+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('__'));
  expect([...new Set(used)].sort()).toEqual([...names].sort());
  for (const { definition } of templating.list)
    if (definition !== undefined) expect(unknownIn(definition, known)).toEqual([]);
});
