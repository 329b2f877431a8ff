import { alertRules, type AlertRule } from './alert-rules.ts';
import { dashboardRows } from './dashboard-rows.ts';
import { code, codes, heading, page } from './markdown.ts';
import { components, isDefaultMetric, metricsOf, type MetricFacts } from './metrics-list.ts';
import { openLabels, placeLabels, upstreamMetrics } from './metrics-notes.ts';

/** docs/reference/metrics.md. */
export async function metricsPage(): Promise<string> {
  const own = async (component: (typeof components)[number]): Promise<readonly MetricFacts[]> =>
    (await metricsOf(component)).filter(({ name }) => !isDefaultMetric(name));
  const [controller, agent] = await Promise.all(components.map(own));
  const both = (controller ?? []).flatMap((one) => {
    const other = agent?.find(({ name }) => name === one.name);
    return other === undefined ? [] : [{ ...one, labels: joined(one.labels, other.labels) }];
  });
  const rules = alertRules();
  const isShared = ({ name }: MetricFacts): boolean => both.some((metric) => metric.name === name);
  const only = (metrics: readonly MetricFacts[] = []) => metrics.filter((metric) => !isShared(metric));
  return page('Metrics', 'the registries of controller and agent', [
    'Served at `/metrics` of the address `--metrics-bind-address` (`:8080`), in the text format of Prometheus. All metrics that begin with `dustpan_`',
    'are alpha (`[ALPHA]` in their help): names and labels may change. Label values that are listed as "preset" exist from the start, with the value 0,',
    'so that `increase()` works. Metrics that begin with `nodejs_` and `process_` are the defaults of',
    '[prom-client](https://github.com/siimon/prom-client). A metric without a listed counterpart has none upstream. No label names the node or the',
    'pod of dustpan itself: the scraper adds them. A metric without an alert or a panel is for your own queries.',
    ...section('Controller', only(controller), rules),
    ...section('Agent', only(agent), rules),
    ...section('Controller and agent', both, rules),
  ]);
}

/** The preset values of both components: each has its own units. */
const joined = (ours: MetricFacts['labels'], theirs: MetricFacts['labels']): MetricFacts['labels'] =>
  new Map(
    [...ours].map(([label, values]) => [label, [...new Set([...values, ...(theirs.get(label) ?? [])])]]),
  );

function section(
  title: string,
  metrics: readonly MetricFacts[],
  rules: readonly AlertRule[],
): readonly string[] {
  const entries = metrics.map((metric) => entry(metric, rules));
  return [...heading(2, title), ...entries.flatMap((lines, i) => (i === 0 ? lines.slice(1) : lines))];
}

function entry({ name, type, help, labels }: MetricFacts, rules: readonly AlertRule[]): readonly string[] {
  const upstream = upstreamMetrics[name];
  const users = usersOf(name, rules);
  const notes = [
    ...[...labels].map(
      ([label, values]) => `- label ${code(label)}: ${labelText(label, values, labels.has('unit'))}`,
    ),
    ...(users.length > 0 ? [`- used by ${users.join(', ')}`] : []),
    ...(upstream === undefined ? [] : [`- upstream's counterpart: ${upstream}`]),
  ];
  const text = `${type[0]?.toUpperCase() ?? ''}${type.slice(1)}. ${help}`;
  return [...heading(3, code(name)), text, ...(notes.length > 0 ? ['', ...notes] : [])];
}

/** The alerts and the panels of the dashboard that query a metric. */
function usersOf(name: string, rules: readonly AlertRule[]): readonly string[] {
  const series = new RegExp(String.raw`\b${name}(_bucket|_sum|_count)?\b`);
  const alerts = rules.filter(({ expr }) => series.test(expr));
  const panels = dashboardRows
    .flatMap((row) => row.panels)
    .filter(({ queries }) => Object.values(queries).some((expr) => series.test(expr)));
  return [
    ...alerts.map(({ alert }) => `[${alert}](../troubleshooting.md#${alert.toLowerCase()})`),
    ...panels.map(({ title }) => `the panel "${title}"`),
  ];
}

function labelText(label: string, values: readonly string[], isOfUnits: boolean): string {
  const note = placeLabels[label];
  if (note !== undefined) return note;
  if (label === 'reason' && isOfUnits) return '[reasons](reasons.md) of the unit (preset)';
  if (values.length > 0) return `${codes(values)} (preset)`;
  const open = openLabels[label];
  if (open === undefined)
    throw new Error(`scripts/generate/metrics-notes.ts lacks the values of the label ${label}`);
  return open;
}
