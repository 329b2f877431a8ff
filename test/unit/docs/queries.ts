import { faces, metricsOf, type MetricFacts } from '../../../scripts/generate/metrics-list.ts';

/** What the metrics of both components have in a Prometheus: series by their names, and the labels of each. */
export async function knownSeries(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const known = new Map<string, Set<string>>();
  for (const face of faces)
    for (const metric of await metricsOf(face))
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

/** What a scrape adds: the labels of the target, and a metric's own where the target has one of the same name. */
const targetLabels = ['job', 'instance', 'node', 'namespace', 'exported_namespace', 'exported_pod'];
/** Of Prometheus itself and of kube-state-metrics. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  up: [],
  kube_node_info: ['os_image'],
  kube_node_spec_unschedulable: [],
};

interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** The metrics in a query, each with the labels that its selector names. */
export function selectorsOf(query: string): readonly Selector[] {
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

/** What a query asks for that is not there; nothing when all is well. */
export function unknownIn(query: string, known: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return selectorsOf(query).flatMap(({ metric, labels }) => {
    const own = known.get(metric) ?? foreign[metric];
    if (own === undefined) return [metric];
    const there = new Set([...own, ...targetLabels]);
    return labels.filter((label) => !there.has(label)).map((label) => `${metric}{${label}}`);
  });
}
