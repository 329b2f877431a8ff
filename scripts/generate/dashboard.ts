import type { Panel, Row } from './dashboard-panel.ts';
import { dashboardRows } from './dashboard-rows.ts';

const columns = 24;
const statSize = { w: 4, h: 4 };
const graphSize = { w: 12, h: 8 };
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** helm/dustpan/files/dashboard.json, in Grafana's classic model. */
export function dashboardJson(): string {
  const dashboard = {
    uid: 'dustpan',
    title: 'dustpan',
    description:
      'What dustpan removes, what it keeps and why, and its health. Made from scripts/generate/dashboard-rows.ts by npm run generate.',
    tags: ['dustpan', 'kubernetes'],
    // The last of the classic model.
    schemaVersion: 42,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: variables },
    annotations: { list: [] },
    links: [],
    panels: panelsOf(dashboardRows),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

const variables = [
  { type: 'datasource', name: 'datasource', label: 'Data source', query: 'prometheus' },
  labelValues('namespace', 'Namespace of dustpan', 'dustpan_build_info'),
  labelValues('node', 'Node', 'dustpan_build_info{job="dustpan-agent",namespace=~"$namespace"}'),
];

/** "All" also matches series without the label, as in a Prometheus without the monitors of the chart. */
function labelValues(name: string, label: string, series: string) {
  const query = `label_values(${series}, ${name})`;
  return {
    ...{ type: 'query', name, label, datasource, definition: query, query: { query, refId: name } },
    ...{ refresh: 2, sort: 1, multi: true, includeAll: true, allValue: '.*' },
    current: { text: 'All', value: '$__all' },
  };
}

function panelsOf(rows: readonly Row[]): readonly object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inside } of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    let x = 0;
    for (const [i, panel] of inside.entries()) {
      const size = panel.type === 'stat' ? statSize : graphSize;
      panels.push({ id: panels.length + 1, ...panelOf(panel), gridPos: { x, y, ...size } });
      x += size.w;
      const isLast = i === inside.length - 1;
      if (x < columns && !isLast) continue;
      [x, y] = [0, y + size.h];
    }
  }
  return panels;
}

function panelOf({
  title,
  description,
  type = 'timeseries',
  unit = 'short',
  stacked,
  queries,
}: Panel): object {
  const stacking = { mode: stacked === true ? 'normal' : 'none', group: 'A' };
  const custom = { fillOpacity: stacked === true ? 30 : 10, lineWidth: 1, showPoints: 'never', stacking };
  return {
    ...{ type, title, description, datasource },
    fieldConfig: {
      defaults: { unit, min: 0, ...(type === 'timeseries' ? { custom } : {}) },
      overrides: [],
    },
    options: optionsOf(type),
    targets: Object.entries(queries).map((query, i) => targetOf(query, i, type)),
  };
}

function optionsOf(type: NonNullable<Panel['type']>): object {
  const legend = { displayMode: 'list', placement: 'bottom', showLegend: true };
  if (type === 'stat')
    return {
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      colorMode: 'none',
      graphMode: 'none',
    };
  if (type === 'state-timeline')
    return { legend: { ...legend, showLegend: false }, mergeValues: true, showValue: 'never' };
  return { legend, tooltip: { mode: 'multi', sort: 'desc' } };
}

const targetOf = ([legend, expr]: readonly [string, string], i: number, type: string): object => ({
  ...{ refId: String.fromCharCode(65 + i), datasource, editorMode: 'code', expr, legendFormat: legend },
  ...(type === 'stat' ? { instant: true, range: false } : { instant: false, range: true }),
});
