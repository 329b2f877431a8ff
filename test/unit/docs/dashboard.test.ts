import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { components, metricsOf } from '../../../scripts/generate/metrics-list.ts';
import { knownSeries, selectorsOf, unknownIn } from './queries.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const text = readFileSync(join(process.cwd(), 'helm/dustpan/files/dashboard.json'), 'utf8');
const { panels, templating } = JSON.parse(text) as Dashboard;
const graphs = panels.filter(({ type }) => type !== 'row');
const queries = graphs.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const known = await knownSeries();

test('has its rows in order', () => {
  const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title);
  expect(rows).toEqual([
    'Overview',
    'Pods',
    'Images',
    'Containers and logs',
    'Local storage',
    'Node pressure',
    'Health of controller and agents',
  ]);
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

describe('the panels', () => {
  test('have a unique title and a description', () => {
    expect(new Set(graphs.map(({ title }) => title)).size).toBe(graphs.length);
    for (const { description = '' } of graphs) expect(description).toMatch(/^\S.*[.!]$/);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test('do not overlap and fit the grid', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});

/** Metrics that another metric on the dashboard makes redundant, or that are not useful on it. */
const leftOut = [
  'dustpan_container_gc_skipped_total',
  'dustpan_container_gc_warned_containers',
  'dustpan_container_gc_warnings_total',
  'dustpan_eviction_paced_pods',
  'dustpan_eviction_skipped_pods_total',
  'dustpan_freed_bytes_total',
  'dustpan_image_repulled_after_gc_bytes_total',
  'dustpan_leader_election_slowpath_total',
  'dustpan_local_storage_eviction_requests_total',
  'dustpan_local_storage_kept_pods',
  'dustpan_local_storage_usage_errors_total',
  'dustpan_local_storage_warnings_total',
  'dustpan_loop_period_seconds',
  'dustpan_node_degraded',
  'dustpan_node_pressure_crossed',
  'dustpan_node_pressure_errors_total',
  'dustpan_node_pressure_kept_pods',
  'dustpan_node_pressure_warnings_total',
  'dustpan_node_report_writes_total',
  'dustpan_pod_gc_force_delete_pod_errors_total',
  'dustpan_reflector_watches_total',
  'dustpan_runtime_operations_total',
];

test('shows every metric of dustpan except the listed ones', async () => {
  const all = new Set((await Promise.all(components.map(metricsOf))).flat().map(({ name }) => name));
  const shown = new Set(
    queries.flatMap(({ expr }) => selectorsOf(expr)).map(({ metric }) => metric.replace(/_bucket$/, '')),
  );
  const missing = [...all].filter((name) => name.startsWith('dustpan_') && !shown.has(name));
  expect(missing.sort()).toEqual(leftOut);
});
