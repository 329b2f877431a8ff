import { code, codes, heading, page } from './markdown.ts';
import { faces, isOfNode, metricsOf, type Face, type MetricFacts } from './metrics-list.ts';
import { nodeLabels, openLabels, placeLabels, upstreamMetrics } from './metrics-notes.ts';

/** docs/reference/metrics.md: what `/metrics` of each face serves. */
export async function metricsPage(): Promise<string> {
  const [controller, agent] = await Promise.all(faces.map(metricsOf));
  const both = (controller ?? []).filter(({ name }) => agent?.some((metric) => metric.name === name));
  const isShared = ({ name }: MetricFacts): boolean => both.some((metric) => metric.name === name);
  const only = (metrics: readonly MetricFacts[] = []) => metrics.filter((metric) => !isShared(metric));
  return page('Metrics', 'the registries of controller and agent', [
    'Served at `/metrics` of the address `--metrics-bind-address` (`:8080`), in the text format of Prometheus. All that begin with `dustpan_` are',
    'alpha, as their help says with `[ALPHA]`: names and labels may change. Values of labels that are listed with "preset" are there from the start,',
    'with 0, so that `increase()` works. Those that begin with `nodejs_` and `process_` are the defaults of prom-client. A metric without a counterpart listed has none upstream. No label names the node or the pod that dustpan runs in; the scraper knows them.',
    ...section('controller', only(controller)),
    ...section('agent', only(agent)),
    ...section('controller and the agent', both),
  ]);
}

const section = (
  face: Face | 'controller and the agent',
  metrics: readonly MetricFacts[],
): readonly string[] => [
  ...heading(2, `Of the ${face}`),
  ...metrics.flatMap((metric, i) => (i === 0 ? entry(metric).slice(1) : entry(metric))),
];

function entry({ name, type, help, labels }: MetricFacts): readonly string[] {
  const upstream = upstreamMetrics[name];
  return [
    ...heading(3, code(name)),
    `${type[0]?.toUpperCase() ?? ''}${type.slice(1)}. ${help}`,
    ...(labels.size > 0 || upstream !== undefined ? [''] : []),
    ...[...labels].map(
      ([label, values]) =>
        `- label ${code(label)}: ${isOfNode(name) ? (nodeLabels[label] ?? '') : labelText(label, values)}`,
    ),
    ...(upstream === undefined ? [] : [`- upstream's counterpart: ${upstream}`]),
  ];
}

function labelText(label: string, values: readonly string[]): string {
  const note = placeLabels[label];
  if (note !== undefined) return note;
  return values.length > 0 ? `${codes(values)} (preset)` : (openLabels[label] ?? '');
}
